//! The cluster's change of its MTU.
//!
//! The script of the machine-config-operator's mtu-migration.service sets the MTU of the links that configure-ovs's profiles name,
//! until the change is over. The automatic br-ex has these profiles: there the script's MTU is no drift. A document says its MTU
//! itself, for good: what the cluster wants is compared with its links.

use std::{ffi::OsString, fmt, num::ParseIntError};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    durable::{self, FileError},
    model::{Active, Link, LinkRef, Profile, Wants},
    paths::Paths,
    status::write_in_runtime,
};

pub(crate) const UNIT: &str = "mtu-migration.service";

/// The profiles of configure-ovs without which the unit's script fails.
const PROFILES: [&str; 2] = ["ovs-if-br-ex", "ovs-if-phys0"];

/// The bridge of OVN-Kubernetes.
const BR_EX: &str = "br-ex";
/// The bridges on which, and below which, the script sets the MTU.
pub(crate) const BRIDGES: [&str; 2] = [BR_EX, "br-ex1"];

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
        named.any(|profile| active.iter().any(|active| active.uuid == profile.uuid()))
    })
}

/// A mark for the rest of the boot: the cluster changes its MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Migration {
    /// The MTU that the cluster wants of the machine.
    pub(crate) target: u32,
    /// Whether the operator's script sets it.
    #[serde(default)]
    pub(crate) by_script: bool,
}

impl Migration {
    pub(crate) fn load(paths: &Paths) -> Result<Option<Self>, FileError> {
        durable::read_json_or_set_aside(&paths.mtu_target())
    }

    pub(crate) fn mark(self, paths: &Paths) -> Result<(), FileError> {
        write_in_runtime(&paths.mtu_target(), &self)
    }

    /// How far the machine is: br-ex, and what carries its packets. `cards` are the recorded ones, for a document that knows them
    /// by another name.
    pub(crate) fn standing(self, wants: &Wants, cards: &[LinkRef], links: &[Link]) -> Standing {
        let named = |name: &str| links.iter().find(|link| link.is(&LinkRef::Name(name.to_owned())));
        let below: Vec<Option<&Link>> = wants.carriers(BR_EX).map(named).collect();
        let is_card = |link: &&Link| link.physical && cards.iter().any(|card| link.is(card));
        let all_are_named = below.iter().all(Option::is_some);
        let recorded = links.iter().filter(|link| !all_are_named && is_card(link));
        let mut of: Vec<OfLink> = Vec::new();
        for link in named(BR_EX).into_iter().chain(below.iter().copied().flatten()).chain(recorded)
        {
            if !of.iter().any(|other| other.name == link.name) {
                of.push(OfLink { name: link.name.clone(), mtu: link.mtu() });
            }
        }
        Standing { target: self.target, links: of }
    }
}

/// The MTU that the cluster wants, beside those of the document's links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Standing {
    pub(crate) target: u32,
    pub(crate) links: Vec<OfLink>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct OfLink {
    pub(crate) name: String,
    pub(crate) mtu: u32,
}

impl Standing {
    /// Whether a link is too small for the cluster: ovnkube-node does not start on it.
    pub(crate) fn is_below(&self) -> bool {
        self.links.iter().any(|link| link.mtu < self.target)
    }

    /// Whether a link is larger than the cluster wants. Where it shrinks, the operator's script leaves the links as they are: the
    /// network operator gives the pods the larger MTU, and their routes the smaller one, until the change has ended.
    fn is_above(&self) -> bool {
        self.links.iter().any(|link| link.mtu > self.target)
    }

