//! `agent-config.yaml` of the agent-based installer: `hosts[]` with `hostname`, `role`, `interfaces[]` and
//! `networkConfig` (openshift/installer, `pkg/types/agent/agent_config_type.go`).

use nmgen_core::source::{Host, Stage};
use nmgen_document::Node;
use nmgen_document::diagnostic::Diagnostic;

use super::clusters::Claim;
use super::found::Found;
use super::installation;
use super::manifest::{Manifest, items_mut};
use crate::source::hosts_directory::NO_HOSTS;

pub(super) fn load(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let (name, place) = manifest.metadata(root).unzip();
    let name = name.map(|name| name.name);
    found.origin.claim(Claim::Installation { name, is_install_config: false });
    let place = place.unwrap_or_else(|| manifest.key_place(root, None));
    installation::rendezvous(manifest, root, found.describe(place));
    if manifest.list(root, "hosts").is_empty() {
        let help = "hosts in an install-config.yaml count too: give both files";
        let (place, help) = manifest
            .misspelt(root, &["hosts"])
            .unwrap_or_else(|| (manifest.key_place(root, Some("kind")), help.to_owned()));
        let message = "this agent-config has no hosts";
        found.without_hosts.push(Diagnostic::new(NO_HOSTS, message, place).help(help));
    }
    for node in items_mut(root, &["hosts"]) {
        let host = Host {
            role: manifest.role(node),
            nics: manifest.nics(node, "interfaces"),
            ..manifest.host(node, "hostname", Stage::Early)
        };
        found.add(manifest.with_network(host, node, "networkConfig"));
    }
}
