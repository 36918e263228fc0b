//! Differences that nmstate's verification tolerates, and ones it does not.

use nmstate::{NetworkState, NmstateError};

use super::missing;

type Result<T = ()> = std::result::Result<T, NmstateError>;

/// Whether `current` has all of `desired`.
fn holds(desired: &str, current: &str) -> Result<bool> {
    let desired = NetworkState::new_from_yaml(desired)?;
    let current = NetworkState::new_from_yaml(current)?;
    Ok(missing(&desired, &current)?.is_empty())
}

/// An Ethernet interface with the keys `more`.
fn card(more: &str) -> String {
    format!("interfaces:\n- {{name: eno1, type: ethernet, state: up, {more}}}\n")
}

#[test]
fn what_only_says_how_to_apply_or_compare_is_no_difference() -> Result {
    for (desired, current) in [
        ("profile-name: eno1", "mtu: 1500"),
        (
            "ipv4: {enabled: true, dhcp: true, auto-route-metric: -1}",
            "ipv4: {enabled: true, dhcp: true}",
        ),
        (
            "ipv6: {enabled: true, autoconf: true, dhcp: true, token: '::'}",
            "ipv6: {enabled: true, autoconf: true, dhcp: true}",
        ),
        ("mptcp: {address-flags: [subflow, signal]}", "mptcp: {address-flags: [signal, subflow]}"),
        ("dispatch: {post-activation: ''}", "mtu: 1500"),
        ("controller: ''", "mtu: 1500"),
        (
            "ethernet: {auto-negotiation: true, speed: 1000, duplex: full}",
            "ethernet: {auto-negotiation: true, speed: 10000}",
        ),
        (
            "802.1x: {identity: a, eap-methods: [peap], password: '<_password_hid_by_nmstate>'}",
            "802.1x: {identity: a, eap-methods: [peap], password: b}",
        ),
        ("ipv4: {enabled: true, dhcp: false, address: []}", "ipv4: {enabled: false}"),
        (
            "ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: '2001:db8::1', prefix-length: 64}]}",
            "ipv6: {enabled: true, address: [{ip: '2001:db8::1', prefix-length: 64}]}",
        ),
        ("ethernet: {sr-iov: {total-vfs: 2, vfs: []}}", "ethernet: {sr-iov: {total-vfs: 2}}"),
    ] {
        assert!(holds(&card(desired), &card(current))?, "{desired}");
    }
    Ok(())
}

#[test]
fn alternative_names_of_others_are_no_difference() -> Result {
    let names = |list: &str| card(&format!("alt-names: [{list}]"));
    let (uplink, gone) = ("{name: uplink}", "{name: old, state: absent}");
    for (desired, current, is_there) in [
        (uplink, "{name: uplink}", true),
        (uplink, "{name: enp1s0}, {name: uplink}", true),
        (uplink, "{name: enp1s0}", false),
        (gone, "{name: enp1s0}", true),
        (gone, "{name: old}", false),
        ("{name: uplink}, {name: old, state: absent}", "{name: uplink}", true),
        ("{name: uplink}, {name: old, state: absent}", "{name: uplink}, {name: old}", false),
    ] {
        assert_eq!(holds(&names(desired), &names(current))?, is_there, "{desired} in {current}");
    }
    assert!(!holds(&names(uplink), &card("mtu: 1500"))?);
    assert!(holds(&names(gone), &card("mtu: 1500"))?);
    Ok(())
}

#[test]
fn a_bond_may_refuse_options_but_not_its_mode() -> Result {
    let bond = |mode: &str, options: &str| {
        format!(
            "interfaces:\n- {{name: bond0, type: bond, state: up, \
             link-aggregation: {{mode: {mode}, options: {{{options}}}, port: [eno1]}}}}\n"
        )
    };
    let desired = bond("active-backup", "miimon: 100");
    assert!(holds(&desired, &bond("active-backup", "miimon: 0"))?);
    assert!(!holds(&desired, &bond("balance-rr", "miimon: 100"))?);
    Ok(())
}

