//! The facts of a cluster that an install-config, an agent-config, a ClusterInstance and a SiteConfig share.

use nmgen_document::Node;

use super::found::Found;
use super::manifest::{Manifest, SOURCE_SHAPE};
use crate::source::cluster::{ClusterAddress, Network, Plugin};

/// The keys of addresses that keepalived moves between hosts: lists, and the single ones of older releases.
const VIRTUAL: &[(&str, &str)] = &[
    ("apiVIPs", "the API's virtual address"),
    ("apiVIP", "the API's virtual address"),
    ("ingressVIPs", "the ingress's virtual address"),
    ("ingressVIP", "the ingress's virtual address"),
];

/// The network plugin, and the networks of the nodes' addresses. The installers' default plugin is OVN-Kubernetes
/// (openshift/installer, `pkg/types/defaults/installconfig.go`, since 4.12).
pub(super) fn network(
    manifest: &mut Manifest<'_>,
    networking: Option<&Node<'_>>,
    found: &mut Found,
) {
    let cluster = &mut found.loaded.cluster;
    let plugin = networking.and_then(|node| manifest.text(node, "networkType"));
    cluster.plugin = Some(match plugin {
        None | Some(("OVNKubernetes", _)) => Plugin::OvnKubernetes,
        Some(_) => Plugin::Other,
    });
    let Some(networking) = networking else { return };
    for network in manifest.list(networking, "machineNetwork") {
        let Some((text, node)) = manifest.text(network, "cidr") else { continue };
        match Network::parse(text) {
            Some(network) => cluster.machine_networks.push(network),
            None => {
                let message = format!("\"{}\" is not a network", text.escape_debug());
                let help = "networks are written 192.0.2.0/24 and 2001:db8::/64";
                manifest.add(SOURCE_SHAPE, manifest.place(node), message, help);
            }
        }
    }
}

/// The virtual addresses under the keys of a platform or a cluster. Addresses that are none are the installer's to refuse.
pub(super) fn virtual_addresses(manifest: &mut Manifest<'_>, owner: &Node<'_>, found: &mut Found) {
    for (key, purpose) in VIRTUAL {
        let Some(node) = owner.get(key) else { continue };
        let items = if node.items().is_empty() { std::slice::from_ref(node) } else { node.items() };
        for item in items {
            if let Some(address) = item.text().and_then(|text| text.parse().ok()) {
                let place = manifest.place(item);
                let found = &mut found.loaded.cluster.virtual_addresses;
                found.push(ClusterAddress { address, purpose, place });
            }
        }
    }
}

/// The address of the virtual machine that installs the hosts.
pub(super) fn bootstrap(manifest: &mut Manifest<'_>, owner: &Node<'_>, found: &mut Found) {
    let purpose = "the bootstrap machine's address";
    found.loaded.cluster.bootstrap = one(manifest, owner, "bootstrapExternalStaticIP", purpose);
}

/// The address of the host that installs the others.
pub(super) fn rendezvous(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let purpose = "the rendezvous host's address";
    if let Some(address) = one(manifest, root, "rendezvousIP", purpose) {
        found.loaded.cluster.rendezvous = Some(address);
    }
}

/// The address under a key; one that is none is the installer's to refuse.
fn one(
    manifest: &mut Manifest<'_>,
    owner: &Node<'_>,
    key: &str,
    purpose: &'static str,
) -> Option<ClusterAddress> {
    let (text, node) = manifest.text(owner, key)?;
    let address = text.parse().ok()?;
    Some(ClusterAddress { address, purpose, place: manifest.place(node) })
}
