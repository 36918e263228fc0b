mod addresses;
mod names;
mod replacing;
mod wants;

use nmstate::NetworkState;

use super::{Parsed, State, rules};
use crate::model::{LinkRef, Mac};

const BR_EX: &str = "
interfaces:
- name: eno1
  type: ethernet
  state: up
  ipv4: {enabled: false}
  ipv6: {enabled: false}
- name: br-ex
  type: ovs-bridge
  state: up
  copy-mac-from: eno1
  bridge:
    port: [{name: eno1}, {name: br-ex}]
- name: br-ex
  type: ovs-interface
  state: up
  copy-mac-from: eno1
  ipv4:
    enabled: true
    dhcp: false
    address: [{ip: 192.0.2.10, prefix-length: 24}]
  ipv6: {enabled: false}
dns-resolver: {config: {server: [192.0.2.1]}}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: br-ex}
";

const DUMMY: &str = "
interfaces:
- name: d0
  type: dummy
  state: up
  ipv4:
    enabled: true
    address: [{ip: 192.0.2.10, prefix-length: 24}]
";

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

fn state(text: &str) -> Result<State> {
    Ok(Parsed::new(text)?.resolve(None)?)
}

#[test]
fn the_mtu_of_a_migration_is_no_difference_on_br_ex_and_its_card() -> Result {
    let with_mtu = |card: u32, bridge: u32, storage: u32| {
        let text = BR_EX
            .replace("  copy-mac-from: eno1\n", "")
            .replace("type: ethernet\n", &format!("type: ethernet\n  mtu: {card}\n"))
            .replace("type: ovs-interface\n", &format!("type: ovs-interface\n  mtu: {bridge}\n"));
        let other = format!("- {{name: eno2, type: ethernet, state: up, mtu: {storage}}}\n");
        state(&text.replace(
            "- name: br-ex\n  type: ovs-bridge",
            &(other + "- name: br-ex\n  type: ovs-bridge"),
        ))
    };
    let desired = with_mtu(1500, 1500, 1500)?;
    for (current, is_same) in [
        // Before the script, in its middle, after it.
        (with_mtu(1500, 1500, 1500)?, true),
        (with_mtu(1500, 1400, 1500)?, true),
        (with_mtu(1400, 1400, 1500)?, true),
        // Not by the script.
        (with_mtu(1400, 1400, 1400)?, false),
        (with_mtu(1300, 1400, 1500)?, false),
    ] {
        let current = current.without_mtu(1400, &["br-ex", "br-ex1"], &desired);
        assert_eq!(desired.missing_in(&current)?.is_none(), is_same, "{current:?}");
    }
    Ok(())
}

#[test]
fn wants_of_br_ex() -> Result {
    let wants = state(BR_EX)?.wants();
    assert_eq!(wants.needed, [LinkRef::Name("eno1".to_owned())]);
    assert!(wants.ovs);
    assert_eq!(wants.bridges, ["br-ex"]);
    assert_eq!(wants.addresses.len(), 1);
    assert_eq!(wants.gateways[0].ip.to_string(), "192.0.2.1");
    assert_eq!(wants.name_servers.len(), 1);
    Ok(())
}

#[test]
fn undeclared_ports_and_base_interfaces_are_needed() -> Result {
    let wants =
        state("interfaces: [{name: v, type: vlan, state: up, vlan: {base-iface: eno9, id: 5}}]")?
            .wants();
    assert_eq!(wants.needed, [LinkRef::Name("eno9".to_owned())]);
    // nmstate makes an internal port where there is no such card.
    let wants = state(
        "interfaces: [{name: br1, type: ovs-bridge, state: up, bridge: {port: [{name: br1}, {name: ovs0}]}}]",
    )?
    .wants();
    assert_eq!((wants.needed, wants.awaited), (Vec::new(), vec!["ovs0".to_owned()]));
    Ok(())
}

