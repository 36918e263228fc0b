//! The facts of a cluster that an install-config, an agent-config, a ClusterInstance and a SiteConfig share.

use nmgen_document::Node;
use nmgen_document::text::place::Place;

use super::manifest::{Manifest, SOURCE_SHAPE};
use crate::source::cluster::{
    BridgeTopology, Cluster, ClusterAddress, InternalNetwork, Network, Plugin,
};

/// The keys of addresses that keepalived moves between hosts: lists, and the single ones of older releases.
const VIRTUAL: &[(&str, &str, &str)] = &[
    ("apiVIPs", "apiVIP", "the API's virtual address"),
    ("ingressVIPs", "ingressVIP", "the ingress's virtual address"),
];

/// The network plugin, and the networks of the nodes' addresses. The installers' default plugin is OVN-Kubernetes
/// (openshift/installer, `pkg/types/defaults/installconfig.go`, since 4.12).
pub(super) fn network(
    manifest: &mut Manifest<'_>,
    networking: Option<&Node<'_>>,
    cluster: &mut Cluster,
) {
    let plugin = networking.and_then(|node| manifest.text(node, "networkType"));
    cluster.plugin = Some(match plugin {
        None | Some(("OVNKubernetes", _)) => Plugin::OvnKubernetes,
        Some(_) => Plugin::Other,
    });
    let Some(networking) = networking else { return };
    if let Some((name, node)) = manifest.text(networking, "bridgeTopology") {
        let place = manifest.place(node);
        cluster.bridge_topology = Some(BridgeTopology { name: name.to_owned(), place });
    }
    for item in manifest.list(networking, "machineNetwork") {
        let network = manifest.text(item, "cidr").and_then(|text| cidr(manifest, text));
        cluster.machine_networks.extend(network.map(|(network, _)| network));
    }
    let mut inner = |key, network: Option<(Network, Place)>| {
        let network = network.map(|(network, place)| InternalNetwork { network, key, place });
        cluster.internal_networks.extend(network);
    };
    for item in manifest.list(networking, "clusterNetwork") {
        let text = manifest.text(item, "cidr");
        inner("clusterNetwork", text.and_then(|text| cidr(manifest, text)));
    }
    // An install-config has texts here, a ClusterInstance mappings.
    for item in manifest.list(networking, "serviceNetwork") {
        let text = item.text().map(|text| (text, item)).or_else(|| manifest.text(item, "cidr"));
        inner("serviceNetwork", text.and_then(|text| cidr(manifest, text)));
    }
}

/// A network and its place; the installer refuses one with bits of a host.
fn cidr(manifest: &mut Manifest<'_>, (text, node): (&str, &Node<'_>)) -> Option<(Network, Place)> {
    let place = manifest.place(node);
    let network = Network::parse(text);
    let problem = match &network {
        None => Some((
            format!("\"{}\" is not a network", text.escape_debug()),
            "networks are written 192.0.2.0/24 and 2001:db8::/64",
        )),
        Some(network) if network.masked() != *network => Some((
            format!("{text} is an address in {}, not a network", network.masked()),
            "the bits after the prefix are zero",
        )),
        Some(_) => None,
    };
    if let Some((message, help)) = problem {
        manifest.add(SOURCE_SHAPE, place.clone(), message, help);
    }
    Some((network?, place))
}

/// The virtual addresses under the keys of a platform or a cluster. Addresses that are none are the installer's to refuse.
pub(super) fn virtual_addresses(
    manifest: &mut Manifest<'_>,
    owner: &Node<'_>,
    cluster: &mut Cluster,
) {
    let load_balancer = owner.at(&["loadBalancer", "type"]).and_then(Node::text);
    cluster.has_outer_load_balancer |= load_balancer == Some("UserManaged");
    for (list, single, purpose) in VIRTUAL {
        // The one is no misspelt form of the other.
        let Some(node) = owner.get(single).or_else(|| manifest.get(owner, list)) else { continue };
        let items = if node.items().is_empty() { std::slice::from_ref(node) } else { node.items() };
        for item in items {
            if let Some(address) = item.text().and_then(|text| text.parse().ok()) {
                let place = manifest.place(item);
                cluster.virtual_addresses.push(ClusterAddress { address, purpose, place });
            }
        }
    }
}

/// The address of the virtual machine that installs the hosts.
pub(super) fn bootstrap(manifest: &mut Manifest<'_>, owner: &Node<'_>, cluster: &mut Cluster) {
    let purpose = "the bootstrap machine's address";
    cluster.bootstrap = one(manifest, owner, "bootstrapExternalStaticIP", purpose);
}

/// The address of the host that installs the others.
pub(super) fn rendezvous(manifest: &mut Manifest<'_>, root: &Node<'_>, cluster: &mut Cluster) {
    let purpose = "the rendezvous host's address";
    if let Some(address) = one(manifest, root, "rendezvousIP", purpose) {
        cluster.rendezvous = Some(address);
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

/// The address of a host's management controller, and its place.
pub(super) fn management_controller<'n>(
    manifest: &mut Manifest<'_>,
    owner: &'n Node<'_>,
) -> Option<(&'n str, Place)> {
    let controller = manifest.get(owner, "bmc")?;
    let (address, node) = manifest.text(controller, "address")?;
    Some((address, manifest.place(node)))
}
