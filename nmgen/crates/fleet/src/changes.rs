//! The differences between two sets of sources, per host, in the documents' fields.

mod machine;
mod pairs;

use nmgen_core::difference::{Difference, fields};
use nmgen_core::source::{Host, Stage};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::format::printable;
use std::sync::Arc;

use self::machine::Fact;
use self::pairs::{Pair, pairs};
use crate::derive;
use crate::source::{Cluster, Hosts, MachineConfig};

rules! {
    warning AGENT_LEFT_OUT = "agent-left-out";
}

/// A host that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct HostChange {
    /// Its cluster, if one of the two sides has several.
    pub cluster: Option<Arc<str>>,
    /// Its name; `None` for a single document.
    pub host: Option<String>,
    /// Its role, if a source gives it; the new one.
    pub role: Option<String>,
    /// The stage that the document is for.
    pub stage: Stage,
    /// The policy that has the document.
    pub policy: Option<String>,
    /// The sources have other documents of a host of this name.
    pub has_others: bool,
    /// The kind of the difference.
    pub change: Change,
}

/// The difference of one host.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Only the new sources have it.
    Added,
    /// Only the old sources have it.
    Removed,
    /// Both have it, with differences.
    Changed {
        /// In what the sources give beside the document.
        facts: Vec<Fact>,
        /// In the document.
        document: Document,
    },
}

impl Change {
    /// A line for each fact and field that differs, with its sign, as it is shown; none for a host that only one side has.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let Self::Changed { facts, document } = self else { return Vec::new() };
        let facts = facts.iter().map(ToString::to_string);
        let fields: Vec<String> = match document {
            Document::Added => vec!["+ a network configuration".to_owned()],
            Document::Removed => vec!["- its network configuration".to_owned()],
            Document::Fields(fields) => fields.iter().map(ToString::to_string).collect(),
        };
        facts.chain(fields).map(|line| printable(&line)).collect()
    }
}

/// The difference of two documents of a host.
#[derive(Debug, Clone, PartialEq)]
pub enum Document {
    /// Only the new sources have one.
    Added,
    /// Only the old sources have one.
    Removed,
    /// Both have one, or none has; no field differs if this is empty.
    Fields(Vec<Difference>),
}

/// A host that differs, with its descriptions.
#[derive(Debug, Clone)]
pub struct HostComparison<'h> {
    /// The difference.
    pub change: HostChange,
    /// The old sources' description.
    pub before: Option<&'h Host>,
    /// The new sources' description.
    pub after: Option<&'h Host>,
}

/// The differences of [`compared`] alone.
pub fn compare(old: &Hosts, new: &Hosts) -> Vec<HostChange> {
    compared(old, new).into_iter().map(|comparison| comparison.change).collect()
}

/// Compares hosts by name, role, stage and policy. An early document is compared with one for the running node by what br-ex
/// makes of it.
pub fn compared<'h>(old: &'h Hosts, new: &'h Hosts) -> Vec<HostComparison<'h>> {
    let mut changes = Vec::new();
    let has_several = old.has_several_clusters() || new.has_several_clusters();
    for Pair { before, after, has_others } in pairs(&old.hosts, &new.hosts, has_several) {
        let change = match (before, after) {
            (Some(_), None) => Change::Removed,
            (None, Some(_)) => Change::Added,
            (Some(before), Some(after)) => {
                let document =
                    document(before, after, old.cluster_of(before), new.cluster_of(after));
                let facts = machine::facts(before, after);
                if facts.is_empty() && document == Document::Fields(Vec::new()) {
                    continue;
                }
                Change::Changed { facts, document }
            }
            (None, None) => continue,
        };
        let Some(host) = after.or(before) else { continue };
        let change = HostChange {
            cluster: host.cluster.clone().filter(|_| has_several),
            host: host.name.clone(),
            role: host.role.clone(),
            stage: host.stage,
            policy: host.policy.clone(),
            has_others,
            change,
        };
        changes.push(HostComparison { change, before, after });
    }
    changes
}

/// Warnings of MachineConfigs that lose the agent: such an object is replaced as a whole. None where another one of the role has it
/// now, nor where several have the name, as in several clusters.
#[must_use]
pub fn losses(old: &Hosts, new: &Hosts) -> Diagnostics {
    let named = |hosts: &Hosts, name: &str| -> Vec<bool> {
        hosts
            .machine_configs
            .iter()
            .filter(|config| config.name == name)
            .map(|config| config.has_agent)
            .collect()
    };
    let has_it_elsewhere = |lost: &MachineConfig| {
        new.machine_configs.iter().any(|config| config.has_agent && config.role == lost.role)
    };
    let without = new.machine_configs.iter().filter(|config| {
        named(old, &config.name) == [true]
            && named(new, &config.name) == [false]
            && !has_it_elsewhere(config)
    });
    let told = without.map(|config| {
        let message = format!("{} has the agent's units so far, and none here", config.name);
        Diagnostic::new(AGENT_LEFT_OUT, message, config.place.clone()).help(
            "a MachineConfig is replaced as a whole: the operator reboots its nodes, and what --install has brought goes; \
             `nmgen generate` with the options of the present one (--install IMAGE, --agent) keeps it",
        )
    });
    told.collect()
}

fn document(before: &Host, after: &Host, old: &Cluster, new: &Cluster) -> Document {
    let (own, other) = match (before.document(), after.document()) {
        (Some(own), Some(other)) => (own, other),
        (None, Some(_)) => return Document::Added,
        (Some(_), None) => return Document::Removed,
        (None, None) => return Document::Fields(Vec::new()),
    };
    let derived = match (is_written(before), is_written(after)) {
        (false, true) => derive::counterpart(before, other, old)
            .map(|derived| fields(&derive::normal(&derived.root), &derive::normal(&other.root))),
        (true, false) => derive::counterpart(after, own, new)
            .map(|derived| fields(&derive::normal(&own.root), &derive::normal(&derived.root))),
        (false, false) | (true, true) => None,
    };
    Document::Fields(derived.unwrap_or_else(|| fields(&own.root, &other.root)))
}

/// True for a document of the running node.
fn is_written(host: &Host) -> bool {
    let has_bridge = || host.document().is_some_and(|document| derive::has_bridge(&document.root));
    host.policy.is_none() && (host.stage == Stage::Node || host.stage == Stage::Any && has_bridge())
}