#[test]
fn what_differs_is_a_difference() -> Result {
    for (desired, current) in [
        ("profile-name: uplink", "mtu: 1500"),
        ("mtu: 9000", "mtu: 1500"),
        (
            "ipv6: {enabled: true, autoconf: true, dhcp: true, token: '::1'}",
            "ipv6: {enabled: true, autoconf: true, dhcp: true}",
        ),
        (
            "802.1x: {identity: a, eap-methods: [peap], password: c}",
            "802.1x: {identity: a, eap-methods: [peap], password: b}",
        ),
        (
            "ipv4: {enabled: true, dhcp: true}",
            "ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.1, prefix-length: 24}]}",
        ),
        (
            "ipv4: {enabled: true, dhcp: false, allow-extra-address: false, address: [{ip: 192.0.2.1, prefix-length: 24}]}",
            "ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.1, prefix-length: 24}, {ip: 192.0.2.9, prefix-length: 32}]}",
        ),
        (
            "ethernet: {sr-iov: {total-vfs: 1, vfs: [{id: 0, trust: true}]}}",
            "ethernet: {sr-iov: {total-vfs: 1, vfs: [{id: 0, trust: false}]}}",
        ),
    ] {
        assert!(!holds(&card(desired), &card(current))?, "{desired}");
    }
    Ok(())
}

/// A bridge with these ports, and OVN's patch port.
fn bridge(options: &str, ports: &str) -> String {
    format!(
        "interfaces:\n\
         - {{name: br-ex, type: ovs-bridge, state: up, bridge: {{{options}port: [{ports}]}}}}\n\
         - {{name: br-ex, type: ovs-interface, state: up}}\n\
         - {{name: eno1, type: ethernet, state: up}}\n\
         - {{name: eno2, type: ethernet, state: up}}\n"
    )
}

#[test]
fn patch_ports_of_ovn_are_no_difference() -> Result {
    let with_patch = bridge("", "{name: br-ex}, {name: eno1}, {name: patch-a}")
        + "- {name: patch-a, type: ovs-interface, state: up, patch: {peer: patch-b}}\n";
    for options in ["", "allow-extra-patch-ports: true, "] {
        assert!(holds(&bridge(options, "{name: eno1}, {name: br-ex}"), &with_patch)?, "{options}");
    }
    let with_port = bridge("", "{name: br-ex}, {name: eno1}, {name: eno2}");
    assert!(!holds(&bridge("", "{name: eno1}, {name: br-ex}"), &with_port)?);
    assert!(holds(
        &bridge("allow-extra-ports: true, ", "{name: eno1}, {name: br-ex}"),
        &with_port
    )?);
    Ok(())
}

#[test]
fn the_profile_of_a_tap_says_nothing_but_addresses_are_compared() -> Result {
    let state = |options: &str, more: &str| {
        format!(
            "interfaces:\n\
             - {{name: br-ex, type: ovs-bridge, state: up, bridge: {{{options}port: [{{name: br-ex}}]}}}}\n\
             - {{name: br-ex, type: ovs-interface, state: up, {more}}}\n"
        )
    };
    let desired = state(
        "",
        "description: uplink, profile-name: external, ipv4: {enabled: true, dhcp: true, auto-route-metric: 48}, \
         ipv6: {enabled: true, dhcp: true, autoconf: true, auto-route-metric: 48}",
    );
    let generated = "ipv4: {enabled: true, dhcp: true, address: [{ip: 192.0.2.7, prefix-length: 24}]}, \
         ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: '2001:db8::7', prefix-length: 64}]}";
    let userspace = "options: {datapath: netdev}, ";
    assert!(holds(&desired, &state(userspace, generated))?);
    assert!(!holds(&desired, &state("options: {datapath: ''}, ", generated))?);
    // Without an address, nothing is known.
    assert!(!holds(&desired, &state(userspace, "ipv4: {enabled: true, dhcp: true}"))?);
    let fixed = |address: &str| {
        format!(
            "ipv4: {{enabled: true, dhcp: false, address: [{{ip: {address}, prefix-length: 24}}]}}"
        )
    };
    assert!(!holds(&state("", &fixed("192.0.2.8")), &state(userspace, generated))?);
    assert!(holds(&state("", &fixed("192.0.2.7")), &state(userspace, generated))?);
    Ok(())
}

