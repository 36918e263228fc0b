//! The network of a host in a row of a table.

use nmgen_core::{interface, stack};
use nmgen_document::Node;

/// The heads of the cells.
pub(super) const COLUMNS: [&str; 4] = ["Uplink", "Bond mode", "VLANs", "MTU"];

/// Lower interfaces that are followed.
const MAX_DEPTH: usize = 12;

/// Cells for [`COLUMNS`]: the card or bond below the interface with the default route, its mode, every VLAN of the document, and
/// the MTU of that interface or the first below it that has one.
pub(super) fn cells(root: &Node<'_>) -> Vec<String> {
    let way = way(root);
    let text = |keys: &[&str]| {
        way.iter().find_map(|node| node.at(keys)?.text()).unwrap_or_default().to_owned()
    };
    let uplink = way.last().and_then(|node| node.text_at("name")).unwrap_or_default().to_owned();
    let interfaces = interface::all(root).iter();
    let mut vlans: Vec<u64> =
        interfaces.filter_map(|node| node.at(&["vlan", "id"])?.number()).collect();
    vlans.sort_unstable();
    vlans.dedup();
    let vlans = vlans.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    vec![uplink, text(&["link-aggregation", "mode"]), vlans, text(&["mtu"])]
}

/// From the interface with the default route, else the first one with addresses, down to a card or a bond.
fn way<'n, 't>(root: &'n Node<'t>) -> Vec<&'n Node<'t>> {
    let interfaces = interface::all(root);
    let named = |name: &str| {
        interfaces.iter().find(|node| {
            node.text_at("name") == Some(name) && interface::kind(node) != "ovs-bridge"
        })
    };
    let routes = interface::state(root).items_at(&["routes", "config"]);
    let of_route = routes
        .iter()
        .find(|route| matches!(route.text_at("destination"), Some("0.0.0.0/0" | "::/0")))
        .and_then(|route| named(route.text_at("next-hop-interface")?));
    let has_addresses = |node: &&Node<'_>| {
        let is_on = |family: &str| node.is_on(&[family, "enabled"]);
        is_on("ipv4") || is_on("ipv6")
    };
    let first = of_route.or_else(|| interfaces.iter().find(has_addresses));
    let mut way: Vec<&Node<'_>> = first.into_iter().collect();
    while let Some(last) = way.last().copied().filter(|_| way.len() < MAX_DEPTH) {
        if interface::kind(last) == "bond" {
            break;
        }
        let own = last.text_at("name").unwrap_or_default();
        // An ovs-interface stands on the bridge that lists it.
        let bridge = interfaces.iter().find(|node| {
            interface::kind(last) == "ovs-interface"
                && stack::bridge_port_names(node).contains(&own)
        });
        let below = stack::below(bridge.unwrap_or(last)).into_iter();
        let mut below = below
            .filter(|reference| reference.name != own)
            .filter_map(|reference| named(reference.name));
        let Some(lower) = below.find(|node| interface::kind(node) != "ovs-interface") else {
            break;
        };
        way.push(lower);
    }
    way
}

#[cfg(test)]
mod tests {
    use nmgen_document::text::Source;

    use super::*;

    #[test]
    fn the_uplink_is_below_the_default_route() {
        for (text, expected) in [
            (
                "interfaces:
- {name: eno9, type: ethernet, ipv4: {enabled: true, dhcp: true}}
- {name: bond0, type: bond, mtu: 9000, link-aggregation: {mode: 802.3ad, port: [eno1, eno2]}}
- {name: bond0.7, type: vlan, vlan: {base-iface: bond0, id: 7}}
- {name: bond0.5, type: vlan, vlan: {base-iface: bond0, id: 5}}
- {name: br-ex, type: ovs-bridge, bridge: {port: [{name: br-ex}, {name: bond0.7}]}}
- {name: br-ex, type: ovs-interface, ipv4: {enabled: true, address: [{ip: 192.0.2.5, prefix-length: 24}]}}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: br-ex}]}",
                ["bond0", "802.3ad", "5, 7", "9000"],
            ),
            (
                "interfaces:
- {name: eno1, type: ethernet}
- {name: eno2, type: ethernet, ipv4: {enabled: true, dhcp: true}}",
                ["eno2", "", "", ""],
            ),
            ("interfaces: [{name: a, type: vlan, vlan: {base-iface: a, id: 1}, ipv6: {enabled: true}}]", ["a", "", "1", ""]),
            ("{}", ["", "", "", ""]),
        ] {
            let source = Source { name: "test".into(), text: text.into() };
            let document = nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
            assert_eq!(cells(&document.root), expected, "{text}");
        }
    }
}
