//! The uplink of br-ex as OVN-Kubernetes looks for it: the one port of the bridge that is a link of the kernel
//! (`GetNicName` in go-controller/pkg/util/nicstobridge.go of ovn-org/ovn-kubernetes).

use nmgen_core::stack;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::{Document, Node};

use crate::derive::BR_EX;

rules! {
    warning BRIDGE_UPLINK = "bridge-uplink";
}

pub(super) fn check(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    let interfaces = document.root.get("interfaces").map(Node::items).unwrap_or_default();
    let is_bridge = |node: &&Node<'_>| {
        let is_up = matches!(node.text_at("state"), None | Some("up"));
        is_up && node.text_at("name") == Some(BR_EX) && node.text_at("type") == Some("ovs-bridge")
    };
    let Some(bridge) = interfaces.iter().find(is_bridge) else { return };
    let Some(list) = bridge.get("bridge").and_then(|it| it.get("port").or(it.get("ports"))) else {
        return;
    };
    let bond = list.items().iter().find(|port| port.get("link-aggregation").is_some());
    let is_link = |name: &&str| {
        let is_it = |node: &&Node<'_>| node.text_at("name") == Some(name);
        let mut own = interfaces.iter().filter(is_it).peekable();
        own.peek().is_some() && own.all(|node| node.text_at("type") != Some("ovs-interface"))
    };
    let has_key = bridge.at(&["ovs-db", "external_ids", "bridge-uplink"]).is_some();
    let links: Vec<&str> = stack::bridge_port_names(bridge).into_iter().filter(is_link).collect();
    let (what, span) = match bond {
        Some(bond) => {
            let name = bond.text_at("name").unwrap_or_default();
            (format!("a bond of Open vSwitch ({name})"), bond.span)
        }
        None if links.len() > 1 && !has_key => {
            (format!("several links ({})", links.join(", ")), list.span)
        }
        None => return,
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
