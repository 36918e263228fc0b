//! Nodes that have a bridge already: of configure-ovs.sh, of an earlier run, of a document that is
//! gone.

use super::node::{dhcp, fixed, mac, node, profile};
use crate::bridge::{
    inputs::{Files, Inputs},
    names::uuid,
    plan::{BridgePlan, Role},
};
use crate::model::{Bridge, Profile};

/// The node after somebody has made br-ex from `own`; its profiles have these UUIDs.
fn bridged(own: Profile, uuid_of: impl Fn(&str) -> String) -> Inputs {
    let of = |id: &str, kind: &str, device: &str| {
        profile(id, kind, device).with("connection", "uuid", uuid_of(id))
    };
    let bridge = of("br-ex", "ovs-bridge", "br-ex");
    let ports = ["ovs-port-phys0", "ovs-port-br-ex"];
    let devices = ["eno1", "br-ex"];
    let port = |id: &str, device: &str| of(id, "ovs-port", device).port_of("br-ex", "ovs-bridge");
    let uplink =
        of("ovs-if-phys0", "802-3-ethernet", "eno1").port_of(&uuid_of(ports[0]), "ovs-port");
    let local = of("ovs-if-br-ex", "ovs-interface", "br-ex")
        .port_of(&uuid_of(ports[1]), "ovs-port")
        .with("ipv4", "method", "auto")
        .with("ipv4", "route-metric", 48_i64)
        .with("ipv6", "method", "disabled");
    let bridge_uuid = bridge.uuid().to_owned();
    Inputs::default()
        .card("eno1", 1)
        .but(|link| link.controller = Some("ovs-system".to_owned()))
        .device("br-ex", 1, "openvswitch")
        .idle(own)
        .active(bridge)
        .active(port(ports[0], devices[0]))
        .active(port(ports[1], devices[1]))
        .active(uplink)
        .active(local)
        .bridge("br-ex", &bridge_uuid, "eno1")
        .address("br-ex", "192.0.2.10")
        .route("br-ex", "192.0.2.1", 48)
}

fn of_configure_ovs(own: Profile) -> Inputs {
    bridged(own, |id| format!("random-{id}"))
}

fn removed(plan: &BridgePlan) -> Vec<&str> {
    plan.remove.profiles.iter().map(|profile| profile.id.as_str()).collect()
}

