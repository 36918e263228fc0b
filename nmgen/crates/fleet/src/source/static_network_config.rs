//! The hosts of a request to assisted-service, as its REST API and aicli have them: `static_network_config[]` with
//! `network_yaml` and `mac_interface_map[]` (openshift/assisted-service, `swagger.yaml`, `host_static_network_config`).

use nmgen_core::source::{Host, HostNetwork, Nic, Stage};
use nmgen_document::Node;

use super::found::Found;
use super::manifest::{Manifest, items_mut};

pub(super) const DOCUMENT: &str = "network_yaml";
const LIST: &str = "static_network_config";
const MAP: &str = "mac_interface_map";

/// True for the list, alone or in a request.
pub(super) fn is_it(root: &Node<'_>) -> bool {
    let list = root.get(LIST).unwrap_or(root).items();
    list.iter().any(|item| item.get(DOCUMENT).is_some())
}

pub(super) fn load(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let keys: &[&str] = if root.get(LIST).is_some() { &[LIST] } else { &[] };
    for node in items_mut(root, keys) {
        let host = one(manifest, node);
        found.add(host);
    }
}

fn one(manifest: &mut Manifest<'_>, node: &Node<'_>) -> Host {
    manifest.verify_map(node, MAP, "assisted-service finds the host by it");
    let map = manifest.list(node, MAP).iter();
    let nics: Vec<Nic> = map
        .filter_map(|item| {
            let name = manifest.text(item, "logical_nic_name").map(|(name, _)| name.to_owned());
            manifest.nic(item, "mac_address", name)
        })
        .collect();
    let document = manifest.document_text(node, DOCUMENT);
    let place = manifest.key_place(node, Some(DOCUMENT));
    Host {
        stage: Stage::Early,
        needs_map: true,
        nics,
        network: HostNetwork::read(document),
        ..Host::new(None, place)
    }
}
