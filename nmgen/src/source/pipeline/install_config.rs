//! `install-config.yaml`: `platform.baremetal.hosts[]` with `name`, `role`, `bootMACAddress` and
//! `networkConfig`, and `networking.hostConfig[]` with `hostname` and `networkConfig`, of which the
//! installer makes MachineConfigs (openshift/installer, `pkg/types/baremetal/platform.go` and
//! `pkg/asset/machines/machineconfig/networkconfig.go`).

use super::found::Found;
use super::manifest::Manifest;
use super::{Host, NO_HOSTS, Stage};
use crate::diagnostic::Diagnostic;
use crate::document::Node;

pub(super) fn load<'a>(manifest: &mut Manifest<'a>, root: &'a Node<'a>, found: &mut Found) {
    let platform = manifest.get(root, "platform");
    let bare_metal = platform.and_then(|node| manifest.get(node, "baremetal"));
    let hosts = bare_metal.map(|node| manifest.list(node, "hosts")).unwrap_or_default();
    let networking = manifest.get(root, "networking");
    let configs = networking.map(|node| manifest.list(node, "hostConfig")).unwrap_or_default();
    if hosts.is_empty() && configs.is_empty() {
        let (at, key) = match (platform, bare_metal) {
            (Some(platform), Some(_)) => (platform, Some("baremetal")),
            (Some(_), None) => (root, Some("platform")),
            (None, _) => (root, None),
        };
        let message = "this install-config has no hosts in platform.baremetal.hosts";
        found.without_hosts.push(
            Diagnostic::new(NO_HOSTS, message, manifest.key_place(at, key))
                .help("hosts in an agent-config.yaml count too: give both files"),
        );
    }
    for host in hosts {
        found.add(one(manifest, host));
    }
    for config in configs {
        let host = manifest.host(config, "hostname", Stage::Node);
        found.add(manifest.with_network(host, config, "networkConfig"));
    }
}

fn one<'a>(manifest: &mut Manifest<'a>, node: &'a Node<'a>) -> Host {
    let host = Host {
        role: manifest.text(node, "role").map(|(role, _)| role.to_owned()),
        nics: manifest.nic(node, "bootMACAddress", None).into_iter().collect(),
        ..manifest.host(node, "name", Stage::Early)
    };
    manifest.with_network(host, node, "networkConfig")
}
