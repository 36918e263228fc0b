//! The uplink: every source of configure-ovs.sh in its order.

use super::node::{dhcp, node, profile};
use crate::bridge::{
    error::BridgeError,
    inputs::Inputs,
    plan::Hint,
    uplink::{Choice, Patience, choose},
};
use crate::model::Family;

/// eno1, eno2 and eno10, each with a profile; default routes as given, in the kernel's order.
fn cards(routes: &[(&str, &str, u32)]) -> Inputs {
    let all = ["eno1", "eno2", "eno10"];
    let node = all.iter().zip(1..).fold(Inputs::default(), |node, (card, last)| {
        node.card(card, last).active(dhcp(card)).address(card, &format!("192.0.2.{last}"))
    });
    routes.iter().fold(node, |node, (card, gateway, metric)| node.route(card, gateway, *metric))
}

const ONE: (&str, &str, u32) = ("eno1", "192.0.2.254", 100);
const TWO: (&str, &str, u32) = ("eno2", "192.0.2.254", 101);
const TEN: (&str, &str, u32) = ("eno10", "192.0.2.254", 102);
const SIX: (&str, &str, u32) = ("eno2", "fe80::1", 20);

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

/// The choice within the bound, and why.
fn chosen(node: &Inputs) -> String {
    match choose(node, Patience::Left) {
        Ok(Choice::Decided(uplink)) => format!("{}: {uplink}", uplink.link),
        Ok(Choice::Wait(awaited)) => format!("waits for {awaited}"),
        Err(error) => format!("error: {error}"),
    }
}