const ON_BOND: &str = "
interfaces:
- {name: bond0, type: bond, state: up}
- {name: br-ex, type: ovs-bridge, state: up, bridge: {port: [{name: bond0}, {name: br-ex}]}}
- {name: br-ex, type: ovs-interface, state: up, copy-mac-from: bond0}
- {name: dummy0, type: dummy, state: up, copy-mac-from: bond0}
";

fn macs(permanent: Option<&str>) -> super::Macs {
    super::Macs {
        permanent: permanent.and_then(Mac::parse),
        present: Mac::parse("52:54:00:00:00:0a"),
    }
}

#[test]
fn a_copied_address_is_resolved_before_the_bond_gets_another_one() -> Result {
    let desired =
        state(ON_BOND)?.with_links(|_| None, |link| (link == "bond0").then(|| macs(None)));
    let now = "interfaces:\n\
        - {name: bond0, type: bond, state: up, mac-address: '52:54:00:00:00:0B'}\n\
        - {name: br-ex, type: ovs-bridge, state: up, bridge: {port: [{name: bond0}, {name: br-ex}]}}\n\
        - {name: dummy0, type: dummy, state: up}\n\
        - {name: br-ex, type: ovs-interface, state: up, mac-address: '52:54:00:00:00:0A'}\n";
    assert!(desired.missing_in(&state(now)?)?.is_none());
    // The resolved state also counts later.
    let later = state(ON_BOND)?.with_links_of(&state(&desired.to_yaml()?)?);
    assert!(later.missing_in(&state(now)?)?.is_none());
    let other = state(ON_BOND)?.with_links(|_| None, |_| Some(macs(Some("52:54:00:00:00:0c"))));
    assert!(other.missing_in(&state(now)?)?.is_some(), "the permanent address goes first");
    Ok(())
}

#[test]
fn the_key_of_an_ovs_bridge_is_the_one_of_its_interface() -> Result {
    let on_bridge = ON_BOND
        .replace(
            "name: br-ex, type: ovs-bridge, state: up",
            "name: br-ex, type: ovs-bridge, state: up, copy-mac-from: bond0",
        )
        .replace("ovs-interface, state: up, copy-mac-from: bond0", "ovs-interface, state: up");
    let resolve = |text: &str| -> Result<State> {
        Ok(state(text)?.with_links(|_| None, |_| Some(macs(None))))
    };
    let desired = resolve(&on_bridge)?;
    assert_eq!(desired.to_yaml()?.matches("52:54:00:00:00:0A").count(), 1);
    let later = state(&on_bridge)?.with_links_of(&state(&desired.to_yaml()?)?);
    assert_eq!(later.to_yaml()?, desired.to_yaml()?);
    // An earlier version has put it in force without the address.
    let earlier = state(&on_bridge)?.with_links_of(&state(&state(&on_bridge)?.to_yaml()?)?);
    assert_eq!(earlier.to_yaml()?.matches("52:54").count(), 0);
    // An address of its own goes first.
    let own = on_bridge.replace(
        "ovs-interface, state: up",
        "ovs-interface, state: up, mac-address: '52:54:00:00:00:05'",
    );
    let text = resolve(&own)?.to_yaml()?;
    assert!(text.contains("52:54:00:00:00:05") && !text.contains("52:54:00:00:00:0A"), "{text}");
    Ok(())
}

/// nmstate's order: the permanent address, the document's, the present one.
#[test]
fn a_copied_address_is_the_documents_before_the_present_one() -> Result {
    let own = "- {name: bond0, type: bond, state: up, mac-address: '52:54:00:00:00:05'}";
    let text = ON_BOND.replace("- {name: bond0, type: bond, state: up}", own);
    let desired = state(&text)?.with_links(|_| None, |_| Some(macs(None)));
    assert_eq!(desired.to_yaml()?.matches("52:54:00:00:00:05").count(), 2);
    Ok(())
}

#[test]
fn what_is_shown_has_no_secrets() -> Result {
    let text = "interfaces: [{name: eno1, type: ethernet, state: up, \
                802.1x: {identity: node, eap-methods: [peap], password: hunter2}}]";
    let shown = state(text)?.to_shown_yaml()?;
    assert!(shown.contains("identity: node") && !shown.contains("hunter2"), "{shown}");
    Ok(())
}

