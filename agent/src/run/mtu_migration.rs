//! The cluster's change of its MTU on a node whose br-ex is a document's.
//!
//! The script of the machine-config-operator's mtu-migration.service sets the MTU of the links that configure-ovs's profiles name,
//! until the change is over. A document says its MTU itself, for good: what the cluster wants is compared with its links.

use std::{ffi::OsString, fmt, num::ParseIntError};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    durable::{self, FileError, record::Record},
    model::{Active, Link, LinkRef, Profile},
    paths::Paths,
    status::create_runtime_dir,
};

/// The unit.
pub(crate) const UNIT: &str = "mtu-migration.service";

/// The profiles of configure-ovs without which the unit's script fails.
const PROFILES: [&str; 2] = ["ovs-if-br-ex", "ovs-if-phys0"];

/// The bridge of OVN-Kubernetes.
const BR_EX: &str = "br-ex";

/// The least MTU of IPv4; the largest that a frame's length has room for.
const MTUS: std::ops::RangeInclusive<u32> = 68..=65535;

/// Why the MTU that the cluster wants is not known.
#[derive(Debug, Error)]
pub(crate) enum TargetError {
    #[error("TARGET_MTU is not UTF-8")]
    Encoding,
    #[error("TARGET_MTU is no number: {text:?}")]
    Number { text: String, source: ParseIntError },
    #[error("TARGET_MTU is no MTU: {mtu}")]
    Range { mtu: u32 },
}

/// The MTU that the cluster wants of the machine, from the environment of its unit; `None` where it wants nothing of it.
pub(crate) fn target(value: Option<OsString>) -> Result<Option<u32>, TargetError> {
    let Some(value) = value else { return Ok(None) };
    let text = value.into_string().map_err(|_| TargetError::Encoding)?;
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let mtu: u32 = text
        .parse()
        .map_err(|source| TargetError::Number { text: text.chars().take(32).collect(), source })?;
    if MTUS.contains(&mtu) { Ok(Some(mtu)) } else { Err(TargetError::Range { mtu }) }
}

/// Whether the script finds what it sets: its profiles are there, by their names, and are the network of now.
pub(crate) fn is_for_the_script(profiles: &[Profile], active: &[Active]) -> bool {
    PROFILES.iter().all(|name| {
        let mut named = profiles.iter().filter(|profile| profile.id() == *name);
        named.any(|profile| active.iter().any(|it| it.uuid == profile.uuid()))
    })
}

/// A mark for the rest of the boot: the cluster changes its MTU, and the document's links are not the script's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Migration {
    /// The MTU that the cluster wants of the machine.
    pub(crate) target: u32,
}

impl Migration {
    /// The one of this boot.
    pub(crate) fn load(paths: &Paths) -> Result<Option<Self>, FileError> {
        durable::read_json_or_set_aside(&paths.mtu_target())
    }

    /// Writes the mark.
    pub(crate) fn mark(self, paths: &Paths) -> Result<(), FileError> {
        let file = paths.mtu_target();
        file.parent().map_or(Ok(()), create_runtime_dir)?;
        durable::write_json(&file, &self, 0o644)
    }

    /// How far the machine is: br-ex, and the cards below the document's routes.
    pub(crate) fn standing(self, record: &Record, links: &[Link]) -> Standing {
        let uplinks = record.committed.as_ref().and_then(|it| it.uplinks.as_ref());
        let cards = uplinks.into_iter().flat_map(|it| &it.cards);
        let is_card = |link: &Link| cards.clone().any(|card| link.is(card));
        let br_ex = LinkRef::Name(BR_EX.to_owned());
        let (first, rest): (Vec<&Link>, Vec<&Link>) = links
            .iter()
            .filter(|link| link.is(&br_ex) || is_card(link))
            .partition(|it| it.is(&br_ex));
        let of = |link: &Link| OfLink { name: link.name.clone(), mtu: link.mtu() };
        Standing { target: self.target, links: first.into_iter().chain(rest).map(of).collect() }
    }
}

/// The MTU that the cluster wants, beside those of the document's links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Standing {
    pub(crate) target: u32,
    pub(crate) links: Vec<OfLink>,
}

/// A link with its MTU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct OfLink {
    pub(crate) name: String,
    pub(crate) mtu: u32,
}

impl Standing {
    /// Whether a link is too small for the cluster: at the end of the change its packets would not pass.
    pub(crate) fn is_below(&self) -> bool {
        self.links.iter().any(|link| link.mtu < self.target)
    }

    /// Whether a link is larger than the cluster wants, which harms nobody until the switches are smaller.
    fn is_above(&self) -> bool {
        self.links.iter().any(|link| link.mtu > self.target)
    }

