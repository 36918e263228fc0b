//! One of nmgen's profiles beside those of others: which of them are for the same interface.

use nmgen_core::node::Card;
use nmgen_document::mac::Mac;
use nmgen_document::pattern;

use crate::write::others::Other;

/// One of nmgen's profiles, and its network card.
pub(crate) struct Given<'p> {
    pub(crate) profile: &'p Other,
    pub(crate) card: Option<&'p Card>,
}

impl<'p> Given<'p> {
    /// The profile with its card, if this machine has it.
    pub(crate) fn of(profile: &'p Other, cards: &'p [Card]) -> Self {
        let is_its = |card: &&Card| match profile.interface() {
            Some(interface) => card.name == interface,
            // By its PCI address; the id is the card's name.
            None if profile.keyfile.get("match", "path").is_some() => {
                profile.id() == Some(&card.name)
            }
            None => profile.mac() == Some(card.mac),
        };
        Given { profile, card: cards.iter().find(is_its) }
    }

    /// The name of its interface on this machine.
    pub(crate) fn interface(&self) -> Option<&str> {
        self.profile.interface().or_else(|| self.card.map(|card| card.name.as_str()))
    }

    /// The permanent address of its card.
    pub(crate) fn mac(&self) -> Option<Mac> {
        self.card.map(|card| card.mac).or_else(|| self.profile.mac())
    }

    /// True when the running system's profile is for the same interface, or builds on it.
    pub(crate) fn is_for_same(&self, own: &Other) -> bool {
        if let Some(interface) = self.interface() {
            let is_base = own.parent() == Some(interface);
            if is_base || own.interface() == Some(interface) {
                return true;
            }
        }
        own.interface().is_none() && self.profile.is_of_card() && self.is_matched_by(own)
    }

    /// True when a profile without an interface's name would take the card.
    fn is_matched_by(&self, own: &Other) -> bool {
        // NetworkManager loads no such file.
        if own.keyfile.sections.is_empty() {
            return false;
        }
        if let Some(mac) = own.mac() {
            return self.mac() == Some(mac);
        }
        if !own.is_of_card() && own.kind().is_some() {
            return false;
        }
        match own.keyfile.get("match", "interface-name") {
            Some(patterns) => self.interface().is_some_and(|name| matches(patterns, name)),
            // Other keys of [match] cannot be judged here: any card may be meant.
            None => own.keyfile.section("match").is_some() || is_wanted(own),
        }
    }
}

/// True when two profiles are one to NetworkManager.
pub(crate) fn is_same_uuid(profile: &Other, own: &Other) -> bool {
    profile.uuid().is_some() && profile.uuid() == own.uuid()
}

/// True when NetworkManager takes a device over from one profile to the other: of two that differ in this,
/// it takes neither (`nm_utils_match_connection`).
pub(crate) fn is_alike(profile: &Other, own: &Other) -> bool {
    let kind = |other: &Other| match other.kind() {
        Some("802-3-ethernet") => Some("ethernet".to_owned()),
        kind => kind.map(str::to_owned),
    };
    kind(profile) == kind(own) && profile.port_type() == own.port_type()
}

/// False for an image's profile for any card that gives way to every other, as nm-initrd-generator's does.
pub(crate) fn is_wanted(own: &Other) -> bool {
    let get = |key| own.keyfile.get("connection", key);
    own.priority() >= 0 && get("autoconnect") != Some("false") && get("multi-connect") != Some("3")
}

/// `[match] interface-name`, nm-settings(5): patterns of the shell, `!` excludes, `&` is mandatory.
fn matches(patterns: &str, name: &str) -> bool {
    let patterns =
        patterns.split([';', ',', ' ']).map(str::trim).filter(|pattern| !pattern.is_empty());
    let (mut has_optional, mut is_optional) = (false, false);
    for pattern in patterns {
        let (is_mandatory, pattern) = match pattern.strip_prefix(['&', '|']) {
            Some(rest) => (pattern.starts_with('&'), rest),
            None => (pattern.starts_with('!'), pattern),
        };
        let (is_excluded, pattern) = match pattern.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let is_hit = pattern::fits(pattern, name) != is_excluded;
        if is_mandatory && !is_hit {
            return false;
        }
        has_optional |= !is_mandatory;
        is_optional |= !is_mandatory && is_hit;
    }
    is_optional || !has_optional
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_networkmanager() {
        for (patterns, name, expected) in [
            ("ens3", "ens3", true),
            ("ens3;ens4;", "ens4", true),
            ("ens*", "ens3", true),
            ("ens?", "ens33", false),
            ("ens[0-9]", "ens3", true),
            ("ens[4-9]", "ens3", false),
            ("!ens[4-9]", "ens3", true),
            ("!ens3", "ens3", false),
            ("!ens3", "ens4", true),
            ("ens*;!ens3", "ens3", false),
            ("ens*;!ens3", "ens4", true),
            ("&ens*;eth0", "ens4", false),
            ("|!ens3;eth0", "ens4", true),
            ("eno1", "ens3", false),
        ] {
            assert_eq!(matches(patterns, name), expected, "{patterns} {name}");
        }
    }
}
