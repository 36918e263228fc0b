//! The differences between two sets of sources, per host, in the documents' fields.

use crate::derive;
use crate::difference::fields;
use crate::source::{Cluster, Host, Hosts, Stage};

/// A host that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostChange {
    /// Its name; `None` for a single document.
    pub(crate) host: Option<String>,
    /// The kind of the difference.
    pub(crate) change: Change,
}

/// The difference of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// Only the new sources have it.
    Added,
    /// Only the old sources have it.
    Removed,
    /// One line per difference: `+ `, `- ` or `~ `, and the field.
    Document(Vec<String>),
}

/// Compares hosts by name, and by stage where a host has two documents. An early document is
/// compared with one for the running node by what br-ex makes of it.
pub(crate) fn compare(old: &Hosts, new: &Hosts) -> Vec<HostChange> {
    let mut changes = Vec::new();
    for before in &old.hosts {
        let change = match counterpart(before, &old.hosts, &new.hosts) {
            None => Change::Removed,
            Some(after) => match document(before, after, &old.cluster, &new.cluster) {
                lines if lines.is_empty() => continue,
                lines => Change::Document(lines),
            },
        };
        changes.push(HostChange { host: before.name.clone(), change });
    }
    let is_new = |after: &&Host| counterpart(after, &new.hosts, &old.hosts).is_none();
    for after in new.hosts.iter().filter(is_new) {
        changes.push(HostChange { host: after.name.clone(), change: Change::Added });
    }
    changes
}

/// The same host in the other sources. A single document may have moved to another kind of source;
/// two documents are told apart by stage.
fn counterpart<'h>(host: &Host, own: &[Host], others: &'h [Host]) -> Option<&'h Host> {
    // Sources differ in giving the domain.
    let of_host = |other: &&Host| other.short_name() == host.short_name();
    let has_one = |hosts: &[Host]| hosts.iter().filter(of_host).count() == 1;
    let is_alone = has_one(own) && has_one(others);
    others.iter().filter(of_host).find(|other| is_alone || other.stage == host.stage)
}

fn document(before: &Host, after: &Host, old: &Cluster, new: &Cluster) -> Vec<String> {
    match (&before.document, &after.document) {
        (Some(own), Some(other)) => {
            let derived = match (is_written(before), is_written(after)) {
                (false, true) => derive::counterpart(before, other, old).map(|derived| {
                    fields(&derive::normal(&derived.root), &derive::normal(&other.root))
                }),
                (true, false) => derive::counterpart(after, own, new).map(|derived| {
                    fields(&derive::normal(&own.root), &derive::normal(&derived.root))
                }),
                (false, false) | (true, true) => None,
            };
            derived.unwrap_or_else(|| fields(&own.root, &other.root))
        }
        (None, Some(_)) => vec!["+ a network configuration".to_owned()],
        (Some(_), None) => vec!["- its network configuration".to_owned()],
        (None, None) => Vec::new(),
    }
}

/// True for a document of the running node.
fn is_written(host: &Host) -> bool {
    let has_bridge = || host.document.as_ref().is_some_and(|it| derive::has_bridge(&it.root));
    host.policy.is_none() && (host.stage == Stage::Node || host.stage == Stage::Any && has_bridge())
}
