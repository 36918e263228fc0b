//! Rules about one document that an initramfs need not know.

use nmgen_core::source::Host;
use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostics, Rule};

use super::{
    bridge_uplink, dropped, ovn_bridge, route_network, route_number, search_domain, veth_peer,
};
use crate::source;

pub(super) fn rules() -> Vec<Rule> {
    [
        bridge_uplink::RULES,
        dropped::RULES,
        ovn_bridge::RULES,
        route_network::RULES,
        route_number::RULES,
        search_domain::RULES,
        veth_peer::RULES,
    ]
    .concat()
}

/// The findings of a host's document by itself.
pub(crate) fn check(host: &Host, diagnostics: &mut Diagnostics) {
    let Some(document) = host.document() else { return };
    let topics: [fn(&Document<'_>, &mut Diagnostics); 8] = [
        bridge_uplink::check,
        captures,
        dropped::check,
        ovn_bridge::check,
        route_network::check,
        route_number::check,
        search_domain::check,
        veth_peer::check,
    ];
    let mut found = Diagnostics::default();
    for topic in topics {
        topic(document, &mut found);
    }
    found.of_host(host.name.as_deref());
    diagnostics.extend(found);
}

/// Tells what the captures of a NetworkPolicy will not find.
fn captures(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    let Some(captures) = document.root.get("capture") else { return };
    diagnostics.extend(source::of_captures(captures, |node| document.place(node.span)));
}
