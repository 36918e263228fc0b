//! Each setting of an uplink in the document of the plan, which `dayone plan` shows.

use super::{
    kinds::{auto, routes},
    node::{dhcp, fixed, node, profile, record},
};
use crate::{
    bridge::inputs::Inputs,
    model::{Profile, connection::Value},
};

fn document(own: Profile) -> String {
    node(own).planned().document
}

#[test]
fn each_setting_of_ip_has_its_field() {
    let both = || {
        profile("eno1", "802-3-ethernet", "eno1")
            .with("ipv4", "method", "auto")
            .with("ipv6", "method", "auto")
    };
    let cases: [(&str, &str, Value, &str); 18] = [
        ("ipv4", "method", "disabled".into(), "  ipv4:\n    enabled: false\n"),
        ("ipv4", "dhcp-client-id", "mac".into(), "    dhcp-client-id: ll\n"),
        ("ipv4", "dhcp-client-id", "duid".into(), "    dhcp-client-id: iaid+duid\n"),
        ("ipv4", "dhcp-client-id", "node-5".into(), "    dhcp-client-id: node-5\n"),
        ("ipv4", "ignore-auto-dns", true.into(), "    auto-dns: false\n"),
        ("ipv4", "ignore-auto-routes", true.into(), "    auto-routes: false\n"),
        ("ipv6", "never-default", true.into(), "    auto-gateway: false\n"),
        ("ipv4", "route-table", 5_u32.into(), "    auto-route-table-id: 5\n"),
        ("ipv6", "method", "disabled".into(), "  ipv6:\n    enabled: false\n"),
        ("ipv6", "method", "auto".into(), "    dhcp: true\n    autoconf: true\n"),
        ("ipv6", "method", "dhcp".into(), "    dhcp: true\n    autoconf: false\n"),
        ("ipv6", "method", "link-local".into(), "    dhcp: false\n    autoconf: false\n"),
        ("ipv6", "addr-gen-mode", 0.into(), "    addr-gen-mode: eui64\n"),
        ("ipv6", "addr-gen-mode", 1.into(), "    addr-gen-mode: stable-privacy\n"),
        ("ipv6", "dhcp-duid", "ll".into(), "    dhcp-duid: ll\n"),
        ("ipv6", "token", "::5".into(), "    token: ::5\n"),
        ("connection", "lldp", 0.into(), "  lldp:\n    enabled: false\n"),
        ("connection", "lldp", 1.into(), "  lldp:\n    enabled: true\n"),
    ];
    for (section, property, value, expected) in cases {
        let all = document(both().with(section, property, value));
        // The uplink has the LLDP, and no addresses in any case.
        let local = all.split("type: ovs-interface").nth(1).unwrap_or_default();
        let part = if section == "connection" { &all } else { local };
        assert!(part.contains(expected), "{section}.{property}: {all}");
    }
    let plain = document(both());
    for field in
        ["auto-dns", "auto-route-table-id", "addr-gen-mode", "lldp", "enabled: false\n  ipv6"]
    {
        let local = plain.split("type: ovs-interface").nth(1).unwrap_or_default();
        assert!(!local.contains(field), "{field}: {plain}");
    }
    assert!(!document(fixed("eno1")).contains("wait-ip"), "a static address needs no wait");
}

#[test]
fn routes_and_rules_are_in_the_document() {
    let expected = "\
routes:
  config:
  - destination: 0.0.0.0/0
    next-hop-address: 192.0.2.1
    next-hop-interface: br-ex
    metric: 48
  - destination: 198.51.100.0/24
    next-hop-address: 192.0.2.2
    next-hop-interface: br-ex
    metric: 10
  - destination: 203.0.113.0/24
    next-hop-address: 192.0.2.3
    next-hop-interface: br-ex
    metric: 48
    table-id: 5
  - destination: ::/0
    next-hop-address: 2001:db8::1
    next-hop-interface: br-ex
    metric: 48
route-rules:
  config:
  - family: ipv4
    ip-from: 192.0.2.0/24
    priority: 5
    route-table: 5
";
    let all = routes().planned().document;
    assert!(all.ends_with(expected), "{all}");
    assert!(!document(dhcp("eno1")).contains("\nroute"), "nothing static");
}

#[test]
fn a_route_is_in_its_profiles_table_and_no_blackhole() {
    let entry = |dest: &str, more: &[(&str, Value)]| {
        let own = [("dest", dest.into()), ("prefix", 24_u32.into())];
        record(&[&own[..], more].concat())
    };
    let entries = vec![
        entry("198.51.100.0", &[("type", "unicast".into())]),
        entry("203.0.113.0", &[("type", "blackhole".into())]),
    ];
    let with = |table: u32| {
        fixed("eno1").with("ipv4", "route-table", table).with(
            "ipv4",
            "route-data",
            Value::Records(entries.clone()),
        )
    };
    let all = document(with(5));
    assert_eq!(all.matches("table-id: 5\n").count(), 2, "the gateway's and the route's: {all}");
    assert!(all.contains("198.51.100.0/24") && !all.contains("203.0.113.0"), "{all}");
    assert!(!document(with(0)).contains("table-id"));
}

#[test]
fn a_rule_for_one_address_has_the_whole_length() {
    let rule = |family: &str, from: &str| {
        let entries = [("from", from.into()), ("iifname", "eno2".into()), ("fwmark", 1_u32.into())];
        document(fixed("eno1").with(
            family,
            "routing-rules",
            Value::Records(vec![record(&entries)]),
        ))
    };
    let expected = "  - family: ipv4\n    ip-from: 192.0.2.9/32\n    fwmark: 1\n    iif: eno2\n";
    let all = rule("ipv4", "192.0.2.9");
    assert!(all.contains(expected), "{all}");
    let all = rule("ipv6", "2001:db8::9");
    assert!(all.contains("    ip-from: 2001:db8::9/128\n"), "{all}");
}

#[test]
fn a_vlan_and_a_bridge_have_their_own_fields() {
    let vlan = auto(profile("vlan", "vlan", "eno1"))
        .with("vlan", "parent", "eno5")
        .with("vlan", "id", 100_u32)
        .with("vlan", "protocol", "802.1AD");
    let all = document(vlan);
    let expected = "  vlan:\n    base-iface: eno5\n    id: 100\n    protocol: 802.1ad\n";
    assert!(all.contains("- name: eno1\n  type: vlan\n") && all.contains(expected), "{all}");

    let lan = auto(profile("lan", "bridge", "lan0")).with(
        "bridge",
        "mac-address",
        Value::Bytes(vec![2, 0, 0, 0, 0, 1]),
    );
    let port = profile("port", "802-3-ethernet", "eno1").port_of("lan0", "bridge");
    let plan = Inputs::default()
        .card("eno1", 1)
        .device("lan0", 1, "bridge")
        .active(lan)
        .active(port)
        .address("lan0", "192.0.2.10")
        .route("lan0", "192.0.2.1", 100)
        .planned();
    let all = &plan.document;
    assert!(all.contains("  bridge:\n    port:\n    - name: eno1\n  ipv4"), "{all}");
    // The address is the uplink's, in the section of Ethernet.
    let uplink = plan.profile("ovs-if-phys0").expect("the uplink");
    assert_eq!(uplink.settings.get("bridge", "mac-address"), None);
}
