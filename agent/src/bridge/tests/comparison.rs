//! The profiles of a plan against those of configure-ovs.sh, property by property, but for the table
//! of differences in `doc/bridge.md`.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    nmcli::{Properties, parse, shown},
    node::{dhcp, fixed, mac, node, profile, record, texts},
};
use crate::{
    bridge::{
        inputs::{Inputs, Lacp, Profile},
        plan::Role,
    },
    connection::Value,
};

/// A node, and what configure-ovs.sh leaves on it.
struct Case {
    name: &'static str,
    node: Inputs,
    fixture: &'static str,
}

macro_rules! case {
    ($name:literal, $node:expr) => {
        Case {
            name: $name,
            node: $node,
            fixture: include_str!(concat!("profiles/", $name, ".txt")),
        }
    };
}

fn map(entries: &[(&str, &str)]) -> Value {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    Value::TextMap(entries.iter().map(owned).collect())
}

fn auto(profile: Profile) -> Profile {
    profile.with("ipv4", "method", "auto").with("ipv6", "method", "disabled")
}

/// A controller with the ports eno1 and eno2, one of them by the UUID of its profile and one by name.
fn with_ports(kind: &str, controller: Profile) -> Inputs {
    let device = controller.interface_name().expect("a name").to_owned();
    let port =
        |id: &str, card: &str, of: &str| profile(id, "802-3-ethernet", card).port_of(of, kind);
    let first = port("port-1", "eno1", controller.uuid());
    let second = port("port-2", "eno2", &device);
    let third = port("port-3", "eno3", &device).with("connection", "autoconnect", false);
    Inputs::default()
        .card("eno1", 1)
        .card("eno2", 2)
        .device(&device, 1, kind)
        .active(controller)
        .active(first)
        .idle(second)
        // Neither in use nor going to be.
        .idle(third)
        .address(&device, "192.0.2.10")
        .route(&device, "192.0.2.1", 100)
}

fn bond(options: &[(&str, &str)]) -> Inputs {
    let bond = auto(profile("bond", "bond", "bond0")).with("bond", "options", map(options)).with(
        "bond",
        "interface-name",
        "bond0",
    );
    with_ports("bond", bond)
}

fn slaac() -> Inputs {
    let profile = profile("eno1", "802-3-ethernet", "eno1")
        .with("connection", "lldp", 1)
        .with("ipv4", "method", "auto")
        .with("ipv6", "method", "auto")
        .with("ipv6", "addr-gen-mode", 0);
    let node = node(profile).but(|link| link.mtu = 9000);
    node.address("eno1", "fe80::1").address("eno1", "2001:db8::10")
}

fn routes() -> Inputs {
    let entry =
        |ip: &str, prefix: u32| record(&[("address", ip.into()), ("prefix", prefix.into())]);
    let route = |dest: &str, hop: &str, more: (&str, u32)| {
        record(&[
            ("dest", dest.into()),
            ("prefix", 24_u32.into()),
            ("next-hop", hop.into()),
            (more.0, more.1.into()),
        ])
    };
    let rule = record(&[
        ("family", 2.into()),
        ("priority", 5_u32.into()),
        ("from", "192.0.2.0".into()),
        ("from-len", Value::U8(24)),
        ("table", 5_u32.into()),
    ]);
    let both = vec![entry("192.0.2.10", 24), entry("192.0.2.11", 24)];
    let routes = vec![
        route("198.51.100.0", "192.0.2.2", ("metric", 10)),
        route("203.0.113.0", "192.0.2.3", ("table", 5)),
    ];
    let profile = fixed("eno1")
        .with("ipv4", "address-data", Value::Records(both))
        .with("ipv4", "route-data", Value::Records(routes))
        .with("ipv4", "routing-rules", Value::Records(vec![rule]))
        .with("ipv4", "dns-data", texts(&["192.0.2.1", "192.0.2.2"]))
        .with("ipv4", "dns-search", texts(&["example.org"]))
        .with("ipv4", "dns-options", texts(&["ndots:2"]))
        .with("ipv4", "dns-priority", 40)
        .with("ipv4", "may-fail", false)
        .fixed("2001:db8::10", 64, "2001:db8::1")
        .with("ipv6", "dns-data", texts(&[]));
    node(with_card_settings(profile).with("connection", "zone", "public"))
}

/// Settings of the card, and some that only choose a card.
fn with_card_settings(profile: Profile) -> Profile {
    profile
        .with("connection", "lldp", 1)
        .with("connection", "multi-connect", 3)
        .with("802-1x", "eap", texts(&["tls"]))
        .with("802-1x", "identity", "node")
        .with("802-3-ethernet", "mac-address", Value::Bytes(vec![0x52, 0x54, 0, 0, 0, 1]))
        .with("802-3-ethernet", "wake-on-lan", 64_u32)
        .with("802-3-ethernet", "mtu", 1500_u32)
        .with("802-3-ethernet", "assigned-mac-address", "permanent")
        .with("ethtool", "ring-rx", 512_u32)
        .with("match", "driver", texts(&["virtio_net"]))
        .with("user", "data", map(&[("owner", "me")]))
}

