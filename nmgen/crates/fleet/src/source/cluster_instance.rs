//! ClusterInstance (stolostron/siteconfig, `api/v1alpha1/clusterinstance_types.go`): `spec.nodes[]` with `hostName`, `role`,
//! `bootMACAddress` and `nodeNetwork`, which is the spec of an NMStateConfig. Its predecessor SiteConfig
//! (`ran.openshift.io/v1`) has the same in `spec.clusters[]`.

use nmgen_core::source::{Host, Stage};
use nmgen_document::Node;
use nmgen_document::diagnostic::{Diagnostic, Place};

use super::found::Found;
use super::hosts_directory::NO_HOSTS;
use super::installation;
use super::manifest::{Manifest, Name, items_mut, value_mut};
use super::origin::{Claim, Standing};

const NETWORK: &str = "nodeNetwork";
/// The role of a node without one, in both kinds.
const DEFAULT_ROLE: &str = "master";
/// The type of a cluster that has no virtual addresses of its own.
const SINGLE_NODE: &str = "SNO";

pub(super) fn load(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let (name, place) = manifest.metadata(root).unzip();
    let Some(spec) = manifest.get_mut(root, "spec") else { return };
    cluster(manifest, spec, (name, place), found);
}

/// A SiteConfig.
pub(super) fn site(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let Some(spec) = manifest.get_mut(root, "spec") else { return };
    for node in manifest.list_mut(spec, "clusters") {
        cluster(manifest, node, (None, None), found);
    }
}

/// `object`: the name of the object, where each cluster has one.
fn cluster(
    manifest: &mut Manifest<'_>,
    spec: &mut Node<'_>,
    (object, object_place): (Option<Name>, Option<Place>),
    found: &mut Found,
) {
    let name = manifest.text(spec, "clusterName");
    let place = name.map(|(_, node)| manifest.place(node)).or(object_place);
    let name = name.map(|(name, _)| name.to_owned());
    let namespace = object.as_ref().and_then(|object| object.namespace.clone());
    if let Some(name) = name.or(object.map(|object| object.name)) {
        found.origin.claim(Claim::Cluster { namespace, name, standing: Standing::Whole });
    }
    let description = found.describe(place.unwrap_or_else(|| manifest.key_place(spec, None)));
    installation::network(manifest, Some(spec), description);
    if spec.text_at("clusterType") != Some(SINGLE_NODE) {
        installation::virtual_addresses(manifest, spec, description);
    }
    if manifest.list(spec, "nodes").is_empty() {
        let message = "this cluster has no nodes";
        let place = manifest.key_place(spec, Some("nodes"));
        found.without_hosts.push(Diagnostic::new(NO_HOSTS, message, place));
    }
    for node in items_mut(spec, &["nodes"]) {
        let host = one(manifest, node);
        let address = manifest.text(node, "bmcAddress");
        let address = address.map(|(address, node)| (address, manifest.place(node)));
        found.add_machine(host, address, None);
    }
}

fn one(manifest: &mut Manifest<'_>, node: &mut Node<'_>) -> Host {
    let network = manifest.get(node, NETWORK);
    let boot = manifest.nic(node, "bootMACAddress", None);
    let map = network.map(|network| manifest.nics(network, "interfaces")).unwrap_or_default();
    let host = Host {
        role: manifest.role(node).or_else(|| Some(DEFAULT_ROLE.to_owned())),
        nics: boot.into_iter().chain(map).collect(),
        ..manifest.host(node, "hostName", Stage::Early)
    };
    match value_mut(node, NETWORK) {
        Some(network) => manifest.with_network(host, network, "config"),
        None => host,
    }
}
