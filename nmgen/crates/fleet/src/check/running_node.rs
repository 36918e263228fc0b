//! Faults that a document has only as the running node's.

use nmgen_core::check::{CLUSTER_STATIC_ADDRESS, facts};
use nmgen_core::source::{Host, HostNetwork, Stage};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Rule, Severity, rules};

use crate::derive::{self, BR_EX};
use crate::source::{Cluster, Plugin, cluster_of, own_name};

rules! {
    error BRIDGE_MISSING = "bridge-missing";
}

/// Checks the documents that a source has for the running node.
pub(super) fn written(hosts: &[&Host], cluster: &Cluster, diagnostics: &mut Diagnostics) {
    let written = hosts.iter().filter(|host| is_written(host));
    diagnostics.extend(written.filter_map(|host| without_bridge(host, cluster)));
}

/// Checks documents that become the running node's, except for faults that every check of these sources reports.
pub(crate) fn check<'h>(
    hosts: impl Iterator<Item = &'h Host>,
    clusters: &[Cluster],
) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    for host in hosts {
        if !is_written(host) {
            diagnostics.extend(without_bridge(host, cluster_of(clusters, host)));
        }
        if own_name(host).is_none()
            && let Some((ip, place)) = facts(host).first_address()
        {
            let message =
                format!("every node of the role would get {ip}: the document has no host");
            let help = "put it into a directory, as <hostname>.yml, or give it hostname.config";
            diagnostics.add(CLUSTER_STATIC_ADDRESS, place, message, help);
        }
    }
    diagnostics
}

/// True for a source's own document for the running node. A policy is applied beside that one.
fn is_written(host: &Host) -> bool {
    host.stage == Stage::Node && host.policy.is_none()
}

/// With a document configure-ovs makes no bridge, and without br-ex OVN-Kubernetes has none to use.
fn without_bridge(host: &Host, cluster: &Cluster) -> Option<Diagnostic> {
    if matches!(host.network, HostNetwork::Underivable(_)) {
        return None;
    }
    let document = host.document()?;
    let (severity, help) = match cluster.plugin {
        Some(Plugin::OvnKubernetes) => (Severity::Error, ""),
        None => (Severity::Warning, "if the cluster's network is OVN-Kubernetes: "),
        Some(Plugin::Other) => return None,
    };
    if derive::has_bridge(&document.root) {
        return None;
    }
    let of = host.name.as_deref().map_or_else(String::new, |name| format!(" of {name}"));
    let message =
        format!("the document{of} for the running node has no {BR_EX}, which OVN-Kubernetes needs");
    let help = format!(
        "{help}`nmgen generate --br-ex` derives it; with a document configure-ovs does not make the bridge"
    );
    let rule = Rule { severity, ..BRIDGE_MISSING };
    Some(Diagnostic::new(rule, message, host.place.clone()).help(help))
}