fn identity() -> Inputs {
    let route = record(&[
        ("dest", "198.51.100.0".into()),
        ("prefix", 24_u32.into()),
        ("next-hop", "192.0.2.2".into()),
    ]);
    let profile = profile("eno1", "802-3-ethernet", "eno1")
        .with("connection", "autoconnect-priority", 7)
        .with("connection", "zone", "public")
        .with("802-3-ethernet", "speed", 1000_u32)
        .with("ipv4", "method", "auto")
        .with("ipv4", "dhcp-client-id", "01:02:03")
        .with("ipv4", "dhcp-timeout", 90)
        .with("ipv4", "dns-data", texts(&["192.0.2.53"]))
        .with("ipv4", "dns-search", texts(&["example.org"]))
        .with("ipv4", "ignore-auto-dns", true)
        .with("ipv4", "route-data", Value::Records(vec![route]))
        .with("ipv6", "method", "dhcp")
        .with("ipv6", "dhcp-duid", "ll")
        .with("ipv6", "dns-data", texts(&["2001:db8::53"]));
    node(profile).address("eno1", "2001:db8::10")
}

fn dhcp_and_address() -> Inputs {
    let address = record(&[("address", "192.0.2.77".into()), ("prefix", 24_u32.into())]);
    let profile = dhcp("eno1").with("connection", "autoconnect-priority", 5).with(
        "ipv4",
        "address-data",
        Value::Records(vec![address]),
    );
    node(profile)
}

fn vlan_on(parent: Profile, parent_kind: Option<&str>) -> Inputs {
    let below = parent.interface_name().expect("a name").to_owned();
    let name = format!("{below}.100");
    let vlan = auto(profile("vlan", "vlan", &name))
        .with("vlan", "interface-name", name.as_str())
        .with("vlan", "parent", parent.uuid())
        .with("vlan", "id", 100_u32)
        .with("vlan", "flags", 5_u32)
        .with("vlan", "egress-priority-map", texts(&["0:1"]));
    let node = match parent_kind {
        None => Inputs::default().card(&below, 1),
        Some(kind) => Inputs::default().device(&below, 1, kind),
    };
    node.device(&name, 1, "vlan").active(parent).active(vlan).address(&name, "192.0.2.10").route(
        &name,
        "192.0.2.1",
        100,
    )
}

fn linux_bridge() -> Inputs {
    let bridge = auto(profile("lan", "bridge", "lan0")).with("bridge", "stp", false).with(
        "bridge",
        "mac-address",
        Value::Bytes(vec![2, 0, 0, 0, 0, 1]),
    );
    let mut node = with_ports("bridge", bridge);
    node.profiles.retain(|profile| !["port-2", "port-3"].contains(&profile.id()));
    for port in node.profiles.iter_mut().filter(|profile| profile.id() == "port-1") {
        port.settings.set("bridge-port", "path-cost", 3_u32);
    }
    node
}

fn team() -> Inputs {
    let config =
        "{\"runner\": {\n  \"name\": \"activebackup\",\t\"hwaddr_policy\": \"by_active\"}}";
    let team = auto(profile("team", "team", "team0")).with("team", "config", config).with(
        "team",
        "runner",
        "activebackup",
    );
    let mut node = with_ports("team", team);
    node.profiles.retain(|profile| !["port-2", "port-3"].contains(&profile.id()));
    node
}

fn tun() -> Inputs {
    let tun = auto(profile("tap", "tun", "tap0")).with("tun", "mode", 2_u32);
    Inputs::default().device("tap0", 1, "tun").active(tun).address("tap0", "192.0.2.10").route(
        "tap0",
        "192.0.2.1",
        100,
    )
}

fn azure() -> Inputs {
    let profile = profile("Wired Connection", "802-3-ethernet", "eth0")
        .with("ipv4", "method", "auto")
        .with("ipv4", "dns-data", texts(&["168.63.129.16"]))
        .with("ipv6", "method", "ignore");
    Inputs::default()
        .card("eth0", 1)
        .active(profile)
        .address("eth0", "10.0.0.4")
        .address("eth0", "fe80::1")
        .route("eth0", "10.0.0.1", 100)
}

fn extra() -> Inputs {
    let second = profile("eno2", "802-3-ethernet", "eno2")
        .fixed("198.51.100.10", 24, "198.51.100.1")
        .with("ipv6", "method", "disabled");
    let mut node =
        node(dhcp("eno1")).card("eno2", 2).active(second).address("eno2", "198.51.100.10");
    node.files.extra_bridge = Some("eno2".to_owned());
    node
}

