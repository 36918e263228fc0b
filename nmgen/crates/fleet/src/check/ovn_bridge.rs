//! A bridge that the document maps to a network of OVN's, and the list of its ports.

use nmgen_core::interface;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::{Document, Node};

use crate::derive::BR_EX;

rules! {
    warning OVN_BRIDGE_NAME = "ovn-bridge-name";
    warning OVN_BRIDGE_PORTS = "ovn-bridge-ports";
}

/// Tells of a list of ports without `allow-extra-patch-ports`: ovn-controller adds patch ports, and nmstate compares the list with
/// all ports when the document is applied again (its `query_apply/ovs.rs`).
pub(super) fn check(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    let mappings = document.root.at(&["ovn", "bridge-mappings"]).map(Node::items);
    let present = mappings.unwrap_or_default().iter();
    for mapping in present.filter(|mapping| mapping.text_at("state") != Some("absent")) {
        let Some(name) = mapping.text_at("bridge") else { continue };
        let Some(bridge) = interface::ovs_bridge(&document.root, name) else {
            diagnostics.extend(undeclared(document, mapping, name));
            continue;
        };
        let options = bridge.get("bridge");
        let options = options.filter(|options| !options.is_on(&["allow-extra-patch-ports"]));
        let list = options.and_then(|options| options.get("port").or_else(|| options.get("ports")));
        let Some(list) = list.filter(|list| !list.items().is_empty()) else { continue };
        let message =
            format!("OVN adds patch ports to {}, which this list lacks", name.escape_debug());
        let help = "add `allow-extra-patch-ports: true` beside the list: nmstate refuses the document otherwise when it is applied again";
        diagnostics.add(OVN_BRIDGE_PORTS, document.place(list.span), message, help);
    }
}

/// Tells of a bridge that is neither br-ex nor declared, in a document that declares others: those are for OVN.
fn undeclared(document: &Document<'_>, mapping: &Node<'_>, name: &str) -> Option<Diagnostic> {
    let all = interface::all(&document.root).iter();
    let bridges = all.filter(|node| interface::kind(node) == "ovs-bridge");
    let names: Vec<&str> = bridges.filter_map(|node| node.text_at("name")).collect();
    if name == BR_EX || names.is_empty() {
        return None;
    }
    let message = format!("{} is no bridge of this document", name.escape_debug());
    let place = document.place(mapping.get("bridge")?.span);
    let help = format!("did you mean {}?", names.join(" or "));
    Some(Diagnostic::new(OVN_BRIDGE_NAME, message, place).help(help))
}
