//! The uplink of br-ex as OVN-Kubernetes looks for it: the one port of the bridge that is a link of the kernel
//! (`GetNicName` in go-controller/pkg/util/nicstobridge.go of ovn-org/ovn-kubernetes).

use nmgen_core::interface;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::{Document, Node};

use crate::derive::BR_EX;

rules! {
    warning BRIDGE_UPLINK = "bridge-uplink";
}

pub(super) fn check(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    let Some(bridge) = interface::ovs_bridge(&document.root, BR_EX) else { return };
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
    diagnostics.push(Diagnostic::new(BRIDGE_UPLINK, message, document.place(span)).help(help));
}