fn cases() -> Vec<Case> {
    // NetworkManager's default of a keyfile.
    let of_keyfile = |profile: Profile| profile.with("ipv6", "addr-gen-mode", 2);
    vec![
        case!(
            "static",
            node(of_keyfile(fixed("eno1")).with("ipv4", "dns-data", texts(&["192.0.2.1"])))
        ),
        case!("dhcp", node(of_keyfile(dhcp("eno1")).with("ipv4", "dhcp-client-id", "mac"))),
        case!("slaac", slaac()),
        case!("dhcp-and-address", dhcp_and_address()),
        case!("identity", identity()),
        case!("routes", routes()),
        case!("vlan", vlan_on(dhcp("eno1"), None)),
        case!("bond-lacp", bond(&[("mode", "802.3ad"), ("miimon", "100"), ("lacp_rate", "fast")])),
        case!(
            "bond-active-backup",
            bond(&[("mode", "active-backup"), ("miimon", "100"), ("primary", "eno1")])
        ),
        case!(
            "bond-fail-over-mac",
            bond(&[("mode", "active-backup"), ("miimon", "100"), ("fail_over_mac", "1")])
        ),
        case!("bond-vlan", vlan_on(profile("bond", "bond", "bond0"), Some("bond"))),
        case!("linux-bridge", linux_bridge()),
        case!("team", team()),
        case!("tun", tun()),
        case!("azure", azure()),
        case!("extra", extra()),
    ]
}

/// The nodes of all cases, by name.
pub(super) fn nodes() -> Vec<(&'static str, Inputs)> {
    cases().into_iter().map(|case| (case.name, case.node)).collect()
}

/// Names of the profiles in the table, which does not repeat itself for the second bridge.
fn group(id: &str) -> &str {
    match id {
        "ovs-if-phys1" => "ovs-if-phys0",
        "ovs-if-br-ex1" => "ovs-if-br-ex",
        other => other,
    }
}

/// The differences of two profiles: profile, property.
fn differences(id: &str, script: &Properties, own: &Properties) -> Vec<(String, String)> {
    let names: BTreeSet<&String> = script.keys().chain(own.keys()).collect();
    let differs = |name: &&&String| script.get(**name) != own.get(**name);
    names.iter().filter(differs).map(|name| (group(id).to_owned(), (*name).to_string())).collect()
}

/// The rows of the table in the documentation: profile, property.
fn documented() -> BTreeSet<(String, String)> {
    let text = include_str!("../../../doc/bridge.md");
    let table = text.lines().skip_while(|line| *line != "## Differences from configure-ovs.sh");
    let rows = table.filter_map(|line| line.strip_prefix("| `"));
    let row = |row: &str| {
        let mut cells = row.split(" | ").map(|cell| cell.trim_matches('`').to_owned());
        Some((cells.next()?, cells.next()?))
    };
    rows.filter_map(row).collect()
}

#[test]
fn profiles_are_those_of_configure_ovs_but_for_the_documented_differences() {
    let mut seen: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for case in cases() {
        let plan = case.node.planned();
        let script = parse(case.fixture);
        let ids: BTreeSet<&str> = plan.profiles.iter().map(|profile| profile.id.as_str()).collect();
        let expected: BTreeSet<&str> = script.keys().map(String::as_str).collect();
        assert_eq!(ids, expected, "{}", case.name);
        for profile in &plan.profiles {
            for difference in differences(&profile.id, &script[&profile.id], &shown(&plan, profile))
            {
                seen.entry(difference).or_default().push(case.name);
            }
        }
    }
    let documented = documented();
    // A row is a property, or a section for all of its properties.
    let is_row = |(profile, row): &(String, String), (id, property): &(String, String)| {
        let rest = property.strip_prefix(row.as_str());
        profile == id && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let undocumented: Vec<_> =
        seen.iter().filter(|(it, _)| !documented.iter().any(|row| is_row(row, it))).collect();
    assert!(undocumented.is_empty(), "not in doc/bridge.md: {undocumented:#?}");
    let unseen: Vec<_> =
        documented.iter().filter(|row| !seen.keys().any(|it| is_row(row, it))).collect();
    assert!(unseen.is_empty(), "in doc/bridge.md, but no difference: {unseen:#?}");
}

#[test]
fn uuids_are_the_same_on_each_boot_and_one_for_each_profile() {
    for (name, node) in nodes() {
        let uuids: BTreeSet<String> =
            node.planned().profiles.into_iter().map(|it| it.uuid).collect();
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
    let ports: Vec<_> =
        plan.order.iter().filter(|it| it.port_of.as_ref() == Some(uplink)).collect();
    assert_eq!(ports.iter().map(|it| it.device.as_str()).collect::<Vec<_>>(), ["eno1", "eno2"]);
}

#[test]
fn lacp_settles_on_ports_that_have_a_carrier() {
    let mut bond = bond(&[("mode", "802.3ad")]);
    for link in bond.links.iter_mut().filter(|link| link.name != "bond0") {
        link.lacp = Some(Lacp::Settling);
        link.has_carrier = link.name == "eno1";
    }
    let order = bond.planned().order;
    let settling: Vec<_> = order.iter().filter(|it| it.settle_lacp).map(|it| &it.device).collect();
    assert_eq!(settling, ["eno1"]);
}

#[test]
fn vmxnet3_takes_all_multicast() {
    let mut node = extra();
    assert_eq!(node.planned().allmulticast, Vec::<String>::new());
    for link in &mut node.links {
        link.driver = Some("vmxnet3".to_owned());
    }
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
        assert_eq!(mac_of("ovs-if-br-ex"), Some(mac(1)), "{options:?}");
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
}
