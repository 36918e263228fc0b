//! Documents for the running node without br-ex: with one, configure-ovs makes no bridge, and
//! OVN-Kubernetes has none to use.

use nmgen_core::source::{Host, Stage};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Rule, Severity, rules};

use crate::derive::{self, BR_EX};
use crate::source::{Cluster, Plugin};

rules! {
    error BRIDGE_MISSING = "bridge-missing";
}

/// The documents that a source has for the running node.
pub(super) fn check(hosts: &[Host], cluster: &Cluster, diagnostics: &mut Diagnostics) {
    let is_written = |host: &&Host| host.stage == Stage::Node && host.policy.is_none();
    for host in hosts.iter().filter(is_written) {
        diagnostics.extend(missing(host, cluster));
    }
}

/// A document that becomes the running node's.
pub(crate) fn missing(host: &Host, cluster: &Cluster) -> Option<Diagnostic> {
    let document = host.document.as_ref().filter(|_| !host.is_underived)?;
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
