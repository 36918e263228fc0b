//! The other family of an uplink, which comes a moment later.

use super::node::{dhcp, node};
use crate::bridge::{
    families::awaited,
    inputs::Inputs,
    uplink::{Below, Reason, Uplink},
};
use crate::model::Family;

fn of(node: &Inputs, below: Option<Below>) -> Option<Family> {
    awaited(node, &Uplink { link: "eno1".to_owned(), reason: Reason::DefaultBridge, below })
}

/// eno1 with both families from the network, and these addresses.
fn dual(addresses: &[&str]) -> Inputs {
    let both = dhcp("eno1").with("ipv6", "method", "auto");
    let bare = Inputs::default().card("eno1", 1).active(both);
    addresses.iter().fold(bare, |node, ip| node.address("eno1", ip))
}

#[test]
fn ipv4_is_awaited_beside_ipv6_if_the_network_is_asked_for_it() {
    assert_eq!(of(&dual(&["2001:db8::10"]), None), Some(Family::Ipv4));
    assert_eq!(of(&dual(&["2001:db8::10", "192.0.2.10"]), None), None);
    assert_eq!(of(&dual(&[]), None), None);
    assert_eq!(of(&dual(&["fe80::10"]), None), None);
    assert_eq!(of(&dual(&["2001:db8::10"]), Some(Below::Profile)), None);
    let alone = dhcp("eno1").with("ipv4", "method", "disabled").with("ipv6", "method", "auto");
    let alone = Inputs::default().card("eno1", 1).active(alone).address("eno1", "2001:db8::10");
    assert_eq!(of(&alone, None), None);
}

#[test]
fn ipv6_is_awaited_beside_ipv4_once_a_router_has_spoken() {
    let v4 = || dual(&["192.0.2.10"]);
    assert_eq!(of(&v4(), None), None);
    assert_eq!(of(&v4().route("eno1", "fe80::1", 100), None), Some(Family::Ipv6));
    let mut tentative = dual(&["192.0.2.10", "2001:db8::10"]);
    assert_eq!(of(&tentative, None), None);
    tentative.addresses[1].tentative = true;
    assert_eq!(of(&tentative, None), Some(Family::Ipv6));
    assert_eq!(of(&node(dhcp("eno1")).route("eno1", "fe80::1", 100), None), None);
}
