//! `install-config.yaml`: `platform.baremetal.hosts[]` with `name`, `role`, `bootMACAddress` and
//! `networkConfig` (openshift/installer, `docs/user/metal/customization_ipi.md`).

use super::{Host, Hosts, Nic, Stage};
use crate::document::Document;

pub(super) fn hosts(document: &Document<'_>) -> Hosts {
    let list = document.root.at(&["platform", "baremetal", "hosts"]);
    let items = list.map(|node| node.items()).unwrap_or_default();
    let hosts = items.iter().map(|node| Host {
        name: node.text_at("name").map(str::to_owned),
        role: node.text_at("role").map(str::to_owned),
        stage: Stage::Early,
        nics: node
            .get("bootMACAddress")
            .and_then(|mac| Some((mac, mac.text()?)))
            .map(|(node, mac)| Nic {
                name: None,
                mac_address: mac.to_ascii_lowercase(),
                place: document.place(node.span),
            })
            .into_iter()
            .collect(),
        place: document.place(node.get("name").unwrap_or(node).span),
        document: node
            .get("networkConfig")
            .map(|network| document.part(network.clone()).into_owned()),
    });
    Hosts { hosts: hosts.collect(), diagnostics: Vec::new() }
}
