//! Nodes with every kind of uplink, and what configure-ovs.sh leaves on each.

use super::node::{dhcp, fixed, node, profile, record, texts};
use crate::{
    bridge::inputs::Inputs,
    model::{Profile, connection::Value},
};

/// A node, and what configure-ovs.sh leaves on it.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) node: Inputs,
    pub(super) fixture: &'static str,
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

pub(super) fn auto(profile: Profile) -> Profile {
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

pub(super) fn bond(options: &[(&str, &str)]) -> Inputs {
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
    let node = node(profile).but(|link| link.mtu = Some(9000));
    node.address("eno1", "fe80::1").address("eno1", "2001:db8::10")
}

pub(super) fn routes() -> Inputs {
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
        .with("802-1x", "eap", texts(&["pwd"]))
        .with("802-1x", "identity", "node")
        .with("802-3-ethernet", "mac-address", Value::Bytes(vec![0x52, 0x54, 0, 0, 0, 1]))
        .with("802-3-ethernet", "wake-on-lan", 64_u32)
        .with("802-3-ethernet", "mtu", 1500_u32)
        .with("802-3-ethernet", "assigned-mac-address", "permanent")
        .with("ethtool", "ring-rx", 512_u32)
        .with("match", "driver", texts(&["virtio_net"]))
        .with("user", "data", map(&[("example.owner", "me")]))
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
        .with("802-3-ethernet", "duplex", "full")
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

pub(super) fn extra() -> Inputs {
    let second = profile("eno2", "802-3-ethernet", "eno2")
        .fixed("198.51.100.10", 24, "198.51.100.1")
        .with("ipv6", "method", "disabled");
    let mut node =
        node(dhcp("eno1")).card("eno2", 2).active(second).address("eno2", "198.51.100.10");
    node.files.extra_bridge = Some("eno2".to_owned());
    node
}

/// Every kind of uplink.
pub(super) fn cases() -> Vec<Case> {
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