#[test]
fn beside_configure_ovs_the_plan_is_that_of_the_next_boot() {
    for own in [dhcp("eno1"), fixed("eno1")] {
        let before = node(own.clone()).planned();
        let beside = of_configure_ovs(own).planned();
        assert_eq!(beside.profiles, before.profiles);
        let yaml = |plan: &BridgePlan| {
            plan.document
                .lines()
                .filter(|line| !line.starts_with('#'))
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(yaml(&beside), yaml(&before));
        let all = ["br-ex", "ovs-port-phys0", "ovs-port-br-ex", "ovs-if-phys0", "ovs-if-br-ex"];
        assert_eq!(removed(&beside), all);
        assert_eq!(beside.remove.bridges, ["br-ex"]);
        assert_eq!(beside.own, None);
    }
}

#[test]
fn a_second_run_plans_the_same_and_removes_nothing() {
    let first = node(dhcp("eno1")).planned();
    let second = bridged(dhcp("eno1"), uuid).planned();
    assert_eq!(second.profiles, first.profiles);
    assert_eq!(second.remove, crate::bridge::plan::Removal::default());
}

#[test]
fn another_uplink_replaces_the_bridge() {
    let mut moved = bridged(dhcp("eno1"), uuid).card("eno2", 2).active(dhcp("eno2"));
    moved.files.default_bridge = Some("eno2".to_owned());
    let plan = moved.planned();
    let all = ["br-ex", "ovs-port-phys0", "ovs-port-br-ex", "ovs-if-phys0", "ovs-if-br-ex"];
    assert_eq!(removed(&plan), all);
    assert_eq!(plan.remove.bridges, ["br-ex"]);
}

#[test]
fn a_bridge_that_only_ovsdb_kept_is_used_again_or_goes() {
    let with = |profile: &str| node(dhcp("eno1")).bridge("br-ex", profile, "eno1").planned();
    assert_eq!(with(&uuid("br-ex")).remove.bridges, Vec::<String>::new());
    assert_eq!(with("random").remove.bridges, ["br-ex"]);
    for (kind, remains) in [("internal", false), ("system", false), ("patch", true)] {
        let mut with_port = node(dhcp("eno1"));
        let port = ("net1", kind, None);
        with_port.bridges.push(Bridge::example("br-ex", Some(&uuid("br-ex")), &[port]));
        assert_eq!(with_port.planned().remove.bridges.is_empty(), remains, "{kind}");
    }
    let others = node(dhcp("eno1")).bridge("br-int", "x", "geneve").bridge(
        "br-ex1",
        &uuid("br-ex1"),
        "eno2",
    );
    assert_eq!(others.planned().remove.bridges, ["br-ex1"]);
}

/// A tool has left `fail_mode=secure`, with which the bridge forwards nothing.
#[test]
fn a_bridge_that_somebody_has_set_up_goes_unless_it_is_in_use() {
    let altered = |mut inputs: Inputs| {
        let bridge = inputs.bridges.pop().expect("a bridge");
        inputs.bridges.push(bridge.with("fail_mode", serde_json::json!("secure")));
        inputs.planned().remove.bridges
    };
    let kept = node(dhcp("eno1")).bridge("br-ex", &uuid("br-ex"), "eno1");
    assert_eq!(altered(kept), ["br-ex"]);
    assert_eq!(altered(bridged(dhcp("eno1"), uuid)), Vec::<String>::new());
}

#[test]
fn of_several_profiles_the_one_that_would_start_is_planned_with() {
    let with = |id: &str, priority: i32, used: u64| {
        dhcp("eno1")
            .with("connection", "id", id)
            .with("connection", "uuid", id)
            .with("connection", "autoconnect-priority", priority)
            .with("connection", "timestamp", crate::model::connection::Value::U64(used))
            .with("ipv4", "dhcp-client-id", id)
    };
    let planned = |profiles: Vec<Profile>| {
        let first = profile("of-eno2", "802-3-ethernet", "eno2");
        let node = profiles.into_iter().fold(of_configure_ovs(first), Inputs::idle);
        let plan = node.planned();
        let local = plan.profile("ovs-if-br-ex").expect("br-ex");
        local.settings.text("ipv4", "dhcp-client-id").map(str::to_owned)
    };
    let text = |id: &str| Some(id.to_owned());
    assert_eq!(planned(vec![with("a", 0, 5), with("b", 1, 1), with("c", 0, 9)]), text("b"));
    assert_eq!(planned(vec![with("a", 0, 5), with("c", 0, 9)]), text("c"));
    // Without an interface's name, for the card's address, or for another one's.
    let mut any = with("any", 0, 1);
    any.settings.unset("connection", "interface-name");
    assert_eq!(planned(vec![any.clone()]), text("any"));
    let bytes = |last| crate::model::connection::Value::Bytes(vec![0x52, 0x54, 0, 0, 0, last]);
    assert_eq!(
        planned(vec![any.clone().with("802-3-ethernet", "mac-address", bytes(1))]),
        text("any")
    );
    // None: the profiles of the bridge are all there is.
    assert_eq!(planned(vec![any.with("802-3-ethernet", "mac-address", bytes(2))]), None);
    assert_eq!(planned(vec![with("off", 0, 1).with("connection", "autoconnect", false)]), None);
    // A port of something else is not the node's own.
    let port = with("port", 9, 9).port_of("bond0", "bond");
    assert_eq!(planned(vec![with("a", 0, 5), port]), text("a"));
}

#[test]
fn a_profile_is_the_uplinks_by_its_kind_and_its_name() {
    for (link, kind, interface, is_its) in [
        (Some("bond"), "bond", "eno1", true),
        (Some("bond"), "bond", "eno9", false),
        (Some("bond"), "802-3-ethernet", "eno1", false),
        (Some("veth"), "802-3-ethernet", "eno1", true),
        (Some("veth"), "veth", "eno1", true),
        (None, "802-3-ethernet", "eno1", true),
        (None, "802-3-ethernet", "eno9", false),
        (None, "bond", "eno1", false),
    ] {
        let own = profile("own", kind, interface).with("ipv4", "dhcp-client-id", "own");
        let mut node = of_configure_ovs(own);
        node.links[0].kind = link.map(str::to_owned);
        let plan = node.planned();
        let local = plan.profile("ovs-if-br-ex").expect("br-ex");
        let found = local.settings.text("ipv4", "dhcp-client-id").is_some();
        assert_eq!(found, is_its, "{kind} {interface} on {link:?}");
    }
}

#[test]
fn an_uplink_of_another_kind_is_another_uplink() {
    let mut node = bridged(dhcp("eno1"), uuid);
    for profile in node.profiles.iter_mut().filter(|profile| profile.id() == "ovs-if-phys0") {
        profile.settings.set("connection", "type", "bond");
    }
    let all = ["br-ex", "ovs-port-phys0", "ovs-port-br-ex", "ovs-if-phys0", "ovs-if-br-ex"];
    assert_eq!(removed(&node.planned()), all);
}

#[test]
fn a_copy_of_a_port_counts_without_its_original() {
    let bond = profile("bond", "bond", "bond0").with("ipv4", "method", "auto");
    let copy = profile("port-slave-ovs-clone", "802-3-ethernet", "eno1").port_of("bond0", "bond");
    let node = Inputs::default()
        .card("eno1", 1)
        .device("bond0", 1, "bond")
        .active(bond)
        .active(copy)
        .address("bond0", "192.0.2.10")
        .route("bond0", "192.0.2.1", 100);
    let plan = node.planned();
    assert_eq!(
        plan.profiles.iter().filter(|profile| profile.id == "port-slave-ovs-clone").count(),
        1
    );
}

/// The node of a document: nmstate has made eno1's own profile a port.
fn of_document() -> Inputs {
    let local = fixed("br-ex")
        .with("connection", "id", "br-ex-if")
        .with("connection", "uuid", "uuid-of-br-ex-if")
        .with("connection", "type", "ovs-interface")
        .with("ipv4", "route-metric", 48_i64)
        .port_of("uuid-of-br-ex-port", "ovs-port");
    let mut own =
        profile("eno1", "802-3-ethernet", "eno1").port_of("uuid-of-eno1-port", "ovs-port");
    own.settings.set("ovs-interface", "type", "system");
    let port = |id: &str, device: &str| {
        profile(id, "ovs-port", device).port_of("uuid-of-br-ex-br", "ovs-bridge")
    };
    Inputs::default()
        .card("eno1", 1)
        .device("br-ex", 1, "openvswitch")
        .active(profile("br-ex-br", "ovs-bridge", "br-ex"))
        .active(port("eno1-port", "eno1"))
        .active(port("br-ex-port", "br-ex"))
        .active(own)
        .active(local)
        .idle(dhcp("eno2"))
        .idle(profile("br-int-br", "ovs-bridge", "br-int"))
        .bridge("br-ex", "uuid-of-br-ex-br", "eno1")
        .address("br-ex", "192.0.2.10")
        .route("br-ex", "192.0.2.1", 48)
}

#[test]
fn the_bridge_of_a_document_that_is_gone_hands_its_addresses_over() {
    let plan = of_document().planned();
    assert_eq!(plan.profiles, node(fixed("eno1")).planned().profiles);
    // The document's other profiles stay.
    assert_eq!(removed(&plan), ["br-ex-br", "eno1-port", "br-ex-port", "br-ex-if"]);
    assert_eq!(plan.remove.bridges, ["br-ex"]);
    let own = plan.own.expect("eno1's own profile");
    assert_eq!((own.role, own.id.as_str(), own.uuid.as_str()), (Role::Own, "eno1", "uuid-of-eno1"));
    let mut expected = fixed("eno1").settings;
    expected.unset("connection", "timestamp");
    assert_eq!(own.settings, expected);
}

#[test]
fn the_uplink_of_the_second_bridge_is_left_alone_when_the_file_goes() {
    let mut node = node(dhcp("eno1")).card("eno2", 2).active(dhcp("eno2"));
    node.files.extra_bridge = Some("eno2".to_owned());
    let both = node.planned();
    assert_eq!(both.extra.as_deref(), Some("eno2"));
    let made = |node: Inputs, plan: &BridgePlan| {
        plan.profiles.iter().fold(node, |node, planned| {
            node.idle(Profile { settings: planned.settings.clone(), ..Profile::default() })
        })
    };
    let mut again = made(node, &both);
    assert_eq!(removed(&again.planned()), Vec::<&str>::new());
    // Another uplink of the second bridge leaves the first one alone.
    let mut moved = again.clone().card("eno3", 3).active(dhcp("eno3"));
    moved.files.extra_bridge = Some("eno3".to_owned());
    let second = ["br-ex1", "ovs-port-phys1", "ovs-port-br-ex1", "ovs-if-phys1", "ovs-if-br-ex1"];
    let mut gone =
        removed(&moved.planned()).iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    gone.sort_unstable();
    let mut second = second.map(str::to_owned);
    second.sort_unstable();
    assert_eq!(gone, second);
    again.files.extra_bridge = None;
    let plan = again.planned();
    assert_eq!(plan.extra, None);
    let gone = ["br-ex1", "ovs-port-phys1", "ovs-port-br-ex1", "ovs-if-phys1", "ovs-if-br-ex1"];
    assert_eq!(removed(&plan), gone);
}

#[test]
fn a_saved_profile_of_an_earlier_boot_is_made_again() {
    let node = node(dhcp("eno1"));
    let own = node.planned().profiles.into_iter().find(|profile| profile.id == "ovs-if-br-ex");
    let settings = own.map(|own| own.settings).unwrap_or_default();
    for (is_saved, gone) in [(false, &[][..]), (true, &["ovs-if-br-ex"])] {
        let again = node.clone().idle(Profile {
            settings: settings.clone(),
            is_saved,
            ..Profile::default()
        });
        assert_eq!(removed(&again.planned()), gone);
    }
}

#[test]
fn a_file_may_name_a_card_by_an_alternative_name() {
    let mut node = node(dhcp("eno1"));
    node.links[0].alt_names = vec!["enp9s0".to_owned()];
    let files = Files { default_bridge: Some("enp9s0".to_owned()), ..Files::default() };
    node.files = files.by_kernel_names(&node.links);
    assert_eq!(node.planned().uplink.link, "eno1");
}

#[test]
fn copies_of_ports_are_no_ports_themselves() {
    let bond = profile("bond", "bond", "bond0").with("ipv4", "method", "auto");
    let port = |id: &str| profile(id, "802-3-ethernet", "eno1").port_of("bond0", "bond");
    let node = Inputs::default()
        .card("eno1", 1)
        .device("bond0", 1, "bond")
        .active(bond)
        .active(port("port"))
        .idle(port("port-slave-ovs-clone"))
        .address("bond0", "192.0.2.10")
        .route("bond0", "192.0.2.1", 100);
    let plan = node.planned();
    let copies: Vec<_> =
        plan.profiles.iter().filter(|profile| profile.id.contains("clone")).collect();
    assert_eq!(copies.len(), 1);
    assert_eq!(copies[0].role, Role::Port { of: "uuid-of-port".to_owned() });
    assert_eq!(removed(&plan), ["port-slave-ovs-clone"]);
    assert_eq!(copies[0].interface_name(), "eno1");
    assert_eq!(mac(1).to_string(), "52:54:00:00:00:01");
}
