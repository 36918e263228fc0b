//! Nodes without a plan: each message names the remedy.

use super::node::{dhcp, node, profile};
use crate::bridge::{
    error::BridgeError,
    inputs::Inputs,
    planner::plan,
    uplink::{Choice, Patience, choose},
};
use crate::model::Layer;

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

fn error_of(node: &Inputs) -> BridgeError {
    match choose(node, Patience::Over) {
        Ok(Choice::Decided(uplink)) => plan(node, uplink).expect_err("a plan"),
        Ok(Choice::Wait(awaited)) => unreachable!("still waits for {awaited}"),
        Err(error) => error,
    }
}

fn refusal(node: &Inputs) -> String {
    let refused = error_of(node).to_string();
    assert!(refused.contains(": "), "no remedy: {refused}");
    refused
}

#[test]
fn files_that_have_to_be_corrected() {
    let files: [(Option<&str>, Option<&str>, &str); 7] = [
        (Some(""), None, "default_bridge is empty"),
        (Some("eno1\neno2"), None, "which this node does not have"),
        (Some("br-ex"), None, "names br-ex, which is the bridge itself"),
        (None, Some(""), "extra_bridge is empty"),
        (Some("eno1"), Some("eno1"), "names eno1, which is the uplink of br-ex"),
        (None, Some("br-ex1"), "names br-ex1, which is the bridge itself"),
        (None, Some("eno9"), "extra_bridge names eno9, which this node does not have"),
    ];
    for (default, extra, expected) in files {
        let mut node = node(dhcp("eno1"));
        node.files.default_bridge = default.and_then(text);
        node.files.extra_bridge = extra.and_then(text);
        let refused = refusal(&node);
        assert!(refused.contains(expected), "{default:?} {extra:?}: {refused}");
        assert!(error_of(&node).is_in_files(), "{refused}");
    }
}

#[test]
fn links_that_cannot_be_a_port() {
    let layers =
        [(Layer::Infiniband, "is an InfiniBand device"), (Layer::Other, "is no Ethernet device")];
    for (layer, expected) in layers {
        let node = node(dhcp("eno1")).but(|link| link.layer = layer);
        assert!(refusal(&node).contains(expected));
    }
    let controlled = node(dhcp("eno1")).but(|link| link.controller = text("vrf0"));
    assert!(refusal(&controlled).starts_with("eno1 is a port of vrf0: choose vrf0 as the uplink"));
    assert!(!error_of(&controlled).is_in_files());
    // A port of a bond, according to NetworkManager; the controller is named by its profile's UUID.
    let port = dhcp("eno1").port_of("uuid-of-bond", "bond");
    let port = node(port).idle(profile("bond", "bond", "bond0"));
    assert!(refusal(&port).starts_with("eno1 is a port of bond0"));
    // In an administrator's bridge; in userspace, so the kernel knows of no controller.
    let other = node(dhcp("eno1")).bridge("storage", "x", "eno1");
    assert!(refusal(&other).starts_with("eno1 is a port of the bridge storage"));
}

#[test]
fn profiles_that_say_too_little() {
    let mut without = node(dhcp("eno1"));
    without.active.clear();
    assert!(refusal(&without).starts_with("no profile of NetworkManager is active on eno1"));
    for (property, missing) in [("id", "vlan.parent"), ("parent", "vlan.id")] {
        let mut vlan = profile("v", "vlan", "eno1").with("ipv4", "method", "auto");
        vlan = match property {
            "id" => vlan.with("vlan", "id", 100_u32),
            _ => vlan.with("vlan", "parent", "eno9"),
        };
        let node = node(vlan);
        assert!(refusal(&node).starts_with(&format!("the profile v of eno1 has no {missing}")));
    }
}
