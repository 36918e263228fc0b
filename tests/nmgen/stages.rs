//! The two stages of a host: the document of its initramfs, and the one of the running node.

use crate::fleet::{messages, told_of};

/// Contradictions between the two stages of a host about one NIC.
#[tests::case]
fn the_stages_of_a_host_contradict_each_other_where_their_values_stand() {
    let early = "apiVersion: v1beta1\nkind: AgentConfig\nhosts:\n- hostname: w1.example.com\n  \
        role: worker\n  interfaces: [{name: eno1, macAddress: 52:54:00:00:00:01}]\n  networkConfig:\n    interfaces:\n    \
        - name: eno1\n      type: ethernet\n      \
        ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}\n    routes:\n      \
        config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.254, next-hop-interface: eno1}]\n";
    let node = "interfaces:\n- {name: eno1, type: ethernet}\n\
        - {name: br-ex, type: ovs-bridge, bridge: {port: [{name: eno1}, {name: br-ex}]}}\n\
        - name: br-ex\n  type: ovs-interface\n  ipv4:\n    enabled: true\n    address:\n    \
        - ip: 192.0.2.1\n      prefix-length: 24\nroutes:\n  config:\n  - destination: 0.0.0.0/0\n    \
        next-hop-interface: br-ex\n    next-hop-address: 192.0.2.254\n";
    let with = |from: &str, to: &str| {
        let node = node.replacen(from, to, 1);
        told_of(&[("early.yaml", early), ("node/w1.yml", &node)])
    };
    assert_eq!(with("", ""), [""; 0]);
    assert_eq!(
        with("ip: 192.0.2.1\n", "ip: 192.0.2.2\n"),
        ["stage-address-differs node/w1.yml: 192.0.2.2"]
    );
    assert_eq!(with("length: 24", "length: 23"), ["stage-address-differs node/w1.yml: 23"]);
    assert_eq!(
        with("address: 192.0.2.254", "address: 192.0.2.253"),
        ["stage-gateway-differs node/w1.yml: 192.0.2.253"]
    );
    let tagged = "{name: eno1.7, type: vlan, vlan: {base-iface: eno1, id: 7}}\n- {name: eno1, type: ethernet}";
    let node = node
        .replace("{name: eno1, type: ethernet}", tagged)
        .replace("[{name: eno1}", "[{name: eno1.7}");
    let files = [("early.yaml", early), ("node/w1.yml", &*node)];
    assert_eq!(told_of(&files), ["stage-vlan-differs node/w1.yml: 192.0.2.1"]);
    let expected = "192.0.2.1 is in VLAN 7 here and untagged in the early document (early.yaml:11)";
    assert_eq!(messages(&files), [expected]);
}

/// A document written by hand beside the early one, compared field by field.
#[tests::case]
fn the_stages_of_a_host_differ_where_their_documents_do() {
    let early = "apiVersion: v1beta1\nkind: AgentConfig\nhosts:\n- hostname: w1\n  role: worker\n  \
        interfaces: [{name: eno1, macAddress: 52:54:00:00:00:01}]\n  networkConfig:\n    interfaces:\n    - {name: eno1, type: ethernet}\n    \
        - name: bond0\n      type: bond\n      mtu: 9000\n      mac-address: 52:54:00:00:00:01\n      link-aggregation: {mode: active-backup, port: [eno1]}\n      \
        ipv4: {enabled: true, dhcp: true}\n    dns-resolver: {config: {server: [192.0.2.53]}}\n";
    let node = "interfaces:\n- {name: eno1, type: ethernet}\n\
        - {name: bond0, type: bond, mtu: 9000, mac-address: 52:54:00:00:00:01, link-aggregation: {mode: active-backup, ports: [eno1]}}\n\
        - {name: br-ex, type: ovs-bridge, bridge: {port: [{name: bond0}, {name: br-ex}]}}\n\
        - {name: br-ex, type: ovs-interface, mtu: 9000, copy-mac-from: bond0, ipv4: {enabled: yes, dhcp: true, auto-route-metric: 48}}\n\
        dns-resolver: {config: {server: [192.0.2.53]}}\n";
    let with = |from: &str, to: &str| {
        assert!(node.contains(from));
        told_of(&[("early.yaml", early), ("node/w1.yml", &node.replacen(from, to, 1))])
    };
    let differs = ["stages-differ node/w1.yml"];
    let plain = |found: Vec<String>| -> Vec<String> {
        found
            .iter()
            .map(|finding| finding.split(": ").next().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(with("eno1", "eno1"), [""; 0]);
    assert_eq!(plain(with("192.0.2.53", "192.0.2.54")), differs);
    assert_eq!(plain(with("ovs-interface, mtu: 9000", "ovs-interface, mtu: 1500")), differs);
    assert_eq!(plain(with("mode: active-backup", "mode: 802.3ad")), differs);
    let first = |node: &str| messages(&[("early.yaml", early), ("node/w1.yml", node)]).remove(0);
    let less = first(&node.replace("dns-resolver: {config: {server: [192.0.2.53]}}\n", ""));
    assert!(less.ends_with(": - dns-resolver: {config: {server: [192.0.2.53]}}"), "{less}");
    let other = first(&node.replace("192.0.2.53", "192.0.2.54"));
    assert!(other.ends_with("192.0.2.53, and 1 other difference"), "{other}");
    assert_eq!(
        plain(with("- {name: eno1", "- {name: eno3, type: ethernet}\n- {name: eno1")),
        differs
    );
}

#[tests::case]
fn each_card_is_compared_with_itself() {
    let cards = "- {name: eno1, type: ethernet, ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}}\n\
        - {name: eno2, type: ethernet, ipv4: {enabled: true, address: [{ip: 198.51.100.1, prefix-length: 24}]}}\n";
    let early = format!(
        "apiVersion: v1beta1\nkind: AgentConfig\nhosts:\n- hostname: w1\n  networkConfig:\n    interfaces:\n{}",
        cards.replace("- {", "    - {")
    );
    let with = |from: &str, to: &str| {
        let node = format!("interfaces:\n{cards}").replace(from, to);
        let found = told_of(&[("early.yaml", &early), ("node/w1.yml", &node)]);
        found.into_iter().filter(|finding| finding.starts_with("stage-")).collect::<Vec<_>>()
    };
    assert_eq!(with("", ""), [""; 0]);
    let [found] = &with("198.51.100.1,", "198.51.100.2,")[..] else { unreachable!("one finding") };
    assert!(found.starts_with("stage-address-differs node/w1.yml: 198.51.100.2"), "{found}");
}

/// An error by itself; the comparison has to end nevertheless.
#[tests::case]
fn interfaces_in_a_cycle_are_compared_too() {
    let cycle = "{name: one, type: vlan, vlan: {base-iface: two, id: 5}, ipv4: {enabled: true, \
        address: [{ip: 192.0.2.1, prefix-length: 24}]}}, {name: two, type: vlan, vlan: {base-iface: one, id: 6}}";
    let early = format!(
        "apiVersion: v1beta1\nkind: AgentConfig\nhosts:\n- hostname: w1\n  networkConfig: {{interfaces: [{cycle}]}}\n"
    );
    let node = format!("interfaces: [{cycle}]\n");
    let found = told_of(&[("early.yaml", &early), ("node/w1.yml", &node)]);
    assert_eq!(
        found.iter().filter(|finding| finding.starts_with("interface-cycle")).count(),
        2,
        "{found:?}"
    );
}
