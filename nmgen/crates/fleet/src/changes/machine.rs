//! Facts that sources give beside a document: role, boot address, names of network cards. Sources differ in giving them, so that
//! one which only one side has is no difference.

use std::collections::BTreeMap;
use std::fmt;

use nmgen_core::source::Host;
use nmgen_document::mac::Mac;

/// A fact that differs. Displayed as one line, like a field of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// `role`, `bootMACAddress`, or `interfaces[eno1].macAddress`.
    pub field: String,
    /// `None` for a network card that only the new side has.
    pub before: Option<String>,
    /// `None` for a network card that only the old side has.
    pub after: Option<String>,
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = &self.field;
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(f, "~ {field}: {before} -> {after}"),
            (Some(before), None) => write!(f, "- {field}: {before}"),
            (None, Some(after)) => write!(f, "+ {field}: {after}"),
            (None, None) => Ok(()),
        }
    }
}

/// The facts that differ.
pub(super) fn facts(before: &Host, after: &Host) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut compare = |field: String, before: Option<String>, after: Option<String>| {
        if before != after {
            facts.push(Fact { field, before, after });
        }
    };
    if let (Some(own), Some(other)) = (&before.role, &after.role) {
        compare("role".to_owned(), Some(own.clone()), Some(other.clone()));
    }
    if let (Some(own), Some(other)) = (boot_address(before), boot_address(after)) {
        compare("bootMACAddress".to_owned(), Some(own.to_string()), Some(other.to_string()));
    }
    let (own, other) = (map(before), map(after));
    if !own.is_empty() && !other.is_empty() {
        let added = other.keys().filter(|name| !own.contains_key(*name));
        for name in own.keys().chain(added) {
            let address = |map: &BTreeMap<&str, Mac>| map.get(name).map(Mac::to_string);
            compare(format!("interfaces[{name}].macAddress"), address(&own), address(&other));
        }
    }
    facts
}

fn boot_address(host: &Host) -> Option<Mac> {
    host.nics.iter().find(|nic| nic.name.is_none()).map(|nic| nic.mac_address)
}

fn map(host: &Host) -> BTreeMap<&str, Mac> {
    host.nics.iter().filter_map(|nic| Some((nic.name.as_deref()?, nic.mac_address))).collect()
}
