//! Pairs of virtual Ethernet interfaces: the kernel makes two ends at once, and each is one of one pair.

use std::collections::HashMap;

use nmgen_core::interface;
use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostics, rules};
use nmgen_document::text::Span;

rules! {
    pub(super) error VETH_PEER = "veth-peer";
}

pub(super) fn check(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    // The other end of each, and the place that tells it.
    let mut ends: HashMap<&str, (&str, Span)> = HashMap::new();
    for interface in interface::all(&document.root) {
        let is_up = interface::is_up(interface);
        let Some(node) = interface.at(&["veth", "peer"]).filter(|_| is_up) else { continue };
        let (Some(name), Some(peer)) = (interface.text_at("name"), node.text()) else { continue };
        let mut add = |message: String, help: &str| {
            let place = document.place(node.span);
            diagnostics.add(VETH_PEER, place, message, help);
        };
        if name == peer {
            add(format!("{name} is its own peer"), "name the other interface of the pair");
            continue;
        }
        let known =
            |end: &str, other: &str| ends.get(end).copied().filter(|(known, _)| *known != other);
        let taken = known(peer, name).map(|other| (peer, other));
        if let Some((end, (other, at))) = taken.or_else(|| Some((name, known(name, peer)?))) {
            let line = document.place(at).shown();
            let message = format!("{end} is the peer of {other} already ({line})");
            add(message, "a virtual cable has two ends: give each pair names of its own");
            continue;
        }
        ends.insert(name, (peer, node.span));
        ends.insert(peer, (name, node.span));
    }
}
