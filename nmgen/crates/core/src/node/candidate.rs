//! The documents that match a machine in one tier.

use nmgen_document::mac::{Mac, MacPrefix};

use super::known::Identity;
use super::placeholder::{HostName, names_a_machine};
use super::precedence::{CLUSTER, Tier};

/// A document that matches a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The file's name without `.yml`.
    pub name: String,
    /// The reason for the match.
    pub reason: Reason,
}

/// The reason for a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The kernel command line names it.
    KernelArgument,
    /// A file is named after a card's MAC address, or a document contains it.
    MacAddress {
        /// The address.
        mac: Mac,
        /// The card's name in the kernel.
        card: String,
    },
    /// A file is named after the first bytes of a card's MAC address.
    MacPrefix {
        /// As in the file name.
        prefix: String,
        /// The card's name in the kernel.
        card: String,
    },
    /// A file is named after a DMI value.
    Dmi {
        /// `serial number`, `system UUID`.
        what: &'static str,
        /// As the firmware reports it.
        value: String,
    },
    /// The host name up to its first dot.
    ShortHostName(HostName),
    /// The host name with its domain.
    FullHostName(HostName),
    /// No document is for this machine alone.
    Cluster,
}

/// The documents of `names` that match in one tier, all equally well.
pub fn candidates(tier: Tier, identity: &Identity, names: &[String]) -> Vec<Candidate> {
    match tier {
        Tier::MacAddress => by_mac_address(identity, names),
        Tier::MacPrefix => by_mac_prefix(identity, names),
        Tier::Dmi => by_dmi(identity, names),
        Tier::ShortHostName => {
            let host = &identity.host_name;
            by_host_name(host, host.short(), Reason::ShortHostName(host.clone()), names)
        }
        Tier::FullHostName => {
            let host = &identity.host_name;
            let is_other = host.as_str() != host.short();
            let reason = Reason::FullHostName(host.clone());
            if is_other { by_host_name(host, host.as_str(), reason, names) } else { Vec::new() }
        }
        Tier::Cluster => named(CLUSTER, Reason::Cluster, names),
    }
}

/// The names that a machine's document may have, without extension, best first; prefixes of MAC addresses,
/// which are many, are left out.
pub fn names(tiers: &[Tier], identity: &Identity) -> Vec<String> {
    tiers.iter().flat_map(|tier| names_in(*tier, identity)).collect()
}

fn names_in(tier: Tier, identity: &Identity) -> Vec<String> {
    let host = &identity.host_name;
    match tier {
        Tier::ShortHostName | Tier::FullHostName if host.is_placeholder() => Vec::new(),
        Tier::ShortHostName => vec![host.short().to_owned()],
        Tier::FullHostName if host.as_str() == host.short() => Vec::new(),
        Tier::FullHostName => vec![host.as_str().to_owned()],
        Tier::MacAddress => {
            identity.cards.iter().map(|card| card.mac.to_string().replace(':', "-")).collect()
        }
        Tier::MacPrefix => Vec::new(),
        Tier::Dmi => {
            let named = identity.dmi.iter().filter(|dmi| names_a_machine(&dmi.value));
            named.map(|dmi| dmi.value.clone()).collect()
        }
        Tier::Cluster => vec![CLUSTER.to_owned()],
    }
}

fn by_mac_address(identity: &Identity, names: &[String]) -> Vec<Candidate> {
    let candidate = |name: &String| {
        let prefix = MacPrefix::of_file_name(name)?;
        let card = identity.cards.iter().find(|card| prefix.is_whole(&card.mac))?;
        let reason = Reason::MacAddress { mac: card.mac, card: card.name.clone() };
        Some(Candidate { name: name.clone(), reason })
    };
    names.iter().filter_map(candidate).collect()
}

/// The longest prefix wins.
fn by_mac_prefix(identity: &Identity, names: &[String]) -> Vec<Candidate> {
    let candidate = |name: &String| {
        let prefix = MacPrefix::of_file_name(name)?;
        let is_part = |mac: &Mac| prefix.matches(mac) && !prefix.is_whole(mac);
        let card = identity.cards.iter().find(|card| is_part(&card.mac))?;
        let reason = Reason::MacPrefix { prefix: name.clone(), card: card.name.clone() };
        Some((prefix.length(), Candidate { name: name.clone(), reason }))
    };
    let mut found: Vec<(usize, Candidate)> = names.iter().filter_map(candidate).collect();
    let longest = found.iter().map(|(length, _)| *length).max();
    found.retain(|(length, _)| Some(*length) == longest);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// DMI values match in either case.
fn by_dmi(identity: &Identity, names: &[String]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for dmi in identity.dmi.iter().filter(|dmi| names_a_machine(&dmi.value)) {
        let reason = Reason::Dmi { what: dmi.what, value: dmi.value.clone() };
        let names = names.iter().filter(|name| name.eq_ignore_ascii_case(&dmi.value));
        found.extend(names.map(|name| Candidate { name: name.clone(), reason: reason.clone() }));
    }
    found
}

fn by_host_name(host: &HostName, wanted: &str, reason: Reason, names: &[String]) -> Vec<Candidate> {
    if host.is_placeholder() { Vec::new() } else { named(wanted, reason, names) }
}

fn named(wanted: &str, reason: Reason, names: &[String]) -> Vec<Candidate> {
    let is_there = names.iter().any(|name| name == wanted);
    is_there.then(|| Candidate { name: wanted.to_owned(), reason }).into_iter().collect()
}