#[test]
fn a_card_by_its_mac_address_has_the_kernels_name() -> Result {
    let desired = "interfaces:\n\
         - {name: uplink, type: ethernet, state: up, identifier: mac-address, mac-address: '52:54:00:00:00:0a', \
         ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.1, prefix-length: 24}]}}\n\
         routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.9, next-hop-interface: uplink}]}\n";
    let current = "interfaces:\n\
         - {name: eno1, type: ethernet, state: up, profile-name: uplink, identifier: mac-address, mac-address: '52:54:00:00:00:0A', \
         ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.1, prefix-length: 24}, {ip: 192.0.2.7, prefix-length: 32}]}}\n\
         routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.9, next-hop-interface: eno1, table-id: 254, metric: 100}]}\n";
    assert!(holds(desired, current)?);
    assert!(!holds(desired, &current.replace("192.0.2.9", "192.0.2.8"))?);
    Ok(())
}

#[test]
fn absent_interfaces_are_a_difference_as_long_as_they_are_there() -> Result {
    let absent = "interfaces: [{name: bond0, type: bond, state: absent}]\n";
    let bond = "interfaces: [{name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, port: []}}]\n";
    assert!(holds(absent, "interfaces: []\n")?);
    assert!(!holds(absent, bond)?);
    assert!(!holds(bond, "interfaces: []\n")?);
    let down = "interfaces: [{name: eno1, type: ethernet, state: down}]\n";
    assert!(holds(down, &card("mtu: 1500"))?);
    Ok(())
}

#[test]
fn routes_and_rules_are_found_in_any_table() -> Result {
    let route = |more: &str| {
        format!(
            "{{destination: 198.51.100.0/24, next-hop-address: 192.0.2.9, next-hop-interface: eno1{more}}}"
        )
    };
    let state = |key: &str, entry: &str| {
        card("ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.1, prefix-length: 24}]}")
            + &format!("{key}: {{config: [{entry}]}}\n")
    };
    let in_main = state("routes", &route(", table-id: 254, metric: 100"));
    let in_100 = state("routes", &route(", table-id: 100, metric: 100"));
    assert!(holds(&state("routes", &route("")), &in_main)?);
    assert!(
        holds(&state("routes", &route(", metric: 5")), &in_main)?,
        "nmstate leaves metrics out"
    );
    assert!(holds(&state("routes", &route(", table-id: 100")), &in_100)?);
    assert!(!holds(&state("routes", &route(", table-id: 100")), &in_main)?);
    assert!(!holds(&state("routes", &route(", mtu: 1400")), &in_main)?);
    let absent = state("routes", "{state: absent, next-hop-interface: eno1}");
    assert!(!holds(&absent, &in_main)?);
    assert!(holds(&absent, &state("routes", ""))?);
    let rule = |more: &str| {
        state("route-rules", &format!("{{ip-from: 198.51.100.0/24, route-table: 100{more}}}"))
    };
    assert!(holds(&rule(""), &rule(", priority: 30000, family: ipv4"))?);
    assert!(!holds(&rule(", priority: 5"), &rule(", priority: 6"))?);
    assert!(!holds(&rule(", state: absent"), &rule(""))?);
    let other = state("route-rules", "{ip-from: 203.0.113.0/24, route-table: 100}");
    assert!(holds(&rule(", state: absent"), &other)?, "another rule than the absent one");
    assert!(holds(&rule(", priority: 5, family: ipv4"), &rule(", priority: 5"))?);
    Ok(())
}

