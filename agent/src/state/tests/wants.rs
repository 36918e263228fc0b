//! Needs of a document, and its promises.

use super::{Result, state};
use crate::model::{Family, Gateway, LinkRef, Mac, OnLink, Wants};

fn wants(text: &str) -> Result<Wants> {
    Ok(state(text)?.wants())
}

fn names(names: &[&str]) -> Vec<LinkRef> {
    names.iter().map(|name| LinkRef::Name((*name).to_owned())).collect()
}

#[test]
fn only_default_routes_of_the_main_table_have_a_gateway_of_the_node() -> Result {
    let cases = [
        ("destination: 0.0.0.0/0, next-hop-address: 192.0.2.1", true),
        ("destination: '::/0', next-hop-address: '2001:db8::1'", true),
        ("destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, table-id: 0", true),
        ("destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, table-id: 254", true),
        ("destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, table-id: 253", false),
        ("destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, table-id: 255", false),
        ("destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, state: absent", false),
        ("destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, vrf-name: red", false),
        ("destination: 192.0.2.0/24, next-hop-address: 192.0.2.1", false),
        ("destination: 0.0.0.0/1, next-hop-address: 192.0.2.1", false),
    ];
    for (route, is_gateway) in cases {
        let text = format!("routes: {{config: [{{{route}, next-hop-interface: eno1}}]}}\n");
        assert_eq!(wants(&text)?.gateways.len(), usize::from(is_gateway), "{route}");
    }
    Ok(())
}

#[test]
fn a_default_route_without_a_gateway_has_nobody_to_ask() -> Result {
    let card = "interfaces:\n- {name: eno1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, \
                address: [{ip: 192.0.2.10, prefix-length: 24}]}}\n";
    for (destination, gateway, family) in [
        ("0.0.0.0/0", "0.0.0.0", Family::Ipv4),
        ("0.0.0.0/0", "192.0.2.10", Family::Ipv4),
        ("::/0", "::", Family::Ipv6),
    ] {
        let wants = wants(&format!(
            "{card}routes: {{config: [{{destination: '{destination}', next-hop-address: '{gateway}', next-hop-interface: eno1}}]}}"
        ))?;
        assert_eq!(
            (wants.gateways, wants.without_gateway),
            (Vec::new(), vec![family]),
            "{gateway}"
        );
    }
    Ok(())
}

/// Each document that `nmstatectl show` wrote has them; nmstate drops them with a warning.
#[test]
fn link_local_addresses_of_a_document_are_not_awaited() -> Result {
    let address =
        "address: [{ip: 'fe80::1', prefix-length: 64}, {ip: '2001:db8::10', prefix-length: 64}]";
    let text = format!(
        "interfaces: [{{name: eno1, type: ethernet, state: up, ipv6: {{enabled: true, {address}}}}}]"
    );
    let awaited: Vec<String> =
        wants(&text)?.addresses.iter().map(|address| address.ip.to_string()).collect();
    assert_eq!(awaited, ["2001:db8::10"]);
    Ok(())
}

#[test]
fn the_other_end_of_a_cable_is_made_by_the_document_whatever_its_type() -> Result {
    for kind in ["ethernet", "veth"] {
        let text = format!(
            "interfaces:\n- {{name: veth1, type: veth, state: up, veth: {{peer: veth2}}}}\n\
             - {{name: veth2, type: {kind}, state: up, veth: {{peer: veth1}}}}\n\
             - {{name: eno1, type: ethernet, state: up}}\n"
        );
        assert_eq!(wants(&text)?.needed, names(&["eno1"]), "{kind}");
    }
    let text = "interfaces:\n- {name: veth1, type: veth, state: up, veth: {peer: veth2}}\n\
                - {name: veth2, type: ethernet, state: up}\n";
    assert_eq!(wants(text)?.needed, Vec::new());
    Ok(())
}

