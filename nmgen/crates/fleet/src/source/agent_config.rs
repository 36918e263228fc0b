//! `agent-config.yaml` of the agent-based installer: `hosts[]` with `hostname`, `role`, `interfaces[]` and
//! `networkConfig` (openshift/installer, `pkg/types/agent/agent_config_type.go`).

use nmgen_core::source::{Host, Stage};
use nmgen_document::Node;

use super::found::Found;
use super::hosts_directory::NO_HOSTS;
use super::installation;
use super::manifest::{Manifest, items_mut, value_mut};
use super::origin::Claim;

const NETWORK: &str = "networkConfig";

pub(super) fn load(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let (name, place) = manifest.metadata(root).unzip();
    let name = name.map(|name| name.name);
    found.origin.claim(Claim::Installation { name, is_install_config: false });
    let place = place.unwrap_or_else(|| manifest.key_place(root, None));
    let purpose = "the rendezvous host's address";
    found.describe(place).rendezvous =
        installation::address_at(manifest, root, "rendezvousIP", purpose);
    if manifest.list(root, "hosts").is_empty() {
        let help = "hosts in an install-config.yaml count too: give both files";
        let (place, help) = manifest
            .misspelt(root, &["hosts"])
            .unwrap_or_else(|| (manifest.key_place(root, Some("kind")), help.to_owned()));
        let message = "this agent-config has no hosts";
        found.without_hosts.add(NO_HOSTS, place, message, help);
    }
    hosts(manifest, root, found);
}

/// `nodes-config.yaml` of `oc adm node-image create`: the hosts of an agent-config without its kind.
pub(super) fn nodes(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    manifest.list(root, "hosts");
    hosts(manifest, root, found);
}

/// True for a document of no kind with hosts as an agent-config has them.
pub(super) fn is_nodes(root: &Node<'_>) -> bool {
    let has = |host: &Node<'_>, key: &str| host.get(key).is_some();
    let Some(hosts) = root.get("hosts") else { return false };
    let is_host = |host: &Node<'_>| {
        has(host, NETWORK)
            || has(host, "hostname") && (has(host, "interfaces") || has(host, "role"))
    };
    // By their names, which is told.
    let mut named = hosts.entries().iter().map(|entry| &entry.node);
    hosts.items().iter().any(is_host) || named.any(is_host)
}

fn hosts(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    for node in items_mut(root, &["hosts"]) {
        let role = manifest.role(node);
        // The installer wants addresses of all cards, and names of those that a document is about (its `agenthosts.go`).
        let nics = match value_mut(node, NETWORK).is_some() {
            true => manifest.nics(node, "interfaces"),
            false => manifest.named_nics(node, "interfaces"),
        };
        manifest.verify_map(
            node,
            "interfaces",
            "openshift-install refuses it: give one card at least, with name and macAddress",
        );
        let host =
            Host { role, nics, needs_map: true, ..manifest.host(node, "hostname", Stage::Early) };
        found.add(manifest.with_network(host, node, NETWORK));
    }
}