#[test]
fn the_rest_of_a_state() -> Result {
    let options = |first: &str, second: &str| {
        format!("dns-resolver: {{config: {{server: [192.0.2.1], options: [{first}, {second}]}}}}\n")
    };
    assert!(holds(&options("rotate", "debug"), &options("debug", "rotate"))?);
    assert!(!holds("dns-resolver: {config: {server: [192.0.2.2]}}\n", &options("a", "b"))?);
    assert!(!holds("dns-resolver: {config: {}}\n", &options("debug", "rotate"))?);
    let name = "hostname: {running: worker-0, config: localhost}\n";
    assert!(holds("hostname: {running: worker-0}\n", name)?);
    assert!(!holds("hostname: {running: worker-1}\n", name)?);
    let ids = "ovs-db: {external_ids: {a: b, c: d}, other_config: {}}\n";
    assert!(holds("ovs-db: {external_ids: {a: b}}\n", ids)?);
    assert!(holds("ovs-db: {external_ids: {a: null}}\n", "ovs-db: {external_ids: {c: d}}\n")?);
    assert!(!holds("ovs-db: {external_ids: {a: x}}\n", ids)?);
    Ok(())
}

/// A route or a rule that differs in one key is another one; a key that the document leaves out may have any value.
#[test]
fn each_key_of_a_route_and_of_a_rule_is_compared() -> Result {
    let routes = "destination: 192.0.2.0/24, next-hop-interface: eno1, next-hop-address: 198.51.100.1, table-id: 100, \
                  weight: 2, source: 198.51.100.2, cwnd: 20, initcwnd: 10, initrwnd: 10, mtu: 1400, quickack: true, \
                  advmss: 1300";
    let rules = "ip-from: 192.0.2.0/24, ip-to: 198.51.100.0/24, priority: 100, route-table: 100, fwmark: 5, fwmask: 15, \
                 iif: eno1, suppress-prefix-length: 1, family: ipv4";
    let others = [
        ("destination", "203.0.113.0/24"),
        ("next-hop-interface", "eno2"),
        ("next-hop-address", "198.51.100.9"),
        ("ip-from", "203.0.113.0/24"),
        ("ip-to", "203.0.113.0/24"),
        ("source", "198.51.100.9"),
        ("iif", "eno2"),
        ("quickack", "false"),
        ("family", "ipv6"),
    ];
    for (section, keys) in [("routes", routes), ("route-rules", rules)] {
        let one = |keys: &[String]| {
            let cards = ["eno1", "eno2"].map(|name| {
                format!("- {{name: {name}, type: ethernet, state: up, ipv4: {{enabled: true, dhcp: true}}}}\n")
            });
            format!(
                "interfaces:\n{}{section}: {{config: [{{{}}}]}}\n",
                cards.concat(),
                keys.join(", ")
            )
        };
        let keys: Vec<String> = keys.split(", ").map(str::to_owned).collect();
        assert!(holds(&one(&keys), &one(&keys))?, "{section}");
        for (index, key) in keys.iter().enumerate() {
            let name = key.split(": ").next().unwrap_or_default();
            let other = others.iter().find(|(key, _)| *key == name).map_or("7", |(_, other)| other);
            // nmstate refuses addresses of another family than the rule's.
            if name != "family" {
                let mut changed = keys.clone();
                changed[index] = format!("{name}: {other}");
                assert!(!holds(&one(&keys), &one(&changed))?, "{section}: {name}");
            }
            let mut fewer = keys.clone();
            fewer.remove(index);
            // Without a table, a rule is of the main one; a mask needs its mark.
            let is_key =
                ["destination", "next-hop-interface", "route-table", "fwmark"].contains(&name);
            if !is_key {
                assert!(holds(&one(&fewer), &one(&keys))?, "{section} without {name}");
            }
        }
    }
    Ok(())
}

/// nmstate applies each VLAN by itself; the kernel has ranges of them, and settings of a port that the document leaves out.
#[test]
fn trunks_of_a_linux_bridge_hold_in_ranges() -> Result {
    let bridge = |tags: &str, more: &str| {
        format!(
            "interfaces:\n- {{name: eno1, type: ethernet, state: up}}\n\
             - {{name: br-vm, type: linux-bridge, state: up, bridge: {{port: [{{name: eno1{more}, \
             vlan: {{mode: trunk, trunk-tags: [{tags}]}}}}]}}}}\n"
        )
    };
    let (range, stp) = ("{id-range: {min: 2, max: 4094}}", ", stp-hairpin-mode: false");
    let current = |tags: &str| bridge(tags, stp);
    assert!(holds(&bridge(range, ""), &current(range))?);
    let short = "{id-range: {min: 101, max: 102}}, {id: 105}";
    assert!(holds(&bridge("{id: 101}, {id: 102}, {id: 105}", ""), &current(short))?);
    assert!(!holds(&bridge("{id: 101}, {id: 102}, {id: 106}", ""), &current(short))?);
    assert!(!holds(&bridge(range, ""), &current("{id-range: {min: 2, max: 4093}}"))?);
    Ok(())
}