#[test]
fn a_gateway_is_on_the_kernels_name_of_its_interface() -> Result {
    let interfaces = "interfaces:\n\
        - {name: eno1, type: ethernet, state: up, profile-name: uplink}\n\
        - {name: eno2, type: ethernet, state: up, profile-name: eno3}\n\
        - {name: eno3, type: ethernet, state: up}\n";
    for (name, kernel) in [("uplink", "eno1"), ("eno1", "eno1"), ("eno3", "eno3"), ("eno9", "eno9")]
    {
        let route = format!(
            "routes: {{config: [{{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: {name}}}]}}\n"
        );
        let gateway = Gateway { link: Some(kernel.to_owned()), ip: "192.0.2.1".parse()? };
        assert_eq!(wants(&format!("{interfaces}{route}"))?.gateways, [gateway], "{name}");
    }
    Ok(())
}

#[test]
fn addresses_are_static_or_from_the_network() -> Result {
    let v4 = |more: &str| {
        format!("ipv4: {{enabled: true, address: [{{ip: 192.0.2.10, prefix-length: 24}}]{more}}}")
    };
    let v6 = |more: &str| {
        format!(
            "ipv6: {{enabled: true, address: [{{ip: '2001:db8::10', prefix-length: 64}}]{more}}}"
        )
    };
    let cases = [
        (v4(""), 1, None),
        (v4(", dhcp: false"), 1, None),
        ("ipv4: {enabled: true, dhcp: true}".to_owned(), 0, Some((true, false))),
        ("ipv4: {enabled: false, dhcp: true}".to_owned(), 0, None),
        (v6(""), 1, None),
        ("ipv6: {enabled: true, dhcp: true, autoconf: true}".to_owned(), 0, Some((false, true))),
        ("ipv6: {enabled: true, dhcp: false, autoconf: true}".to_owned(), 0, Some((false, true))),
        (v6(", dhcp: true, autoconf: true"), 1, Some((false, true))),
        ("ipv6: {enabled: false}".to_owned(), 0, None),
        (format!("{}, {}", v4(""), v6("")), 2, None),
    ];
    for (ip, addresses, dynamic) in cases {
        let text = format!("interfaces: [{{name: eno1, type: ethernet, state: up, {ip}}}]");
        let wants = wants(&text)?;
        assert_eq!(wants.addresses.len(), addresses, "{ip}");
        let found = wants.dynamic.first().map(|dynamic| (dynamic.v4, dynamic.v6));
        assert_eq!(found, dynamic, "{ip}");
    }
    let text = format!("interfaces: [{{name: eno1, type: ethernet, state: up, {}}}]", v4(""));
    let ip = "192.0.2.10".parse()?;
    let expected = OnLink { link: "eno1".to_owned(), ip, prefix: 24 };
    assert_eq!(expected.to_string(), "192.0.2.10/24 on eno1");
    assert_eq!(wants(&text)?.addresses, [expected]);
    Ok(())
}

#[test]
fn the_network_may_give_a_default_route_unless_the_document_refuses_it() -> Result {
    let dual = |v4: &str, v6: &str| {
        format!(
            "ipv4: {{enabled: true, dhcp: true{v4}}}, ipv6: {{enabled: true, autoconf: true, dhcp: true{v6}}}"
        )
    };
    let no = ", auto-gateway: false";
    let (ipv4, ipv6) = (Family::Ipv4, Family::Ipv6);
    for (ip, takes_gateway) in [
        (dual("", ""), &[ipv4, ipv6][..]),
        (dual(no, ""), &[ipv6]),
        (dual("", no), &[ipv4]),
        (dual(no, no), &[]),
        (format!("ipv4: {{enabled: true, dhcp: true{no}}}"), &[]),
        (dual(", auto-routes: false", ", auto-route-table-id: 100"), &[]),
        (dual(", auto-route-table-id: 254", ", auto-route-table-id: 0"), &[ipv4, ipv6]),
    ] {
        let text = format!("interfaces: [{{name: eno1, type: ethernet, state: up, {ip}}}]");
        assert_eq!(wants(&text)?.dynamic[0].takes_gateway, takes_gateway, "{ip}");
    }
    Ok(())
}

