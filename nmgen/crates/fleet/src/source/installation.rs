//! The facts of a cluster that an install-config, an agent-config, a ClusterInstance and a SiteConfig share.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, Ipv4Net};
use nmgen_document::Node;
use nmgen_document::text::place::Place;

use super::cluster::{BridgeTopology, Cluster, ClusterAddress, ClusterNetwork, Plugin};
use super::manifest::{Manifest, SOURCE_SHAPE};

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
        cluster.machine_networks.extend(item_cidr(manifest, item, "machineNetwork"));
    }
    for item in manifest.list(networking, "clusterNetwork") {
        cluster.internal_networks.extend(item_cidr(manifest, item, "clusterNetwork"));
    }
    // An install-config has texts here, a ClusterInstance mappings.
    let key = "serviceNetwork";
    for item in manifest.list(networking, key) {
        let text = item.text().map(|text| (text, item)).or_else(|| manifest.text(item, "cidr"));
        cluster.internal_networks.extend(text.and_then(|text| cidr(manifest, key, text)));
    }
}

/// `pkg/types/defaults/installconfig.go` of openshift/installer.
const DEFAULT_MACHINE_NETWORK: IpNet =
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(10, 0, 0, 0), 16));

/// The network that the installer takes for an install-config without one.
pub(super) fn default_machine_network(
    manifest: &Manifest<'_>,
    root: &Node<'_>,
    cluster: &mut Cluster,
) {
    let place = manifest.key_place(root, root.get("networking").map(|_| "networking"));
    let key = "machineNetwork";
    let network = DEFAULT_MACHINE_NETWORK;
    cluster.machine_networks.push(ClusterNetwork { network, key, is_default: true, place });
}

/// The network of a list's item, which is a mapping.
fn item_cidr(
    manifest: &mut Manifest<'_>,
    item: &Node<'_>,
    key: &'static str,
) -> Option<ClusterNetwork> {
    if item.text().is_some() {
        let message = format!("an item of {key} is text, not a mapping");
        manifest.add(SOURCE_SHAPE, manifest.place(item), message, "write it as the value of cidr");
        return None;
    }
    manifest.text(item, "cidr").and_then(|text| cidr(manifest, key, text))
}

/// A network; the installer refuses one with bits of a host.
fn cidr(
    manifest: &mut Manifest<'_>,
    key: &'static str,
    (text, node): (&str, &Node<'_>),
) -> Option<ClusterNetwork> {
    let place = manifest.place(node);
    let network = in_cidr_notation(text);
    let problem = match &network {
        None => Some((
            format!("\"{}\" is not a network", text.escape_debug()),
            "networks are written 192.0.2.0/24 and 2001:db8::/64",
        )),
        Some(network) if network.trunc() != *network => Some((
            format!("{text} is an address in {}, not a network", network.trunc()),
            "the bits after the prefix are zero",
        )),
        Some(_) => None,
    };
    if let Some((message, help)) = problem {
        manifest.add(SOURCE_SHAPE, place.clone(), message, help);
    }
    Some(ClusterNetwork { network: network?, key, is_default: false, place })
}

/// A network in CIDR notation. `IpNet`'s own parser takes zeros before an octet, which installers refuse.
fn in_cidr_notation(text: &str) -> Option<IpNet> {
    let (address, length) = text.split_once('/')?;
    IpNet::new(address.parse().ok()?, length.parse().ok()?).ok()
}

/// The virtual addresses under the keys of a platform or a cluster.
pub(super) fn virtual_addresses(
    manifest: &mut Manifest<'_>,
    owner: &Node<'_>,
    cluster: &mut Cluster,
) {
    let load_balancer = owner.at(&["loadBalancer", "type"]).and_then(Node::text);
    cluster.has_outer_load_balancer |= load_balancer == Some("UserManaged");
    for (list, single, purpose) in VIRTUAL {
        // The one is no misspelt form of the other.
        let items = match owner.get(single) {
            Some(node) => {
                manifest.text(owner, single);
                std::slice::from_ref(node)
            }
            None => manifest.list(owner, list),
        };
        for item in items {
            let Some(text) = manifest.item_text(item, list) else { continue };
            if let Some(address) = address(manifest, text, item) {
                let place = manifest.place(item);
                cluster.virtual_addresses.push(ClusterAddress { address, purpose, place });
            }
        }
    }
}

/// An address; the installer refuses anything else, and takes no text for no address.
fn address(manifest: &mut Manifest<'_>, text: &str, node: &Node<'_>) -> Option<IpAddr> {
    let address = text.parse().ok();
    if address.is_none() && !text.is_empty() {
        let message = format!("\"{}\" is not an IP address", text.escape_debug());
        let help = "addresses are written 192.0.2.1 and 2001:db8::1";
        manifest.add(SOURCE_SHAPE, manifest.place(node), message, help);
    }
    address
}

/// The address under a key.
pub(super) fn address_at(
    manifest: &mut Manifest<'_>,
    owner: &Node<'_>,
    key: &str,
    purpose: &'static str,
) -> Option<ClusterAddress> {
    let (text, node) = manifest.text(owner, key)?;
    let address = address(manifest, text, node)?;
    Some(ClusterAddress { address, purpose, place: manifest.place(node) })
}

/// The address of a host's management controller, and its place.
pub(super) fn management_controller<'n>(
    manifest: &mut Manifest<'_>,
    owner: &'n Node<'_>,
) -> Option<(&'n str, Place)> {
    let controller = manifest.section(owner, "bmc")?;
    let (address, node) = manifest.text(controller, "address")?;
    Some((address, manifest.place(node)))
}

#[cfg(test)]
mod tests {
    use super::in_cidr_notation;

    #[test]
    fn networks_are_read_as_installers_do() {
        for text in ["192.0.2.0/24", "192.0.2.9/24", "::/0", "2001:db8::/64"] {
            assert_eq!(
                in_cidr_notation(text)
                    .map(|in_cidr_notation| in_cidr_notation.to_string())
                    .as_deref(),
                Some(text)
            );
        }
        for text in ["192.0.2.0", "192.0.2.0/33", "192.000.002.000/24", "192.0.2.0/", "a/24"] {
            assert_eq!(in_cidr_notation(text), None, "{text}");
        }
    }
}
