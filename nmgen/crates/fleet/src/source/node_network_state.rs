//! NodeNetworkState of kubernetes-nmstate: a node's present network, in `status.currentState`.

use nmgen_core::source::{Host, HostNetwork};
use nmgen_document::Node;

use super::found::Found;
use super::hardware;
use super::manifest::Manifest;

pub(super) fn load(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let (name, place) = manifest.metadata(root).unzip();
    let Some(status) = manifest.get_mut(root, "status") else { return };
    let place = place.unwrap_or_else(|| manifest.place(status));
    if let Some(state) = status.get("currentState") {
        hardware::state(name.as_ref().map(|name| &*name.name), state, place.clone(), found);
    }
    let host = Host::new(name.map(|name| name.name), place);
    let host = manifest.with_network(host, status, "currentState");
    found.add(Host { network: host.network.map(HostNetwork::Captured), ..host });
}