#[test]
fn a_policy_with_captures_is_known_by_its_types_before_it_is_resolved() -> Result {
    let policy = |kind: &str| {
        format!(
            "# unlike ovs-configuration\n\
             capture: {{card: interfaces.name == \"eno1\"}}\n\
             desiredState: {{interfaces: [{{name: br-ex, type: {kind}, state: up}}]}}\n"
        )
    };
    for (kind, is_ovs) in [("ovs-bridge", true), ("linux-bridge", false)] {
        let text = policy(kind);
        let wants = Parsed::new(&text)?.first_wants();
        assert_eq!((wants.ovs, wants.needed), (is_ovs, Vec::new()), "{kind}");
    }
    let captured = "capture: {bridges: interfaces.type == \"ovs-bridge\"}\ndesiredState: {}\n";
    assert!(Parsed::new(captured)?.first_wants().ovs);
    let wants = Parsed::new(BR_EX)?.first_wants();
    assert_eq!((wants.ovs, wants.needed.len()), (true, 1));
    Ok(())
}

#[test]
fn a_link_that_is_not_there_is_left_to_nmstate() -> Result {
    let desired = state(ON_BOND)?.with_links(|_| None, |_| None);
    assert!(!desired.to_yaml()?.contains("mac-address"));
    Ok(())
}

#[test]
fn an_address_of_someone_else_is_no_drift_but_a_lost_one_is() -> Result {
    let desired = state(DUMMY)?;
    let with_vip = state(&DUMMY.replace(
        "address: [",
        "dhcp: false\n    address: [{ip: 192.0.2.99, prefix-length: 32}, ",
    ))?;
    assert!(desired.missing_in(&with_vip)?.is_none());
    let lost = state(&DUMMY.replace("192.0.2.10", "192.0.2.99"))?;
    let diff = desired.missing_in(&lost)?;
    assert_eq!(diff.map(|d| d.subjects()), Some(vec!["d0 (dummy): ipv4".to_owned()]));
    Ok(())
}

#[test]
fn a_link_local_address_of_the_kernels_is_no_drift() -> Result {
    let dual = DUMMY.replace(
        "  ipv4:",
        "  ipv6:\n    enabled: true\n    dhcp: false\n    autoconf: false\n    address: [{ip: '2001:db8::10', prefix-length: 64}]\n  ipv4:",
    );
    let current = dual.replace(
        "address: [{ip: '2001",
        "address: [{ip: 'fe80::1', prefix-length: 64}, {ip: '2001",
    );
    assert!(state(&dual)?.missing_in(&state(&current)?)?.is_none());
    Ok(())
}

#[test]
fn a_default_route_with_filled_in_defaults_is_no_drift() -> Result {
    let desired = state(
        "routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: d0}]}",
    )?;
    let current = state(&format!(
        "{DUMMY}routes: {{config: [{{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: d0, metric: 48, table-id: 254}}]}}"
    ))?;
    assert!(desired.missing_in(&current)?.is_none());
    assert!(desired.missing_in(&state(DUMMY)?)?.is_some());
    Ok(())
}

#[test]
fn replacing_takes_away_what_is_no_longer_mentioned() -> Result {
    let yaml = state(DUMMY)?.replacing(&state(BR_EX)?, &[]).to_yaml()?;
    assert_eq!(yaml.matches("state: absent").count(), 3, "{yaml}");
    assert!(yaml.contains("dns-resolver"), "{yaml}");
    Ok(())
}

#[test]
fn replacing_takes_away_a_changed_gateway() -> Result {
    let new = BR_EX.replace("next-hop-address: 192.0.2.1", "next-hop-address: 192.0.2.2");
    let yaml = state(&new)?.replacing(&state(BR_EX)?, &[]).to_yaml()?;
    assert!(yaml.contains("next-hop-address: 192.0.2.1"), "{yaml}");
    assert!(yaml.contains("next-hop-address: 192.0.2.2"), "{yaml}");
    assert_eq!(yaml.matches("state: absent").count(), 1, "{yaml}");
    Ok(())
}

