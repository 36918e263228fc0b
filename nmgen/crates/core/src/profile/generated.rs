//! Verifies nmstate's profiles against the document before they are written.

use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::{Document, Path};

use super::keyfile::{Keyfile, Malformed};
use super::written::Profile;
use crate::check::name::is_safe_profile_id;
use crate::state::{Generated, InterfaceSummary};

rules! {
    error UNSAFE_PROFILE = "unsafe-profile";
    error PROFILE_MISSING = "profile-missing";
    error ROUTE_RULE_LOST = "route-rule-lost";
}

/// The reason why a generated profile must not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unsafe {
    #[error("it is not a keyfile: {0}")]
    Malformed(#[from] Malformed),
    #[error("it does not begin with [connection]")]
    NoConnection,
    #[error("it has no connection.{0}")]
    Missing(&'static str),
    #[error("its id \"{0}\" cannot be a file name")]
    Id(String),
    #[error("its file name \"{0}\" is not its id with .nmconnection")]
    FileName(String),
}

pub(super) fn profile(generated: &Generated) -> Result<Profile, Unsafe> {
    let keyfile = Keyfile::parse_unescaped(&generated.text)?;
    if keyfile.sections.first().is_none_or(|section| section.name != "connection") {
        return Err(Unsafe::NoConnection);
    }
    for key in ["type", "uuid"] {
        keyfile.get("connection", key).ok_or(Unsafe::Missing(key))?;
    }
    let id = keyfile.get("connection", "id").ok_or(Unsafe::Missing("id"))?.to_owned();
    if !is_safe_profile_id(&id) {
        return Err(Unsafe::Id(id));
    }
    let profile = Profile { id, keyfile };
    if profile.file_name() != generated.file_name {
        return Err(Unsafe::FileName(generated.file_name.clone()));
    }
    Ok(profile)
}

pub(super) fn unsafe_profile(
    document: &Document<'_>,
    generated: &Generated,
    reason: &Unsafe,
) -> Diagnostic {
    Diagnostic::new(
        UNSAFE_PROFILE,
        format!("the profile {} is not written: {reason}", generated.file_name),
        document.place_at(&Path::default().key("interfaces")),
    )
}

/// nmstate silently drops route rules without a suitable profile.
pub(super) fn rules_lost(document: &Document<'_>, missing: usize) -> Diagnostic {
    let place = document.place_at(&Path::default().key("route-rules").key("config"));
    let message = format!("no profile holds {missing} of these rules");
    Diagnostic::new(ROUTE_RULE_LOST, message, place)
        .help("give an interface that has routes an ipv4 or ipv6 section, as the rule needs")
}

/// Checks that each interface has a profile, and that no two profiles share a file.
pub(super) fn all_there(
    document: &Document<'_>,
    interfaces: &[InterfaceSummary],
    profiles: &[Profile],
    diagnostics: &mut Diagnostics,
) {
    let place = || document.place_at(&Path::default().key("interfaces"));
    for interface in interfaces.iter().filter(|interface| interface.has_profile) {
        let found = profiles.iter().any(|profile| {
            profile.keyfile.get("connection", "interface-name") == Some(&interface.name)
                || Some(profile.id.as_str()) == interface.profile_name.as_deref()
                || profile.id == interface.name
        });
        if !found {
            let message =
                format!("nmstate made no profile for {} {}", interface.kind, interface.name);
            diagnostics.push(Diagnostic::new(PROFILE_MISSING, message, place()));
        }
    }
    let mut ids: Vec<&str> = profiles.iter().map(|profile| profile.id.as_str()).collect();
    ids.sort_unstable();
    for pair in ids.windows(2) {
        let [first, second] = pair else { continue };
        if first == second {
            let message = format!("two profiles would be written to {first}.nmconnection");
            let help = "give one of the interfaces another profile-name";
            diagnostics.add(UNSAFE_PROFILE, place(), message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reason for which a text in this file is no profile, or the profile's id.
    fn verdict(file_name: &str, text: &str) -> String {
        let generated = Generated { file_name: file_name.to_owned(), text: text.to_owned() };
        profile(&generated).map_or_else(|reason| reason.to_string(), |profile| profile.id)
    }

    #[test]
    fn a_profile_has_what_networkmanager_needs() {
        let whole = "[connection]\nid=a\ntype=ethernet\nuuid=u\n\n[ipv4]\nmethod=auto\n";
        assert_eq!(verdict("a.nmconnection", whole), "a");
        let other = |from: &str, to: &str| verdict("a.nmconnection", &whole.replacen(from, to, 1));
        assert_eq!(other("id=a\n", ""), "it has no connection.id");
        assert_eq!(other("type=ethernet\n", ""), "it has no connection.type");
        assert_eq!(other("uuid=u\n", ""), "it has no connection.uuid");
        assert_eq!(other("[connection]", "[ethernet]"), "it does not begin with [connection]");
        assert_eq!(verdict("a.nmconnection", ""), "it does not begin with [connection]");
        assert_eq!(other("id=a", "id=../a"), "its id \"../a\" cannot be a file name");
        assert_eq!(
            other("id=a", "id=b"),
            "its file name \"a.nmconnection\" is not its id with .nmconnection"
        );
        let twice = "it is not a keyfile: the section [connection] occurs twice";
        assert_eq!(other("[ipv4]", "[connection]"), twice);
    }

    #[test]
    fn each_interface_has_a_profile_by_one_of_its_names() {
        let source =
            nmgen_document::text::Source { name: "".into(), text: "interfaces: []".into() };
        let document = nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
        let interface = InterfaceSummary {
            name: "eno1".to_owned(),
            kind: "ethernet".to_owned(),
            profile_name: Some("lan".to_owned()),
            mac_address: None,
            identified_by_mac: false,
            copy_mac_from: None,
            has_profile: true,
            alt_names: Vec::new(),
        };
        let told = |profiles: &[(&str, &str)]| -> Vec<&str> {
            let profile = |(id, name): &(&str, &str)| {
                let text = format!("[connection]\ninterface-name={name}\n");
                Profile { id: (*id).to_owned(), keyfile: Keyfile::parse_leniently(&text) }
            };
            let profiles: Vec<Profile> = profiles.iter().map(profile).collect();
            let mut found = Diagnostics::default();
            all_there(&document, std::slice::from_ref(&interface), &profiles, &mut found);
            found.iter().map(|fault| fault.rule.name).collect()
        };
        for there in [("any", "eno1"), ("lan", "eno9"), ("eno1", "eno9")] {
            assert_eq!(told(&[there]), [""; 0], "{there:?}");
        }
        assert_eq!(told(&[("any", "eno9")]), ["profile-missing"]);
        assert_eq!(told(&[("lan", "eno1"), ("lan", "eno1")]), ["unsafe-profile"]);
    }
}
