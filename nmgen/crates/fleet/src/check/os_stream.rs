//! Names of cards that the next major version of RHEL gives otherwise.

use nmgen_core::interface;
use nmgen_core::source::{Host, HostNetwork, Stage};
use nmgen_document::Node;
use nmgen_document::diagnostic::{Diagnostics, rules};

use super::map::is_card;
use crate::source::Cluster;

rules! {
    warning NAME_MAY_CHANGE = "name-may-change";
}

/// The stream whose names of cards differ from those that inventories have of RHEL 9.
const RENAMING: &str = "rhel-10";

/// Only of a cluster that says that it begins with this stream: elsewhere the operator pins the names at the change.
pub(super) fn check(host: &Host, cluster: &Cluster, diagnostics: &mut Diagnostics) {
    let Some(stream) = cluster.os_stream(host.role.as_deref()) else { return };
    let HostNetwork::Written(document) = &host.network else { return };
    if stream.name != RENAMING || host.policy.is_some() {
        return;
    }
    let is_known = |card: &&Node<'_>| match (host.stage, card.text_at("identifier")) {
        (_, Some("mac-address" | "pci-address")) => true,
        // On the running node an address alone is one to set, and no map is there.
        (Stage::Node, _) => false,
        (Stage::Early | Stage::Any, _) => {
            let name = card.text_at("name");
            card.mac_at("mac-address").is_some()
                || host.nics.iter().any(|nic| nic.name.as_deref() == name)
        }
    };
    let interfaces = interface::all(&document.root);
    let unknown = interfaces.iter().filter(|node| is_card(node)).find(|card| !is_known(card));
    let Some((card, name, node)) =
        unknown.and_then(|card| Some((card, card.text_at("name")?, card.get("name")?)))
    else {
        return;
    };
    let message = format!(
        "{name} is all that identifies this card, and {RENAMING} ({}) may name it otherwise than RHEL 9",
        stream.place.shown()
    );
    let help = match card.get("mac-address") {
        None => {
            "give its mac-address, with identifier: mac-address: by it the card is found under any name"
        }
        Some(_) => {
            "add identifier: mac-address: without it a node looks for the name, and gives the card the address"
        }
    };
    let place = document.place(node.span);
    diagnostics.add(NAME_MAY_CHANGE, place, message, help);
}