/// The choice past the bound, and why.
fn at_last(node: &Inputs) -> String {
    match choose(node, Patience::Over) {
        Ok(Choice::Decided(uplink)) => uplink.link,
        Ok(Choice::Wait(awaited)) => format!("waits for {awaited}"),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn default_bridge_comes_first() {
    let mut node = cards(&[ONE]);
    node.files.primary_ip = text("192.0.2.1");
    node.files.hint = text("eno1");
    node.files.default_bridge = text("eno2");
    assert_eq!(chosen(&node), "eno2: /etc/ovnk/default_bridge names it");
    // It needs no default route, but the link.
    node.files.default_bridge = text("eno9");
    assert_eq!(chosen(&node), "waits for eno9, which /etc/ovnk/default_bridge names");
    let error = choose(&node, Patience::Over).expect_err("no such link");
    assert!(error.to_string().contains("names eno9, which this node does not have"), "{error}");
}

#[test]
fn then_the_node_ip() {
    let mut node = cards(&[ONE]);
    node.files.hint = text("eno1");
    node.files.primary_ip = text("192.0.2.2\n");
    assert_eq!(chosen(&node), "eno2: it has the node IP 192.0.2.2");
    // Not on the second bridge, nor on its uplink; then default routes count.
    node.files.extra_bridge = text("eno2");
    assert_eq!(chosen(&node), "eno1: it has the first default route, via 192.0.2.254");
    // Not there (yet), or no address.
    for other in ["192.0.2.77", "", "eno2"] {
        node.files.primary_ip = text(other);
        assert!(chosen(&node).starts_with("eno1: it has the first"), "{other}");
    }
}

#[test]
fn then_the_first_default_route() {
    // The kernel lists them by metric.
    assert!(chosen(&cards(&[ONE, TWO])).starts_with("eno1: "));
    assert!(chosen(&cards(&[TWO, ONE])).starts_with("eno2: "));
    // IPv4 before IPv6, whatever the metric.
    assert!(chosen(&cards(&[ONE, SIX])).starts_with("eno1: "));
    assert_eq!(chosen(&cards(&[SIX])), "eno2: it has the first default route, via fe80::1");
    // An IPv4 route through an IPv6 gateway is none to configure-ovs.sh.
    let mut node = cards(&[SIX, ONE]);
    node.default_routes[0].family = Family::Ipv4;
    assert!(chosen(&node).starts_with("eno1: "));
}

#[test]
fn the_second_bridge_takes_its_uplink_and_no_other() {
    let mut node = cards(&[ONE, TEN]);
    node.files.extra_bridge = text("eno1");
    // eno10 contains the text "eno1", and is another card.
    assert!(chosen(&node).starts_with("eno10: "), "{}", chosen(&node));
    node.default_routes.remove(1);
    assert_eq!(chosen(&node), "waits for a default route with a gateway");
}

#[test]
fn no_default_route() {
    let node = cards(&[]);
    assert_eq!(chosen(&node), "waits for a default route with a gateway");
    assert_eq!(choose(&node, Patience::Over), Err(BridgeError::NoDefaultRoute));
}

#[test]
fn a_hint_is_waited_for() {
    let mut node = cards(&[ONE]);
    node.files.hint = text("eno2");
    assert_eq!(chosen(&node), "waits for a default route of eno2, the uplink before this boot");
    assert_eq!(at_last(&node), "eno1");
    // It comes late, with a worse metric, by either family.
    for late in [TWO, SIX] {
        let mut node = node.clone();
        node = node.route(late.0, late.1, late.2);
        let expected =
            format!("eno2: it was the uplink before, and has a default route via {}", late.1);
        assert_eq!(chosen(&node), expected);
    }
    // Without any route both are waited for, and the bound ends it.
    node.default_routes.clear();
    assert!(chosen(&node).starts_with("waits for a default route of eno2"));
    assert!(at_last(&node).starts_with("error: no default route"));
}

#[test]
fn a_hint_that_cannot_be_one_is_not_waited_for() {
    for hint in ["", "br-ex", "br-ex1", "eno9"] {
        let mut node = cards(&[ONE]);
        node.files.hint = text(hint);
        assert!(chosen(&node).starts_with("eno1: it has the first"), "{hint:?}");
        assert_eq!(node.planned().hint, Hint::Write("eno1".into()), "{hint:?}");
    }
    // The uplink of br-ex1 is forgotten.
    let mut node = cards(&[ONE]);
    (node.files.hint, node.files.extra_bridge) = (text("eno2"), text("eno2"));
    assert!(chosen(&node).starts_with("eno1: "));
    node.files.primary_ip = text("192.0.2.1");
    assert_eq!(node.planned().hint, Hint::Remove);
}

#[test]
fn the_uplink_of_a_kept_profile_is_a_hint() {
    let mut node = cards(&[ONE]).idle(profile("ovs-if-phys0", "802-3-ethernet", "eno2"));
    assert!(chosen(&node).starts_with("waits for a default route of eno2"));
    // The file comes first.
    node.files.hint = text("eno1");
    assert!(chosen(&node).starts_with("eno1: it has the first"));
}

#[test]
fn the_hint_is_written_after_a_choice_among_routes_alone() {
    let mut node = cards(&[ONE]);
    assert_eq!(node.planned().hint, Hint::Write("eno1".into()));
    node.files.hint = text("eno1");
    assert_eq!(node.planned().hint, Hint::Keep);
    for change in [
        |node: &mut Inputs| node.files.default_bridge = text("eno2"),
        |node: &mut Inputs| node.files.primary_ip = text("192.0.2.2"),
    ] {
        let mut node = cards(&[ONE]);
        change(&mut node);
        assert_eq!(node.planned().hint, Hint::Keep);
    }
}

#[test]
fn br_ex_itself_stands_for_the_uplink_below() {
    let node = |uplink: &str| {
        node(dhcp("eno1")).card("eno2", 2).device("br-ex", 1, "openvswitch").idle(profile(
            "ovs-if-phys0",
            "802-3-ethernet",
            uplink,
        ))
    };
    let mut of_profile = node("eno1");
    of_profile.default_routes[0].link = "br-ex".into();
    let expected = "eno1: br-ex has the first default route, via 192.0.2.1, and eno1 is the uplink in ovs-if-phys0";
    assert_eq!(chosen(&of_profile), expected);
    // Another hint is not waited for.
    of_profile.files.hint = text("eno2");
    assert_eq!(chosen(&of_profile), expected);
    assert_eq!(of_profile.planned().hint, Hint::Keep);
    // Without the profile, by the port in OVSDB, else by the hint.
    let mut of_port = node("eno9").bridge("br-ex", "x", "eno1");
    of_port.default_routes[0].link = "br-ex".into();
    assert!(chosen(&of_port).ends_with("and eno1 is its port in OVSDB"));
    of_port.bridges.clear();
    assert!(chosen(&of_port).starts_with("error: br-ex has the node's network, but"));
    of_port.files.hint = text("eno2");
    assert!(chosen(&of_port).ends_with("and eno2 was its uplink before"));
    // By its address too.
    let mut of_address = node("eno1").address("br-ex", "192.0.2.20");
    of_address.files.primary_ip = text("192.0.2.20");
    assert!(chosen(&of_address).starts_with("eno1: br-ex has the node IP 192.0.2.20"));
}

#[test]
fn the_uplink_of_an_earlier_attempt_stays_while_it_has_a_route_or_asks_for_one() {
    // Numbered anew: eno2 leads.
    let mut node = cards(&[TWO, ("eno1", "192.0.2.254", 102)]);
    assert!(chosen(&node).starts_with("eno2: "), "{}", chosen(&node));
    node.earlier = text("eno1");
    let kept =
        "eno1: it had the first default route at an earlier attempt, and has one via 192.0.2.254";
    assert_eq!(chosen(&node), kept);
    // The uplink before this boot has come by now.
    node.files.hint = text("eno2");
    assert!(chosen(&node).starts_with("eno2: "), "{}", chosen(&node));
    node.files.hint = None;
    // Its lease is away.
    node.default_routes.retain(|route| route.link != "eno1");
    let waits = "waits for a default route of eno1, the uplink of an earlier attempt";
    assert_eq!(chosen(&node), waits);
    let lacks = choose(&node, Patience::Over);
    assert_eq!(lacks, Err(BridgeError::NoRouteOfEarlier { link: "eno1".to_owned() }));
    // It asks for none, or is gone.
    let mut fixed = node.clone();
    fixed.active.retain(|active| active.device != "eno1");
    assert!(chosen(&fixed).starts_with("eno2: "), "{}", chosen(&fixed));
    node.links.retain(|link| link.name != "eno1");
    assert!(chosen(&node).starts_with("eno2: "), "{}", chosen(&node));
}
