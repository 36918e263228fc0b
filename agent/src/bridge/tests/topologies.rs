//! Topologies on which configure-ovs.sh was run beside the plan, each with what it left there.

use super::{
    kinds::bond,
    node::{dhcp, node, profile},
};
use crate::{
    bridge::{inputs::Inputs, plan::Removal, uplink::Below},
    model::{Profile, connection::Value},
};

#[test]
fn a_bond_keeps_every_option_of_its_mode() {
    for options in [
        &[("mode", "balance-rr"), ("miimon", "100"), ("packets_per_slave", "4")][..],
        &[("mode", "balance-xor"), ("xmit_hash_policy", "layer2+3"), ("miimon", "100")],
        &[("mode", "broadcast"), ("arp_interval", "100"), ("arp_ip_target", "192.0.2.1")],
        &[("mode", "balance-tlb"), ("tlb_dynamic_lb", "0"), ("primary", "eno2")],
        &[("mode", "balance-alb"), ("miimon", "100"), ("updelay", "200")],
    ] {
        let plan = bond(options).planned();
        let uplink = plan.profile("ovs-if-phys0").expect("the uplink");
        let Some(Value::TextMap(kept)) = uplink.settings.get("bond", "options") else {
            unreachable!("no options");
        };
        let kept: Vec<_> = kept.iter().map(|(key, value)| (&**key, &**value)).collect();
        let mut wanted = options.to_vec();
        wanted.sort_unstable();
        assert_eq!(kept, wanted);
        assert!(plan.losses.is_empty(), "{:?}", plan.losses);
    }
}

/// It may get its cable later: the copy is there, and one port is enough.
#[test]
fn a_dead_port_is_copied_and_need_not_come_up() {
    let mut node = bond(&[("mode", "active-backup"), ("miimon", "100")]);
    for link in node.links.iter_mut().filter(|link| link.name == "eno2") {
        link.has_carrier = false;
    }
    let plan = node.planned();
    let dead = plan.order.iter().find(|activation| activation.device == "eno2").expect("the port");
    assert!(dead.port_of.is_some() && !dead.settle_lacp);
    assert_eq!(plan.uplink.link, "bond0");
}

/// The uplink's lease ran out while br-ex was away: nothing shows which family works, and neither is made a condition.
#[test]
fn without_an_address_no_family_has_to_come_back() {
    let mut bare = Inputs::default().card("eno1", 1).active(dhcp("eno1"));
    bare.files.default_bridge = Some("eno1".to_owned());
    let may_fail = |node: &Inputs, family: &str| {
        let plan = node.planned();
        let local = plan.profile("ovs-if-br-ex").expect("br-ex");
        local.settings.flag(family, "may-fail")
    };
    assert_eq!((may_fail(&bare, "ipv4"), may_fail(&bare, "ipv6")), (None, None));
    let leased = bare.address("eno1", "192.0.2.10");
    assert_eq!((may_fail(&leased, "ipv4"), may_fail(&leased, "ipv6")), (Some(false), None));
}

/// Its database cannot be read; NetworkManager's profiles are there.
#[test]
fn without_open_vswitch_the_uplink_is_known_by_its_profile() {
    let of = |id: &str, kind: &str, device: &str| -> Profile {
        profile(id, kind, device).with("connection", "uuid", crate::bridge::names::uuid(id))
    };
    let node = Inputs::default()
        .card("eno1", 1)
        .device("br-ex", 1, "openvswitch")
        .idle(dhcp("eno1"))
        .active(of("ovs-if-phys0", "802-3-ethernet", "eno1").port_of("ovs-port-phys0", "ovs-port"))
        .active(of("ovs-if-br-ex", "ovs-interface", "br-ex").port_of("ovs-port-br-ex", "ovs-port"))
        .address("br-ex", "192.0.2.10")
        .route("br-ex", "192.0.2.1", 48);
    let plan = node.planned();
    assert_eq!((&*plan.uplink.link, plan.uplink.below), ("eno1", Some(Below::Profile)));
    assert_eq!(plan.remove, Removal::default());
}

/// A profile of the installer's in /run or of the image's in /usr/lib is a profile of NetworkManager's as any other, and stays.
#[test]
fn the_uplinks_own_profile_stays_wherever_it_is() {
    let plan = node(dhcp("eno1")).planned();
    assert!(plan.remove.profiles.is_empty() && plan.own.is_none());
    assert!(plan.profiles.iter().all(|profile| profile.uuid != dhcp("eno1").uuid()));
}
