//! The parts of a plan beside the properties of its profiles: identity, order, secrets, links.

use std::collections::BTreeSet;

use super::{
    kinds::{auto, bond, extra, nodes, routes},
    node::{dhcp, mac, node, profile},
};
use crate::bridge::{inputs::Inputs, plan::Role};
use crate::model::{Lacp, Profile};

#[test]
fn uuids_are_the_same_on_each_boot_and_one_for_each_profile() {
    for (name, node) in nodes() {
        let uuids: BTreeSet<String> =
            node.planned().profiles.into_iter().map(|profile| profile.uuid).collect();
        assert_eq!(uuids.len(), node.planned().profiles.len(), "{name}");
    }
    let plan = node(dhcp("eno1")).planned();
    let bridge = plan.profile("br-ex").expect("the bridge");
    assert_eq!(bridge.uuid, "e343bec9-2189-5776-b796-64ee27deacae");
    assert_eq!(bridge.settings.text("connection", "uuid"), Some(bridge.uuid.as_str()));
}

#[test]
fn the_order_of_activation() {
    let ids = |node: &Inputs| {
        node.planned().order.into_iter().map(|activation| activation.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&node(dhcp("eno1"))), ["br-ex", "ovs-if-phys0", "ovs-if-br-ex"]);
    let expected =
        ["br-ex", "ovs-if-phys0", "br-ex1", "ovs-if-phys1", "ovs-if-br-ex", "ovs-if-br-ex1"];
    assert_eq!(ids(&extra()), expected);
    let copies = ["port-1-slave-ovs-clone", "port-2-slave-ovs-clone"];
    let bond = bond(&[("mode", "802.3ad")]);
    let all = [&["br-ex", "ovs-if-phys0"], &copies[..], &["ovs-if-br-ex"]].concat();
    assert_eq!(ids(&bond), all);
    let plan = bond.planned();
    let uplink = &plan.profile("ovs-if-phys0").expect("the uplink").uuid;
    let ports: Vec<_> = plan
        .order
        .iter()
        .filter(|activation| activation.port_of.as_ref() == Some(uplink))
        .collect();
    assert_eq!(ports.iter().map(|port| port.device.as_str()).collect::<Vec<_>>(), ["eno1", "eno2"]);
}

#[test]
fn lacp_settles_on_ports_that_have_a_carrier() {
    let mut bond = bond(&[("mode", "802.3ad")]);
    for link in bond.links.iter_mut().filter(|link| link.name != "bond0") {
        link.lacp = Some(Lacp::Settling);
        link.has_carrier = link.name == "eno1";
    }
    let order = bond.planned().order;
    let settling: Vec<_> = order
        .iter()
        .filter(|activation| activation.settle_lacp)
        .map(|activation| &activation.device)
        .collect();
    assert_eq!(settling, ["eno1"]);
}

#[test]
fn vmxnet3_takes_all_multicast() {
    let mut node = extra();
    assert_eq!(node.planned().allmulticast, Vec::<String>::new());
    node.drivers = ["eno1", "eno2"].map(|name| (name.to_owned(), "vmxnet3".to_owned())).into();
    assert_eq!(node.planned().allmulticast, ["eno1", "eno2"]);
}

#[test]
fn secrets_are_fetched_from_the_profile_that_has_them() {
    let plan = routes().planned();
    let of = |id: &str| plan.profile(id).expect("a profile").secrets.clone();
    let secrets = of("ovs-if-phys0").expect("802.1X has secrets");
    assert_eq!((secrets.of.as_str(), secrets.section.as_str()), ("uuid-of-eno1", "802-1x"));
    assert_eq!(of("ovs-if-br-ex"), None);
    assert_eq!(plan.losses, []);
}

#[test]
fn the_mac_address_of_a_bond_is_set_unless_its_ports_decide() {
    let cloned = |options: &[(&str, &str)]| {
        let plan = bond(options).planned();
        let mac_of = |id: &str| {
            let profile = plan.profile(id).expect("a profile");
            profile.settings.text("802-3-ethernet", "assigned-mac-address").map(str::to_owned)
        };
        assert_eq!(mac_of("ovs-if-br-ex"), Some(mac(1).to_string()), "{options:?}");
        mac_of("ovs-if-phys0").is_some()
    };
    for (mode, fail_over, expected) in [
        ("active-backup", "none", true),
        ("active-backup", "0", true),
        ("active-backup", "1", false),
        ("active-backup", "active", false),
        ("active-backup", "2", false),
        ("active-backup", "follow", false),
        ("1", "1", false),
        ("802.3ad", "1", true),
        ("balance-rr", "follow", true),
    ] {
        assert_eq!(
            cloned(&[("mode", mode), ("fail_over_mac", fail_over)]),
            expected,
            "{mode} {fail_over}"
        );
    }
    assert!(cloned(&[("mode", "active-backup")]));
}

