//! The document of a plan, and what it cannot say.

use nmgen::{Reading, diagnostic::Severity, source::Source};

use super::{
    kinds::nodes,
    node::{dhcp, fixed, node, profile, texts},
};
use crate::{
    bridge::plan::BridgePlan,
    model::{Profile, connection::Value},
    state::Parsed,
};

fn losses(plan: &BridgePlan) -> Vec<String> {
    plan.losses.iter().map(|loss| format!("{} of {}", loss.property, loss.profile)).collect()
}

/// With every property but IP the node's default.
fn auto(with: impl FnOnce(Profile) -> Profile) -> Vec<String> {
    let profile = profile("eno1", "802-3-ethernet", "eno1").with("ipv4", "method", "auto");
    losses(&node(with(profile)).planned())
}

#[test]
fn every_document_passes_the_checks_and_is_nmstates() {
    for (name, node) in nodes() {
        let text = node.planned().document;
        let source = Source { name: name.into(), text: text.as_str().into() };
        let reading = Reading::parse(&source).expect("YAML");
        let faults: Vec<_> = reading
            .check()
            .into_iter()
            .filter(|fault| fault.rule.severity == Severity::Error)
            .map(|fault| fault.one_line())
            .collect();
        assert!(faults.is_empty(), "{name}: {faults:?}\n{text}");
        let wants = Parsed::new(&text).expect("NMState").resolve(None).expect("a state").wants();
        assert!(wants.ovs && wants.bridges.contains(&"br-ex".to_owned()), "{name}");
    }
}

#[test]
fn with_dhcp() {
    let plan = node(dhcp("eno1").with("ipv4", "dhcp-client-id", "mac")).planned();
    assert_eq!(
        plan.document,
        "\
# br-ex on eno1: it has the first default route, via 192.0.2.1
interfaces:
- name: eno1
  type: ethernet
  state: up
  mtu: 1500
  mac-address: 52:54:00:00:00:01
  ipv4:
    enabled: false
  ipv6:
    enabled: false
- name: br-ex
  type: ovs-bridge
  state: up
  bridge:
    port:
    - name: eno1
    - name: br-ex
- name: br-ex
  type: ovs-interface
  state: up
  mtu: 1500
  mac-address: 52:54:00:00:00:01
  wait-ip: ipv4
  ipv4:
    enabled: true
    dhcp: true
    dhcp-client-id: ll
    auto-route-metric: 48
  ipv6:
    enabled: false
"
    );
}

#[test]
fn with_a_static_address_and_the_datapath_in_userspace() {
    let mut node = node(fixed("eno1").with("ipv4", "dns-data", texts(&["192.0.2.1"])));
    node.datapath_type = Some("netdev".to_owned());
    let document = node.planned().document;
    assert!(document.contains("# name servers of ovs-if-br-ex (ipv4): 192.0.2.1\n"), "{document}");
    assert!(document.contains("  bridge:\n    options:\n      datapath: netdev\n"), "{document}");
    let ip = "    dhcp: false\n    address:\n    - ip: 192.0.2.10\n      prefix-length: 24\n    prefix-route-metric: 48\n";
    assert!(document.contains(ip), "{document}");
    let route = "- destination: 0.0.0.0/0\n    next-hop-address: 192.0.2.1\n    next-hop-interface: br-ex\n    metric: 48\n";
    assert!(document.contains(route), "{document}");
}

#[test]
fn a_bond_has_its_ports_and_the_options_of_nmstate() {
    let nodes = nodes();
    let of = |name: &str| {
        let (_, node) = nodes.iter().find(|(case, _)| *case == name).expect("the case");
        node.planned().document
    };
    let lacp = of("bond-lacp");
    let expected = "  link-aggregation:\n    mode: 802.3ad\n    options:\n      lacp_rate: fast\n      miimon: 100\n    port:\n    - eno1\n    - eno2\n";
    assert!(lacp.contains(expected), "{lacp}");
    assert!(
        lacp.starts_with("# br-ex on bond0: ") && lacp.contains("- name: eno2\n  type: ethernet\n")
    );
    assert!(
        !of("bond-fail-over-mac")
            .contains("- name: bond0\n  type: bond\n  state: up\n  mtu: 1500\n  mac")
    );
    let team = of("team");
    assert!(
        team.contains("# team0 is of type team, which an NMState document cannot have\n"),
        "{team}"
    );
    let unknown = profile("bond", "bond", "eno1").with("ipv4", "method", "auto").with(
        "bond",
        "options",
        Value::TextMap(
            [("mode".into(), "1".into()), ("active_slave".into(), "eno2".into())].into(),
        ),
    );
    let document = node(unknown).planned().document;
    assert!(document.contains("# eno1: the bond's option active_slave=eno2\n"), "{document}");
    assert!(document.contains("mode: active-backup\n"), "{document}");
}