#[test]
fn nobody_answers_on_a_bridge_without_ports() -> Result {
    let bridge = |more: &str| {
        format!(
            "{{name: br1, type: linux-bridge, state: up, ipv4: {{enabled: true, dhcp: true}}{more}}}"
        )
    };
    for (interfaces, takes_gateway) in [
        (bridge(""), false),
        (bridge(", bridge: {port: []}"), false),
        (bridge(", bridge: {port: [{name: eno1}]}"), true),
        (
            format!("{}, {{name: eno1, type: ethernet, state: up, controller: br1}}", bridge("")),
            true,
        ),
    ] {
        let found = wants(&format!("interfaces: [{interfaces}]"))?;
        assert_eq!(!found.dynamic[0].takes_gateway.is_empty(), takes_gateway, "{interfaces}");
    }
    Ok(())
}

#[test]
fn cards_are_needed_unless_the_document_makes_links() -> Result {
    let mac = "mac-address: 02:00:5e:00:53:01";
    let dummy = "{name: dum0, type: dummy, state: up}";
    let vlan = |base: &str| {
        format!("{{name: v5, type: vlan, state: up, vlan: {{base-iface: {base}, id: 5}}}}")
    };
    let on = |kind: &str, more: &str| format!("{{name: v5, type: {kind}, state: up, {more}}}");
    let card =
        |name: &str, more: &str| format!("{{name: {name}, type: ethernet, state: up{more}}}");
    let cases = [
        (card("eno1", ""), names(&["eno1"])),
        ("{name: eno1, type: ethernet, state: down}".to_owned(), Vec::new()),
        (dummy.to_owned(), Vec::new()),
        (
            card("uplink", &format!(", identifier: mac-address, {mac}")),
            Mac::parse("02:00:5e:00:53:01").map(LinkRef::Mac).into_iter().collect(),
        ),
        (card("eno1", &format!(", {mac}")), names(&["eno1"])),
        (vlan("eno1"), names(&["eno1"])),
        (format!("{dummy}, {}", vlan("dum0")), Vec::new()),
        (on("vxlan", "vxlan: {base-iface: eno1, id: 5, remote: 192.0.2.9}"), names(&["eno1"])),
        (on("mac-vlan", "mac-vlan: {base-iface: eno1, mode: bridge}"), names(&["eno1"])),
        (on("mac-vtap", "mac-vtap: {base-iface: eno1, mode: bridge}"), names(&["eno1"])),
        (card("eno1", ", ethernet: {sr-iov: {total-vfs: 2}}"), Vec::new()),
    ];
    for (interfaces, needed) in cases {
        let found = wants(&format!("interfaces: [{interfaces}]"))?;
        assert_eq!(found.needed, needed, "{interfaces}");
        assert_eq!(found.makes_links, interfaces.contains("sr-iov"), "{interfaces}");
    }
    Ok(())
}

#[test]
fn open_vswitch_is_needed_for_its_bridges_and_interfaces_alone() -> Result {
    let bridge = |name: &str, kind: &str| {
        format!(
            "{{name: {name}, type: {kind}, state: up, bridge: {{port: [{{name: eno1}}]}}}}, \
             {{name: eno1, type: ethernet, state: up}}"
        )
    };
    let port = "{name: int0, type: ovs-interface, state: up}";
    let ovs = bridge("ovs0", "ovs-bridge");
    for (interfaces, is_needed, bridges) in [
        (format!("{ovs}, {port}"), true, 1),
        (ovs, true, 1),
        (port.to_owned(), true, 0),
        (bridge("lbr0", "linux-bridge"), false, 0),
    ] {
        let wants = wants(&format!("interfaces: [{interfaces}]"))?;
        assert_eq!((wants.ovs, wants.bridges.len()), (is_needed, bridges), "{interfaces}");
    }
    Ok(())
}