#[test]
fn ports_of_ports_come_along() {
    let lan = auto(profile("lan", "bridge", "lan0"));
    let bond = profile("bond", "bond", "bond0").port_of("lan0", "bridge");
    let port =
        |id: &str, card: &str, of: &str| profile(id, "802-3-ethernet", card).port_of(of, "bond");
    let node = Inputs::default()
        .card("eno1", 1)
        .device("bond0", 1, "bond")
        .device("lan0", 1, "bridge")
        .active(lan)
        .active(port("port-1", "eno1", bond.uuid()))
        .active(bond)
        .address("lan0", "192.0.2.10")
        .route("lan0", "192.0.2.1", 100);
    let plan = node.planned();
    let of = |id: &str| plan.profile(id).unwrap_or_else(|| unreachable!("no {id}"));
    let controller = |id: &str| of(id).settings.text("connection", "master").map(str::to_owned);
    assert_eq!(controller("bond-slave-ovs-clone"), Some(of("ovs-if-phys0").uuid.clone()));
    assert_eq!(controller("port-1-slave-ovs-clone"), Some(of("bond-slave-ovs-clone").uuid.clone()));
    assert_eq!(of("port-1-slave-ovs-clone").role, Role::Port { of: "uuid-of-port-1".into() });
    // The document has the bridge's own ports.
    assert!(plan.document.contains("    port:\n    - name: bond0\n  ipv4"), "{}", plan.document);
}

/// A bond with these profiles, all of them active.
fn bond_with(ports: Vec<Profile>) -> Inputs {
    let bond = auto(profile("bond", "bond", "bond0"));
    let node = Inputs::default().card("eno1", 1).device("bond0", 1, "bond").active(bond);
    let node = node.address("bond0", "192.0.2.10").route("bond0", "192.0.2.1", 100);
    ports.into_iter().fold(node, |node, port| node.active_on("eno1", port))
}

#[test]
fn two_ports_with_one_id_have_a_profile_each() {
    let port = |card: &str| {
        let own = profile("port", "802-3-ethernet", card).port_of("bond0", "bond");
        own.with("connection", "uuid", format!("uuid-of-{card}"))
    };
    let plan = bond_with(vec![port("eno1"), port("eno2")]).planned();
    let copies: Vec<_> =
        plan.profiles.iter().filter(|profile| profile.id.contains("clone")).collect();
    assert_eq!(copies.len(), 2);
    assert_ne!(copies[0].uuid, copies[1].uuid);
}

#[test]
fn a_port_that_names_no_interface_is_the_one_it_is_active_on() {
    let mut port = profile("port", "802-3-ethernet", "eno1").port_of("bond0", "bond");
    port.settings.unset("connection", "interface-name");
    let plan = bond_with(vec![profile("other", "802-3-ethernet", "eno7"), port]).planned();
    let copy = plan.profile("port-slave-ovs-clone").expect("a copy");
    assert_eq!(copy.interface_name(), "eno1");
}

#[test]
fn a_circle_of_ports_comes_to_an_end() {
    let port = |id: &str, of: &str| profile(id, "bond", id).port_of(of, "bond");
    let plan = bond_with(vec![port("a", "bond0"), port("b", "a"), port("a2", "b")]).planned();
    assert_eq!(plan.profiles.iter().filter(|profile| profile.id.contains("clone")).count(), 3);
    let circle = vec![port("a", "bond0"), port("b", "a").with("connection", "interface-name", "a")];
    let plan = bond_with(circle).planned();
    assert_eq!(plan.profiles.iter().filter(|profile| profile.id.contains("clone")).count(), 5);
}

#[test]
fn a_teams_address_is_set_unless_its_ports_decide() {
    let is_set = |runner: &str, policy: &str| {
        let config =
            format!("{{\"runner\": {{\"name\": \"{runner}\", \"hwaddr_policy\": \"{policy}\"}}}}");
        let team = auto(profile("team", "team", "eno1")).with("team", "config", config);
        let plan = node(team).planned();
        let uplink = plan.profile("ovs-if-phys0").expect("the uplink");
        uplink.settings.get("802-3-ethernet", "assigned-mac-address").is_some()
    };
    assert!(!is_set("activebackup", "by_active") && !is_set("activebackup", "only_active"));
    assert!(is_set("activebackup", "same_all") && is_set("loadbalance", "by_active"));
}