    /// The next step; empty where the machine's part is done.
    pub(crate) fn next(&self) -> String {
        let target = self.target;
        if self.is_below() {
            return format!(
                "put `mtu: {target}` into the document, for br-ex and everything below it, before the change of the cluster ends"
            );
        }
        if self.is_above() {
            return format!(
                "once the pods have the smaller MTU, put `mtu: {target}` into the document, for br-ex and everything below it"
            );
        }
        String::new()
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the cluster wants an MTU of {}", self.target)?;
        if self.links.is_empty() {
            return f.write_str(", and the document's br-ex is not there");
        }
        let one = |link: &OfLink| format!("{} of the document has {}", link.name, link.mtu);
        write!(f, ", {}", self.links.iter().map(one).collect::<Vec<_>>().join(", "))?;
        match self.is_below() || self.is_above() {
            true => Ok(()),
            false => f.write_str(": the machine's part is done"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;
    use crate::{
        document::{Document, digest::Digest},
        model::Uplinks,
    };

    #[test]
    fn the_target_is_a_number_that_an_mtu_may_be() {
        for (value, expected) in [
            (None, Some(None)),
            (Some(""), Some(None)),
            (Some(" \n"), Some(None)),
            (Some("9000"), Some(Some(9000))),
            (Some(" 1400\n"), Some(Some(1400))),
            (Some("67"), None),
            (Some("65536"), None),
            (Some("-1"), None),
            (Some("9000 bytes"), None),
            (Some("99999999999999999999"), None),
        ] {
            assert_eq!(target(value.map(OsString::from)).ok(), expected, "{value:?}");
        }
        let broken = target(Some(OsString::from_vec(vec![0xff])));
        assert!(matches!(broken, Err(TargetError::Encoding)), "{broken:?}");
    }

    fn profile(id: &str) -> Profile {
        let mut profile = Profile::default();
        profile.settings.set("connection", "id", id);
        profile.settings.set("connection", "uuid", format!("uuid-{id}"));
        profile
    }

    fn active(id: &str) -> Active {
        let (device, kind) = ("any".to_owned(), "ovs-interface".to_owned());
        Active { uuid: format!("uuid-{id}"), device, kind }
    }

    #[test]
    fn the_script_is_for_its_own_profiles_that_are_active() {
        let both = PROFILES.map(profile);
        assert!(is_for_the_script(&both, &PROFILES.map(active)));
        // Remains that nobody uses.
        assert!(!is_for_the_script(&both, &[active("ovs-if-br-ex"), active("eno1")]));
        // A document names one of them alone, or none.
        let one = [profile("ovs-if-br-ex"), profile("eno1")];
        assert!(!is_for_the_script(&one, &[active("ovs-if-br-ex"), active("eno1")]));
        assert!(!is_for_the_script(&[profile("br-ex-if")], &[active("br-ex-if")]));
        assert!(!is_for_the_script(&[], &[]));
    }

    fn links(mtus: &[(&str, u32)]) -> Vec<Link> {
        let link = |(name, mtu): &(&str, u32)| {
            let (name, mtu) = ((*name).to_owned(), Some(*mtu));
            Link { name, mtu, ..Link::default() }
        };
        mtus.iter().map(link).collect()
    }

    /// The standing of a node whose record has this card.
    fn standing(target: u32, mtus: &[(&str, u32)]) -> Standing {
        let digest = Digest::of(b"");
        let path = "/etc/nmstate/openshift/cluster.yml".into();
        let document = Document { path, text: String::new(), digest, mode: 0o644 };
        let mut record = Record::of(&document, Record::default());
        let cards = vec![LinkRef::Name("eno1".to_owned())];
        if let Some(committed) = &mut record.committed {
            committed.uplinks = Some(Uplinks { cards, ..Uplinks::default() });
        }
        Migration { target }.standing(&record, &links(mtus))
    }

    #[test]
    fn br_ex_and_its_card_count_and_say_what_is_to_do() {
        let small = "put `mtu: 9000` into the document, for br-ex and everything below it, before the change of the cluster ends";
        let large = "once the pods have the smaller MTU, put `mtu: 1400` into the document, for br-ex and everything below it";
        for (target, mtus, text, next, is_below) in [
            (
                9000,
                &[("eno1", 9000), ("br-ex", 9000), ("eno2", 1500)][..],
                "the cluster wants an MTU of 9000, br-ex of the document has 9000, eno1 of the document has 9000: the machine's \
                 part is done",
                "",
                false,
            ),
            (
                9000,
                &[("eno1", 9000), ("br-ex", 1500)],
                "the cluster wants an MTU of 9000, br-ex of the document has 1500, eno1 of the document has 9000",
                small,
                true,
            ),
            (
                9000,
                &[("eno1", 1500), ("br-ex", 9000)],
                "the cluster wants an MTU of 9000, br-ex of the document has 9000, eno1 of the document has 1500",
                small,
                true,
            ),
            (
                1400,
                &[("eno1", 1500), ("br-ex", 1400)],
                "the cluster wants an MTU of 1400, br-ex of the document has 1400, eno1 of the document has 1500",
                large,
                false,
            ),
            (
                9000,
                &[("eno2", 1500)],
                "the cluster wants an MTU of 9000, and the document's br-ex is not there",
                "",
                false,
            ),
        ] {
            let it = standing(target, mtus);
            assert_eq!((&*it.to_string(), &*it.next(), it.is_below()), (text, next, is_below));
        }
    }

    #[test]
    fn a_mark_is_read_back_and_a_broken_one_is_none() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        assert_eq!(Migration::load(&paths)?, None);
        Migration { target: 9000 }.mark(&paths)?;
        assert_eq!(Migration::load(&paths)?, Some(Migration { target: 9000 }));
        std::fs::write(paths.mtu_target(), "{\"target\": \"large\"}")?;
        assert_eq!(Migration::load(&paths)?, None);
        Ok(())
    }
}
