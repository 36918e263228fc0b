//! NodeNetworkState of kubernetes-nmstate: a node's present network, in `status.currentState`.

use std::net::Ipv6Addr;

use nmgen_core::source::{Host, HostNetwork};
use nmgen_document::{Node, Path, Value};

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
    if let Some(state) = status.find_mut(&Path::default().key("currentState")) {
        leave_out_reports(state);
    }
    let host = manifest.with_network(host, status, "currentState");
    found.add(Host { network: host.network.map(HostNetwork::Captured), ..host });
}

/// Leaves out what nmstate only reports about a node and takes from nobody: no author wrote it, so it needs no finding.
fn leave_out_reports(state: &mut Node<'_>) {
    let at = |path: &[&str]| path.iter().fold(Path::default(), |path, key| path.key(key));
    for section in ["routes", "dns-resolver", "hostname"] {
        if let Some(Value::Mapping(entries)) =
            state.find_mut(&at(&[section])).map(|section| &mut section.value)
        {
            entries.retain(|entry| entry.key != "running");
        }
    }
    let Some(Value::Sequence(interfaces)) =
        state.find_mut(&at(&["interfaces"])).map(|list| &mut list.value)
    else {
        return;
    };
    for interface in interfaces {
        if let Some(Value::Sequence(addresses)) =
            interface.find_mut(&at(&["ipv6", "address"])).map(|list| &mut list.value)
        {
            addresses.retain(|address| !address.text_at("ip").is_some_and(is_link_local));
        }
    }
}

fn is_link_local(text: &str) -> bool {
    text.parse().is_ok_and(|ip: Ipv6Addr| ip.is_unicast_link_local())
}
