//! The document of all nodes without a host file.

use nmgen_document::diagnostic::{Diagnostics, rules};

use super::facts::Facts;
use crate::source::Host;

rules! {
    /// A static address for all nodes without a host file.
    pub error CLUSTER_STATIC_ADDRESS = "cluster-static-address";
}

/// No static address can be right on several nodes.
pub fn check(host: &Host, facts: &Facts<'_>, diagnostics: &mut Diagnostics) {
    if !host.is_cluster() {
        return;
    }
    for (ip, at) in &facts.addresses {
        let message = format!("every node without a host file would get {ip}");
        let help = "put static addresses into <hostname>.yml, or use dhcp: true here";
        diagnostics.add(CLUSTER_STATIC_ADDRESS, facts.place(*at), message, help);
    }
}
