//! The type of br-ex, and its uplink as OVN-Kubernetes looks for it: the one port of the bridge that is a link of the kernel
//! (`GetNicName` in go-controller/pkg/util/nicstobridge.go of ovn-org/ovn-kubernetes).

use nmgen_core::interface;
use nmgen_document::diagnostic::{Diagnostics, rules};
use nmgen_document::{Document, Node};

use crate::derive::BR_EX;

rules! {
    warning BRIDGE_TYPE = "bridge-type";
    warning BRIDGE_UPLINK = "bridge-uplink";
}

pub(super) fn check(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    let Some(bridge) = interface::ovs_bridge(&document.root, BR_EX) else {
        return of_another_type(document, diagnostics);
    };
    let ports = interface::ports(bridge);
    let is_link = |port: &&Node<'_>| {
        let is_it = |node: &&Node<'_>| node.text_at("name") == port.text_at("name");
        let mut own = interface::all(&document.root).iter().filter(is_it).peekable();
        own.peek().is_some() && own.all(|node| interface::kind(node) != "ovs-interface")
    };
    let has_key = bridge.at(&["ovs-db", "external_ids", "bridge-uplink"]).is_some();
    let links: Vec<&Node<'_>> = ports.iter().filter(is_link).collect();
    let (what, span) =
        match (ports.iter().find(|port| interface::ovs_bond(port).is_some()), &links[..]) {
            (Some(bond), _) => {
                let name = bond.text_at("name").unwrap_or_default();
                (format!("a bond of Open vSwitch ({name})"), bond.span)
            }
            (None, [_, second, ..]) if !has_key => {
                let names: Vec<&str> =
                    links.iter().filter_map(|link| link.text_at("name")).collect();
                (format!("several links ({})", names.join(", ")), second.span)
            }
            (None, _) => return,
        };
    let message = format!(
        "{BR_EX} has {what} for its uplink: OVN-Kubernetes takes one card, or one bond of the kernel, and does not start without"
    );
    let help = format!(
        "make it an interface of type bond, or give an Open vSwitch bond an ovs-bridge of its own, which patch ports connect \
         with {BR_EX} (`nmgen generate --br-ex --balance-slb` derives it)"
    );
    diagnostics.add(BRIDGE_UPLINK, document.place(span), message, help);
}

/// Tells of a br-ex with ports or addresses that is no bridge of Open vSwitch: OVN-Kubernetes needs one of this name.
fn of_another_type(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    let mut own = interface::all(&document.root).iter();
    let own = own.find(|node| node.text_at("name") == Some(BR_EX) && interface::is_up(node));
    let is_on = |node: &Node<'_>, family| node.is_on(&[family, "enabled"]);
    let has_address =
        |node: &Node<'_>| ["ipv4", "ipv6"].into_iter().any(|family| is_on(node, family));
    // configure-ovs removes an empty one before it makes its own.
    let own = own.filter(|node| !interface::ports(node).is_empty() || has_address(node));
    let Some(kind) = own.and_then(|node| node.get("type")) else { return };
    let Some(name) = kind.text().filter(|kind| !kind.starts_with("ovs-")) else { return };
    let message = format!(
        "{BR_EX} has the type {}: OVN-Kubernetes takes a bridge of Open vSwitch by this name",
        name.escape_debug()
    );
    let help = "make it an ovs-bridge with an ovs-interface (`nmgen generate --br-ex` derives both), or choose another name";
    diagnostics.add(BRIDGE_TYPE, document.place(kind.span), message, help);
}