#[test]
fn an_mtu_that_ipv6_cannot_work_with_is_told() {
    let with = |own: Profile, mtu: u32| {
        let document = node(own).but(|link| link.mtu = Some(mtu)).planned().document;
        (document.contains(&format!("mtu: {mtu}\n")), document.contains("which IPv6 needs"))
    };
    let both = || dhcp("eno1").with("ipv6", "method", "auto");
    assert_eq!(with(both(), 1279), (true, true));
    assert_eq!(with(both(), 1280), (true, false));
    assert_eq!(with(dhcp("eno1"), 1279), (true, false));
}

#[test]
fn every_loss_has_a_name() {
    assert_eq!(auto(|profile| profile), Vec::<String>::new());
    for (section, property, value) in [
        ("ipv4", "dhcp-client-id", "stable"),
        ("ipv4", "dhcp-iaid", "ifname"),
        ("ipv6", "dhcp-duid", "stable-uuid"),
        ("ipv6", "dhcp-iaid", "perm-mac"),
    ] {
        let lost = auto(|profile| profile.with(section, property, value));
        assert_eq!(lost, [format!("{section}.{property} of eno1")]);
    }
    let stable =
        |profile: Profile| profile.with("ipv6", "method", "auto").with("ipv6", "addr-gen-mode", 1);
    assert_eq!(auto(stable), ["the stable-privacy address of ipv6.addr-gen-mode of eno1"]);
    assert_eq!(auto(|profile| stable(profile).with("ipv6", "token", "::5")), Vec::<String>::new());
    let of_mode = |mode| auto(|profile| stable(profile).with("ipv6", "addr-gen-mode", mode));
    assert_eq!((of_mode(0), of_mode(2)), (Vec::new(), Vec::new()));
    assert_eq!(of_mode(3), ["the stable-privacy address of ipv6.addr-gen-mode of eno1"]);
    assert_eq!(
        auto(|profile| stable(profile).with("ipv6", "method", "manual")),
        Vec::<String>::new()
    );
    let unknown = Value::Unsupported("a(ii)".to_owned());
    assert_eq!(auto(|profile| profile.with("ipv4", "new", unknown)), ["ipv4.new of eno1"]);
    assert_eq!(auto(|profile| profile.with("novel", "key", "value")), ["novel of eno1"]);
    let loss = &node(dhcp("eno1").with("novel", "key", "value")).planned().losses[0];
    let words = "novel of the profile eno1 does not come along: dayone does not know this section";
    assert_eq!(loss.to_string(), words);
    // A veth is there already.
    assert_eq!(auto(|profile| profile.with("veth", "peer", "other")), Vec::<String>::new());
}

#[test]
fn unsupported_values_are_in_no_profile() {
    let unknown = Value::Unsupported("a(ii)".to_owned());
    let plan = node(dhcp("eno1").with("ipv4", "new", unknown)).planned();
    let local = plan.profile("ovs-if-br-ex").expect("br-ex");
    assert_eq!(local.settings.get("ipv4", "new"), None);
}

#[test]
fn a_vlan_that_loses_its_parent_is_named() {
    let vlan = |parent: &str| profile("vlan", "vlan", "eno1.5").with("vlan", "parent", parent);
    let with = |parent: &str| losses(&node(dhcp("eno1")).idle(vlan(parent)).planned());
    assert_eq!(with("eno1"), Vec::<String>::new());
    assert_eq!(with("uuid-of-eno1"), ["vlan.parent of vlan"]);
}

#[test]
fn the_lease_of_a_permanent_mac_address_stays() {
    let own = dhcp("eno1").with("ipv4", "dhcp-client-id", "perm-mac");
    let plan = node(own.clone()).planned();
    let local = plan.profile("ovs-if-br-ex").expect("br-ex");
    assert_eq!(local.settings.text("ipv4", "dhcp-client-id"), Some("01:52:54:00:00:00:01"));
    assert_eq!(losses(&plan), Vec::<String>::new());
    let plan = node(own).but(|link| link.permanent_mac = None).planned();
    assert_eq!(losses(&plan), ["ipv4.dhcp-client-id of eno1"]);
}

#[test]
fn the_plan_survives_json() -> Result<(), serde_json::Error> {
    for (_, node) in nodes() {
        let plan = node.planned();
        let again: BridgePlan = serde_json::from_str(&serde_json::to_string(&plan)?)?;
        assert_eq!(again, plan);
    }
    Ok(())
}