#[test]
fn keys_with_two_names_are_compared_by_either() -> Result {
    let feature = |key: &str, is_on| card(&format!("ethtool: {{feature: {{{key}: {is_on}}}}}"));
    for key in ["rx-checksum", "rx-checksumming"] {
        assert!(holds(&feature(key, true), &feature("rx-checksum", true))?, "{key}");
        assert!(!holds(&feature(key, false), &feature("rx-checksum", true))?, "{key}");
    }
    let mask = |key: &str, value: u16| {
        format!(
            "interfaces:\n- {{name: br-vm, type: linux-bridge, state: up, \
             bridge: {{options: {{{key}: {value}}}, port: []}}}}\n"
        )
    };
    for key in ["group-fwd-mask", "group-forward-mask"] {
        assert!(holds(&mask(key, 8), &mask("group-fwd-mask", 8))?, "{key}");
        assert!(!holds(&mask(key, 8), &mask("group-fwd-mask", 0))?, "{key}");
    }
    Ok(())
}

/// The kernel keeps no interface of an IPv4 route that drops packets.
#[test]
fn an_absent_route_that_drops_packets_is_there_without_its_interface() -> Result {
    let route = |destination: &str, more: &str| {
        let entry = format!("destination: '{destination}', route-type: blackhole{more}");
        card("ipv4: {enabled: true, dhcp: true}") + &format!("routes: {{config: [{{{entry}}}]}}\n")
    };
    let absent = ", state: absent, next-hop-interface: eno1";
    assert!(!holds(&route("198.51.100.0/24", absent), &route("198.51.100.0/24", ""))?);
    assert!(holds(&route("2001:db8::/64", absent), &route("2001:db8::/64", ""))?);
    assert!(holds(&route("198.51.100.0/24", absent), &route("203.0.113.0/24", ""))?);
    Ok(())
}

#[test]
fn what_the_kernel_sets_by_itself_is_no_difference() -> Result {
    let tunnel = |flags: &str| {
        format!(
            "interfaces:\n- {{name: tun0, type: ip-tunnel, state: up, ip-tunnel: {{mode: ip6ip6, local: '2001:db8::1', \
             remote: '2001:db8::2', ip6tun-flags: [{flags}]}}}}\n"
        )
    };
    assert!(holds(&tunnel("use-orig-tclass"), &tunnel("cap-xmit, use-orig-tclass, cap-rcv"))?);
    assert!(!holds(&tunnel("use-orig-tclass"), &tunnel("cap-xmit"))?);
    Ok(())
}

#[test]
fn name_servers_that_the_document_leaves_out_may_be_there() -> Result {
    let dns = |config: &str| format!("dns-resolver: {{config: {{{config}}}}}\n");
    let both = dns("server: [192.0.2.1], search: [example.org]");
    assert!(holds(&dns("search: [example.org]"), &both)?);
    assert!(holds(&dns("server: [192.0.2.1]"), &both)?);
    assert!(!holds(&dns("search: [example.com]"), &both)?);
    let options = "options: [rotate, debug]";
    let other = dns("server: [192.0.2.1], options: [debug, rotate]");
    assert!(holds(&dns(options), &other)?);
    // Two profiles with the same entries.
    let twice = dns(
        "server: [192.0.2.1, 192.0.2.2, 192.0.2.1, 192.0.2.2], search: [example.org, example.org]",
    );
    assert!(holds(&dns("server: [192.0.2.1, 192.0.2.2], search: [example.org]"), &twice)?);
    assert!(!holds(&dns("server: [192.0.2.2, 192.0.2.1]"), &twice)?);
    // nmstate's spelling of an address.
    let spelled = |server: &str| dns(&format!("server: ['{server}'], search: [example.org]"));
    let once_more = dns("server: ['2001:db8::53', '2001:db8::53'], search: [example.org]");
    assert!(holds(&spelled("2001:DB8:0::53"), &once_more)?);
    assert!(!holds(&spelled("2001:DB8::54"), &once_more)?);
    Ok(())
}

