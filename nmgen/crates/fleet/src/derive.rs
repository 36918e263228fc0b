//! The document for the running node, derived from a host's early one.
//!
//! The uplink's addresses, DHCP, routes and rules move to br-ex; the uplink becomes its port, without
//! addresses. All other interfaces stay as they are. Every value keeps its place, so that findings
//! about the derived document point to the lines of the early one.

mod balance_slb;
mod bridge;
mod counterpart;
mod derived;
mod interfaces;
pub(crate) mod new;
mod normal;
mod patched;
mod references;
mod uplink;
mod verify;
mod wanted;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use nmgen_core::difference::fields;
use nmgen_core::interface;
use nmgen_core::source::{Host, HostNetwork, Stage};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Rule, rules};
use nmgen_document::format::counted;
use nmgen_document::{Document, Node};

pub(crate) use self::counterpart::{counterpart, differences};
use self::derived::derived;
pub(crate) use self::normal::normal;
pub use self::wanted::{BR_EX, BalanceSlb, Choice, Request};
use crate::parallel::each;
use crate::source::{Hosts, Plugin, cluster_of};

/// The number of hosts with both documents in memory.
const AT_A_TIME: usize = 512;

rules! {
    error STAGES_CONTRADICT = "stages-contradict";
    warning BRIDGE_NOT_NEEDED = "bridge-not-needed";
}

/// Faults of documents from which no bridge can be derived.
pub fn rules() -> Vec<Rule> {
    [RULES, uplink::RULES, verify::RULES, balance_slb::RULES].concat()
}

/// Replaces the early document of every host. A host's own document for the running node has to be
/// equal to the derived one. Hosts from whose documents nothing can be derived keep them, and the
/// diagnostics give the reason.
pub fn hosts(mut hosts: Hosts, request: &Request) -> Hosts {
    let early: HashSet<Id> =
        hosts.hosts.iter().filter(|host| is_early(host)).filter_map(id).collect();
    let is_written = |host: &mut Host| {
        let document =
            host.document().filter(|_| host.stage == Stage::Node && host.policy.is_none());
        document.is_some_and(|document| {
            has_bridge(&document.root) || id(host).is_some_and(|id| early.contains(&id))
        })
    };
    let written: Vec<Host> = hosts.hosts.extract_if(.., is_written).collect();
    let own: HashMap<Id, &Host> =
        written.iter().rev().filter_map(|own| Some((id(own)?, own))).collect();
    let clusters = &hosts.clusters;
    let one = |host: &Host| {
        let early = host.document().filter(|_| host.policy.is_none())?;
        let derived = derived(host, early, cluster_of(clusters, host), request);
        Some(derived.and_then(|derived| match id(host).and_then(|id| own.get(&id)) {
            Some(own) => verify_written(host, &derived, own).map(|()| derived),
            None => Ok(derived),
        }))
    };
    for some in hosts.hosts.chunks_mut(AT_A_TIME) {
        let derived = each(some, one);
        for (host, derived) in some.iter_mut().zip(derived) {
            let Some(derived) = derived else { continue };
            match hosts.diagnostics.accept(derived) {
                Some(derived) => {
                    (host.network, host.stage) = (HostNetwork::Written(derived), Stage::Node);
                }
                None => {
                    let network = std::mem::replace(&mut host.network, HostNetwork::Missing);
                    host.network = network.map(HostNetwork::Underivable);
                }
            }
        }
    }
    warn_where_not_needed(&mut hosts);
    let is_alone = |own: &Host| {
        !hosts.hosts.iter().any(|host| host.document().is_some() && is_same(host, own))
    };
    let alone: Vec<Host> = written.into_iter().filter(is_alone).collect();
    hosts.hosts.extend(alone);
    hosts
}

/// The hosts, and the documents of the running node that are derived from theirs.
pub fn both_stages(hosts: Hosts, request: &Request) -> Hosts {
    let mut both = hosts.clone();
    let derived = self::hosts(hosts, request);
    let is_new = |host: &Host| {
        host.stage == Stage::Node && host.document().is_some() && !both.hosts.contains(host)
    };
    let new: Vec<Host> = derived.hosts.into_iter().filter(is_new).collect();
    for host in both.hosts.iter_mut().filter(|host| host.stage == Stage::Any) {
        if new.iter().any(|new_host| is_same(new_host, host)) {
            host.stage = Stage::Early;
        }
    }
    both.hosts.extend(new);
    Hosts { diagnostics: derived.diagnostics, ..both }
}

/// Warns of clusters whose network makes no use of br-ex, each at its first derived document: OpenShiftSDN's script removes it.
fn warn_where_not_needed(hosts: &mut Hosts) {
    let mut told: HashSet<Option<Arc<str>>> = HashSet::new();
    for host in &hosts.hosts {
        let plugin = cluster_of(&hosts.clusters, host).plugin;
        let is_derived = host.stage == Stage::Node && host.document().is_some();
        if plugin == Some(Plugin::Other) && is_derived && told.insert(host.cluster.clone()) {
            let message = "the cluster's network (`networking.networkType`) is not OVN-Kubernetes, and makes no use of br-ex";
            let help = "leave --br-ex out";
            hosts.diagnostics.add(BRIDGE_NOT_NEEDED, host.place.clone(), message, help);
        }
    }
}

fn is_early(host: &Host) -> bool {
    host.stage != Stage::Node && host.document().is_some()
}

/// A host's cluster and name.
type Id = (Option<Arc<str>>, String);

fn id(host: &Host) -> Option<Id> {
    Some((host.cluster.clone(), host.short_name()?.to_owned()))
}

fn is_same(one: &Host, other: &Host) -> bool {
    one.cluster == other.cluster && one.short_name() == other.short_name()
}

/// True for a document with br-ex.
pub fn has_bridge(root: &Node<'_>) -> bool {
    interface::ovs_bridge(root, BR_EX).is_some()
}

/// Two documents of one host for the running node.
fn verify_written(host: &Host, derived: &Document<'static>, own: &Host) -> Result<(), Diagnostics> {
    let Some(written) = own.document() else { return Ok(()) };
    let changes = fields(&normal(&derived.root), &normal(&written.root));
    let Some(first) = changes.first() else { return Ok(()) };
    let others = match changes.len() - 1 {
        0 => String::new(),
        others => format!(", and {}", counted(others, "other difference")),
    };
    let message = format!(
        "the document for the running node ({}) is not the derived one: {first}{others}",
        own.place.shown()
    );
    let diagnostic = Diagnostic::new(STAGES_CONTRADICT, message, host.place.clone());
    Err(diagnostic
        .help("leave one of the two out, or make them equal; `nmgen diff` shows all")
        .into())
}
