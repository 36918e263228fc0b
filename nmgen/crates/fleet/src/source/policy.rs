//! NodeNetworkConfigurationPolicy of kubernetes-nmstate: `spec.desiredState`, for the nodes that
//! `spec.nodeSelector` selects.

use std::net::IpAddr;

use nmgen_core::check::{CLUSTER_STATIC_ADDRESS, is_of_each_host};
use nmgen_core::interface;
use nmgen_core::source::{Host, HostNetwork, Stage};
use nmgen_document::diagnostic::{Rule, Severity};
use nmgen_document::{Document, Node};

use super::capture;
use super::extent::Extent;
use super::found::Found;
use super::manifest::Manifest;

const HOSTNAME: &str = "kubernetes.io/hostname";
const ROLE: &str = "node-role.kubernetes.io/";

pub(super) fn load(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let (policy, place) = manifest.metadata(root).unzip();
    // Its place is told.
    let selector_in_metadata = root.at(&["metadata", "nodeSelector"]).is_some();
    let Some(spec) = manifest.get_mut(root, "spec") else { return };
    if let Some(captures) = manifest.get(spec, "capture") {
        let of_captures = capture::findings(captures, |node| manifest.place(node));
        manifest.tell(of_captures);
    }
    let captures = spec.get("capture").map(|node| node.clone().into_owned());
    let Some(document) = manifest.network(spec, "desiredState") else { return };
    let written = document.clone();
    let resolved = capture::resolve(document.clone(), None, &[]);
    // On the node they have values; nothing is wrong before something is to be made of them here.
    let document = match found.extent {
        Extent::Checked => Some(resolved.unwrap_or_else(|_| capture::policy(&document, captures))),
        Extent::Written | Extent::Shown | Extent::Converted | Extent::Validated => {
            manifest.accept(resolved)
        }
    };
    let selector = manifest.section(spec, "nodeSelector");
    if !selector_in_metadata
        && spec.get("nodeSelector").is_none_or(|node| selector.is_some() && is_of_many(node))
    {
        of_many(manifest, &written);
    }
    let name = selector.and_then(|selector| selector.get(HOSTNAME));
    let place = name.map(|node| manifest.place(node)).or(place);
    let name = name.and_then(Node::text);
    let roles = selector.map(Node::entries).unwrap_or_default().iter();
    let role = roles.filter_map(|entry| entry.key.strip_prefix(ROLE)).next();
    found.add(Host {
        role: role.map(str::to_owned),
        stage: Stage::Node,
        network: HostNetwork::read(document),
        policy: Some(policy.map(|policy| policy.name).unwrap_or_default()),
        ..Host::new(name.map(str::to_owned), place.unwrap_or_else(|| manifest.place(spec)))
    });
}

/// Labels of nodes that many have.
const COMMON: &[&str] = &["kubernetes.io/os", "kubernetes.io/arch", "node.openshift.io/os_id"];

/// True for a selector that asks for no label, or for such that many nodes have. Labels of one's own may be one node's.
fn is_of_many(selector: &Node<'_>) -> bool {
    let is_common = |key: &str| key.starts_with(ROLE) || COMMON.contains(&key);
    selector.entries().iter().all(|entry| is_common(&entry.key))
}

/// Tells of the first static address of a policy for many nodes. It is right where the cluster has one node, and an address of a
/// dummy interface or of a bridge without ports may be on all.
fn of_many(manifest: &mut Manifest<'_>, document: &Document<'_>) {
    let is_real = |node: &&Node<'_>| {
        let has_ports =
            || node.at(&["bridge", "port"]).is_some_and(|ports| !ports.items().is_empty());
        let is_of_node = match node.text_at("type") {
            Some("dummy" | "loopback") => false,
            Some("linux-bridge") => has_ports(),
            _ => true,
        };
        is_of_node && interface::is_up(node)
    };
    let mut ips = interface::all(&document.root).iter().filter(is_real).flat_map(|interface| {
        let families = ["ipv4", "ipv6"].map(|family| Node::at(interface, &[family, "address"]));
        families.into_iter().flatten().flat_map(Node::items)
    });
    let ip = ips.find_map(|address| {
        let node = address.get("ip")?;
        let ip: IpAddr = node.text()?.parse().ok()?;
        (!is_of_each_host(&ip)).then_some((ip, node))
    });
    if let Some((ip, node)) = ip {
        let rule = Rule { severity: Severity::Warning, ..CLUSTER_STATIC_ADDRESS };
        let message = format!("every node that this policy selects would get {ip}");
        let help = "select one node by kubernetes.io/hostname; for a cluster of one node there is nothing to do";
        manifest.add(rule, document.place(node.span), message, help);
    }
}