#[test]
fn replacing_by_the_same_changes_nothing() -> Result {
    assert!(!state(BR_EX)?.replacing(&state(BR_EX)?, &[]).to_yaml()?.contains("absent"));
    Ok(())
}

#[test]
fn policies_are_resolved_against_a_given_state() -> Result {
    let policy = "
capture:
  nic: interfaces.name == \"d0\"
desiredState:
  interfaces:
  - name: d0
    type: dummy
    state: up
    mtu: 1400
";
    let parsed = Parsed::new(policy)?;
    assert!(parsed.needs_current());
    let desired = parsed.resolve(Some(&state(DUMMY)?))?;
    assert_eq!(desired.subjects(), ["d0 (dummy): mtu"]);
    assert!(!parsed.captures_alternative_names());
    let by_alternative_name = policy.replace("interfaces.name", "interfaces.alt-names.name");
    assert!(Parsed::new(&by_alternative_name)?.captures_alternative_names());
    Ok(())
}

#[test]
fn says_why_a_document_is_neither() {
    for text in ["interfaces: [{name: a, type: bond, mtu: [1]}]", "[", "capture: [1"] {
        assert!(Parsed::new(text).is_err(), "{text}");
    }
}

const EARLY: &str = "
interfaces:
- name: eno1
  type: ethernet
  state: up
- name: br-ex
  type: ovs-bridge
  state: up
  bridge:
    port: [{name: br-ex}]
- name: br-ex
  type: ovs-interface
  state: up
  mtu: 1500
  mac-address: 72:54:DF:75:B6:8D
  ipv4: {enabled: true, dhcp: false, address: []}
  ipv6: {enabled: false}
dns-resolver: {config: {server: [192.0.2.1]}}
";

const KERNEL: &str = "
interfaces:
- name: eno1
  type: ethernet
  state: up
- name: br-ex
  type: ovs-bridge
  state: up
  bridge:
    port: [{name: br-ex}, {name: eno1}]
- name: br-ex
  type: ovs-interface
  state: up
  mac-address: 52:54:00:00:00:01
  ipv4:
    enabled: true
    address: [{ip: 192.0.2.10, prefix-length: 24}]
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: br-ex}
";

#[test]
fn newer_look_brings_what_came_since() -> Result {
    let desired = state(BR_EX_UP)?;
    let now = state(EARLY)?.with_newer(&state(KERNEL)?, &desired).ok_or("br-ex is gone")?;
    let text = now.to_yaml()?;
    for word in ["ip: 192.0.2.10", "- name: eno1", "next-hop-address: 192.0.2.1", "mtu: 1500"] {
        assert!(text.contains(word), "{word} in {text}");
    }
    assert!(desired.missing_in(&now)?.is_none());
    assert!(desired.missing_in(&state(EARLY)?)?.is_some());
    Ok(())
}

#[test]
fn newer_look_counts_where_something_went() -> Result {
    // The address and the port are gone in the newer state.
    let desired = state(BR_EX_UP)?;
    let before = state(EARLY)?.with_newer(&state(KERNEL)?, &desired).ok_or("br-ex is gone")?;
    let now = before.with_newer(&state(EARLY)?, &desired).ok_or("br-ex is gone")?;
    assert!(desired.missing_in(&now)?.is_some());
    // Only interfaces of the document count.
    let gone = KERNEL.replace("name: eno1\n  type: ethernet", "name: eno2\n  type: ethernet");
    assert!(state(EARLY)?.with_newer(&state(&gone)?, &desired).is_some());
    assert!(state(EARLY)?.with_newer(&state(&gone)?, &state(BR_EX)?).is_none());
    Ok(())
}

/// [`BR_EX`] for comparison: nmstate removes `copy-mac-from` when it applies.
const BR_EX_UP: &str = "
interfaces:
- name: br-ex
  type: ovs-bridge
  state: up
  bridge:
    port: [{name: br-ex}, {name: eno1}]