    /// The next step; empty where the document has the wanted MTU.
    pub(crate) fn next(&self) -> String {
        let target = self.target;
        if self.is_below() {
            return format!(
                "put `mtu: {target}` into the document, for br-ex and everything below it, and `dayone apply`: OVN-Kubernetes does \
                 not start on a br-ex that is too small for its pods"
            );
        }
        if self.is_above() {
            return format!(
                "once the change of the cluster has ended, put `mtu: {target}` into the document, for br-ex and everything below it"
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
        write!(f, ", {}", self.links.iter().map(one).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;
    use crate::model::Mac;

    const MAC: &str = "52:54:00:00:00:01";

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
            // A bond and its VLANs have the MAC address of a card.
            let (physical, mac) =
                (name.starts_with("eno1") && !name.contains('.'), Mac::parse(MAC));
            Link { name, mtu, physical, mac, ..Link::default() }
        };
        mtus.iter().map(link).collect()
    }

    /// br-ex on what `below` names, each above the next one, and a port for storage.
    fn wants(below: &[&str]) -> Wants {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let stack = [&[BR_EX][..], below].concat();
        let pairs = stack.windows(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned()));
        Wants {
            below: pairs.chain([(BR_EX.to_owned(), "storage".to_owned())]).collect(),
            bridges: names(&[BR_EX]),
            ovs_interfaces: names(&[BR_EX, "storage"]),
            ..Wants::default()
        }
    }

    fn standing(target: u32, below: &[&str], mtus: &[(&str, u32)]) -> Standing {
        let cards: Vec<LinkRef> = Mac::parse(MAC).map(LinkRef::Mac).into_iter().collect();
        Migration { target, by_script: false }.standing(&wants(below), &cards, &links(mtus))
    }

    #[test]
    fn br_ex_and_its_card_count_and_say_what_is_to_do() {
        let small = "put `mtu: 9000` into the document, for br-ex and everything below it, and `dayone apply`: OVN-Kubernetes does \
                     not start on a br-ex that is too small for its pods";
        let large = "once the change of the cluster has ended, put `mtu: 1400` into the document, for br-ex and everything below it";
        for (target, mtus, text, next, is_below) in [
            (
                9000,
                &[("eno1", 9000), ("br-ex", 9000), ("eno2", 1500), ("storage", 1500)][..],
                "the cluster wants an MTU of 9000, br-ex of the document has 9000, eno1 of the document has 9000",
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
            let found = standing(target, &["eno1"], mtus);
            assert_eq!(
                (&*found.to_string(), &*found.next(), found.is_below()),
                (text, next, is_below)
            );
        }
    }

    #[test]
    fn only_what_carries_br_ex_counts() {
        let names = |standing: &Standing| -> Vec<String> {
            standing.links.iter().map(|link| link.name.clone()).collect()
        };
        // Another VLAN of the bond has the card's MAC address, and an MTU of its own.
        let stack = ["bond0.100", "bond0", "eno1"];
        let mut all = vec![
            ("br-ex", 9000),
            ("bond0.100", 9000),
            ("bond0", 9000),
            ("eno1", 9000),
            ("bond0.200", 1500),
        ];
        let found = standing(9000, &stack, &all);
        assert_eq!(
            (names(&found).join(" ").as_str(), found.is_below()),
            ("br-ex bond0.100 bond0 eno1", false)
        );
        all[1].1 = 1500;
        assert!(standing(9000, &stack, &all).is_below());
        // A document that names the card by its address alone.
        let found =
            standing(9000, &["uplink"], &[("br-ex", 9000), ("eno1", 1500), ("bond0.200", 1500)]);
        assert_eq!((names(&found).join(" ").as_str(), found.is_below()), ("br-ex eno1", true));
    }

    #[test]
    fn a_mark_is_read_back_and_a_broken_one_is_none() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        assert_eq!(Migration::load(&paths)?, None);
        for by_script in [false, true] {
            let migration = Migration { target: 9000, by_script };
            migration.mark(&paths)?;
            assert_eq!(Migration::load(&paths)?, Some(migration));
        }
        std::fs::write(paths.mtu_target(), "{\"target\": \"large\"}")?;
        assert_eq!(Migration::load(&paths)?, None);
        Ok(())
    }
}
