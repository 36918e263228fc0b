//! Rules about one document that an initramfs need not know.

use nmgen_core::source::Host;
use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostics, Rule};

use super::{
    bridge_uplink, captured_name, dropped, ovn_bridge, route_network, route_number, search_domain,
    veth_peer,
};

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
        captured_name::check,
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
