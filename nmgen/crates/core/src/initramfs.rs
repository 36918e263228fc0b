//! Interfaces that an initramfs cannot have, or only with wpa_supplicant: `nmgen boot` refuses them, and a pipeline's output for an
//! initramfs says so.

use nmgen_document::Node;

use crate::interface;

/// The first interface of Open vSwitch's, with its index: an initramfs has no database and no plugin for it.
pub fn open_vswitch<'n, 't>(root: &'n Node<'t>) -> Option<(usize, &'n Node<'t>)> {
    let is_one = |node: &Node<'t>| {
        interface::kind(node).starts_with("ovs-")
            && matches!(node.text_at("state"), None | Some("up" | "down"))
    };
    interface::all(root).iter().enumerate().find(|(_, node)| is_one(node))
}

/// The first interface that needs wpa_supplicant, with its index and the key that says so.
pub fn needs_supplicant<'n, 't>(root: &'n Node<'t>) -> Option<(usize, &'n Node<'t>, &'static str)> {
    let key = |node: &Node<'t>| match (node.get("802.1x"), interface::kind(node)) {
        (Some(_), _) => Some("802.1x"),
        (None, "macsec") => Some("type"),
        (None, _) => None,
    };
    let mut up = interface::all(root).iter().enumerate().filter(|(_, node)| interface::is_up(node));
    up.find_map(|(index, node)| Some((index, node, key(node)?)))
}