#[test]
fn settings_of_open_vswitch_are_known_by_their_keys() -> Result {
    use crate::model::OvsMap::{ExternalIds, OtherConfig};
    for (text, expected) in [
        ("ovs-db: {other_config: {dpdk-init: 'true'}}", vec![(OtherConfig, Some("dpdk-init"))]),
        ("ovs-db: {external_ids: {a: null}}", vec![(ExternalIds, Some("a"))]),
        ("ovs-db: {external_ids: {}}", vec![(ExternalIds, None)]),
        ("ovs-db: {}", vec![(ExternalIds, None), (OtherConfig, None)]),
        (
            "ovn: {bridge-mappings: [{localnet: a, bridge: br-ex}]}",
            vec![(ExternalIds, Some("ovn-bridge-mappings"))],
        ),
        ("interfaces: []", Vec::new()),
    ] {
        let wants = wants(text)?;
        let found: Vec<_> = wants
            .ovs_settings
            .iter()
            .map(|setting| (setting.map, setting.key.as_deref()))
            .collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(wants.ovs, !expected.is_empty(), "{text}");
    }
    Ok(())
}

#[test]
fn below_a_patch_port_are_the_cards_of_the_other_bridge() -> Result {
    let text = "interfaces:
- {name: br-ex, type: ovs-bridge, state: up, bridge: {port: [{name: br-ex}, {name: ex}]}}
- {name: ex, type: ovs-interface, state: up, patch: {peer: phy}}
- {name: phy, type: ovs-interface, state: up, patch: {peer: ex}}
- name: br-phy
  type: ovs-bridge
  state: up
  bridge: {port: [{name: phy}, {name: bond, link-aggregation: {mode: balance-slb, port: [{name: eno1}, {name: eno2}]}}]}
";
    let below = wants(text)?.below;
    for (upper, lower) in
        [("br-ex", "ex"), ("ex", "phy"), ("phy", "br-phy"), ("br-phy", "eno1"), ("br-phy", "eno2")]
    {
        assert!(
            below.contains(&(upper.to_owned(), lower.to_owned())),
            "{upper} {lower}: {below:?}"
        );
    }
    Ok(())
}

/// A question for an address of a VLAN would reach other machines without its tag.
#[test]
fn an_address_is_asked_for_where_its_packets_have_the_same_form() -> Result {
    let at = |name: &str, kind: &str, more: &str| {
        format!(
            "{{name: {name}, type: {kind}, state: up, {more}ipv4: {{enabled: true, dhcp: false, \
             address: [{{ip: 192.0.2.10, prefix-length: 24}}]}}}}"
        )
    };
    let bond = "{name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eno1, eno2]}}";
    let bridge = |port: &str| {
        format!(
            "{{name: br-ex, type: ovs-bridge, state: up, bridge: {{port: [{port}, {{name: br-ex}}]}}}}"
        )
    };
    let vlan = "{name: bond0.104, type: vlan, state: up, vlan: {base-iface: bond0, id: 104}}";
    let access = "{name: eno1, vlan: {mode: access, tag: 104}}";
    for (interfaces, links) in [
        (at("eno1", "ethernet", ""), &["eno1"][..]),
        (
            format!("{}, {bond}, {}", at("br-ex", "ovs-interface", ""), bridge("{name: bond0}")),
            &["br-ex", "bond0", "eno1", "eno2"],
        ),
        (
            format!(
                "{}, {bond}, {vlan}, {}",
                at("br-ex", "ovs-interface", ""),
                bridge("{name: bond0.104}")
            ),
            &["br-ex", "bond0.104"],
        ),
        (at("bond0.104", "vlan", "vlan: {base-iface: bond0, id: 104}, "), &["bond0.104"]),
        (format!("{}, {}", at("br-ex", "ovs-interface", ""), bridge(access)), &["br-ex"]),
    ] {
        let planned = wants(&format!("interfaces: [{interfaces}]"))?.planned();
        assert_eq!(planned.len(), 1, "{interfaces}");
        let mut found = planned[0].links.clone();
        // A document's bridges are sorted by nmstate.
        found.sort();
        let mut links = links.to_vec();
        links.sort_unstable();
        assert_eq!(found, links, "{interfaces}");
    }
    Ok(())
}