#[test]
fn an_address_that_is_given_twice_is_there_once() -> Result {
    let address = "{ip: 192.0.2.10, prefix-length: 24}";
    let with =
        |list: &str| card(&format!("ipv4: {{enabled: true, dhcp: false, address: [{list}]}}"));
    let twice = with(&format!("{address}, {address}"));
    assert!(holds(&twice, &with(address))?);
    assert!(!holds(&twice, &with("{ip: 192.0.2.11, prefix-length: 24}"))?);
    Ok(())
}

#[test]
fn a_difference_within_the_settings_of_a_type_is_one() -> Result {
    for (kind, key, want, have) in [
        ("vlan", "vlan", "base-iface: eno1, id: 5", "base-iface: eno2, id: 5"),
        (
            "vxlan",
            "vxlan",
            "base-iface: eno1, id: 5, remote: 192.0.2.9",
            "base-iface: eno1, id: 5, remote: 192.0.2.8",
        ),
        ("mac-vlan", "mac-vlan", "base-iface: eno1, mode: bridge", "base-iface: eno1, mode: vepa"),
        ("mac-vtap", "mac-vtap", "base-iface: eno1, mode: bridge", "base-iface: eno1, mode: vepa"),
        ("vrf", "vrf", "port: [eno1], route-table-id: 5", "port: [eno1], route-table-id: 6"),
        ("ipvlan", "ipvlan", "base-iface: eno1, mode: l2", "base-iface: eno1, mode: l3"),
        (
            "macsec",
            "macsec",
            "base-iface: eno1, encrypt: true, port: 1, validation: strict, send-sci: true",
            "base-iface: eno1, encrypt: true, port: 2, validation: strict, send-sci: true",
        ),
        (
            "hsr",
            "hsr",
            "port1: eno1, port2: eno2, multicast-spec: 40, protocol: prp",
            "port1: eno1, port2: eno2, multicast-spec: 41, protocol: prp",
        ),
    ] {
        let with = |settings: &str| {
            format!(
                "interfaces:\n- {{name: eno1, type: ethernet, state: up}}\n\
                 - {{name: eno2, type: ethernet, state: up}}\n\
                 - {{name: v5, type: {kind}, state: up, {key}: {{{settings}}}}}\n"
            )
        };
        assert!(!holds(&with(want), &with(have))?, "{kind}");
        assert!(holds(&with(want), &with(want))?, "{kind}");
    }
    Ok(())
}

/// The card is gone, or its profile is: NetworkManager leaves it alone.
#[test]
fn a_card_that_nmstate_does_not_see_is_lacking() -> Result {
    let bridge = "- {name: br-ex, type: ovs-bridge, state: up, bridge: {port: [{name: eno1}, {name: br-ex}]}}\n\
                  - {name: br-ex, type: ovs-interface, state: up, ipv4: {enabled: true, dhcp: true}}\n";
    let desired = NetworkState::new_from_yaml(&(card("mtu: 1500") + bridge))?;
    for card in ["", "- {name: eno1, type: ethernet, state: ignore, mtu: 1500}\n"] {
        let current = NetworkState::new_from_yaml(&format!("interfaces:\n{card}{bridge}"))?;
        let lacking = missing(&desired, &current)?;
        let names: Vec<&str> = lacking.interfaces.iter().map(nmstate::Interface::name).collect();
        assert_eq!(names, ["eno1"], "{card}");
    }
    // A document that needs no card of it.
    let absent = NetworkState::new_from_yaml(&card("mtu: 1500").replace("up", "absent"))?;
    let none = NetworkState::new_from_yaml(&format!("interfaces:\n{bridge}"))?;
    assert!(missing(&absent, &none)?.is_empty());
    Ok(())
}