- name: br-ex
  type: ovs-interface
  state: up
  mac-address: 52:54:00:00:00:01
  ipv4:
    enabled: true
    dhcp: false
    address: [{ip: 192.0.2.10, prefix-length: 24}]
dns-resolver: {config: {server: [192.0.2.1]}}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: br-ex}
";

#[test]
fn rules_differ_from_the_same_current_ones() -> Result {
    let text = "{interfaces: [], route-rules: {config: [{ip-from: 192.0.2.10/32, route-table: 200, priority: 1000}]}}";
    let State(current) = state(text)?;
    let mut desired = current.clone();
    assert!(!rules::needs_current(&desired));
    rules::store_always(&mut desired, None);
    assert_ne!(desired.rules, current.rules);
    let rules = desired.rules.config.unwrap_or_default();
    assert!(
        rules.iter().all(|rule| current.rules.config.iter().flatten().any(|other| other == rule))
    );
    Ok(())
}

/// nmstate gives each rule without a priority, and each copy of one, the next number.
#[test]
fn a_rule_without_a_priority_is_repeated_with_the_one_that_it_keeps() -> Result {
    let State(without) = state("{route-rules: {config: [{ip-from: 192.0.2.10, fwmark: 32}]}}")?;
    assert!(rules::needs_current(&without) && !rules::needs_current(&NetworkState::new()));
    let priorities = |current: &str| -> Result<Vec<Option<i64>>> {
        let State(current) = state(&format!("{{route-rules: {{config: [{current}]}}}}"))?;
        let mut desired = without.clone();
        rules::store_always(&mut desired, Some(&current));
        Ok(desired.rules.config.unwrap_or_default().iter().map(|rule| rule.priority).collect())
    };
    let kept =
        "{family: ipv4, ip-from: 192.0.2.10/32, fwmark: 0x20, route-table: 254, priority: 30000}";
    assert_eq!(priorities(kept)?, [None, Some(30000)]);
    assert_eq!(priorities("{ip-from: 192.0.2.11/32, fwmark: 0x20, priority: 30000}")?, [None]);
    assert_eq!(priorities("")?, [None]);
    Ok(())
}

/// nmstate gives a bridge without ports an interface of its own name.
#[test]
fn an_interface_without_a_type_has_the_one_from_before_the_change() -> Result {
    let before = "interfaces:\n- {name: ovs0, type: ovs-bridge, state: up, bridge: {port: [{name: eno1}]}}\n\
                  - {name: eno1, type: ethernet, state: up}\n";
    let after = "interfaces:\n- {name: ovs0, type: ovs-bridge, state: up, bridge: {port: [{name: ovs0}]}}\n\
                 - {name: ovs0, type: ovs-interface, state: up}\n\
                 - {name: eno1, type: ethernet, state: up}\n";
    let document = "interfaces: [{name: ovs0, state: up, bridge: {port: []}}]";
    let desired = state(document)?;
    assert!(desired.lacks_types());
    let resolved = desired.with_types_of(&state(before)?);
    assert!(!resolved.lacks_types());
    assert!(resolved.missing_in(&state(after)?)?.is_none());
    assert!(resolved.missing_in(&state(before)?)?.is_some());
    // It is the later drift's too.
    let later = state(document)?.with_links_of(&state(&resolved.to_yaml()?)?);
    assert!(later.missing_in(&state(after)?)?.is_none());
    // Where several have the name, or none, nmstate judges.
    assert!(state(document)?.with_types_of(&state(after)?).lacks_types());
    assert!(state(document)?.with_types_of(&State::default()).lacks_types());
    Ok(())
}

/// A transaction awaits several of these below one another, on a stack of 8 MiB.
#[test]
fn a_call_of_nmstate_is_small_in_its_callers() {
    let (kernel, desired) = (State::retrieve_kernel(), State::default());
    assert!(size_of_val(&kernel) <= 4096, "{}", size_of_val(&kernel));
    let apply = desired.apply_uncommitted(1);
    assert!(size_of_val(&apply) <= 8192, "{}", size_of_val(&apply));
}
