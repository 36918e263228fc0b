//! The parts of the document before that a document takes away.

use serde_json::json;

use super::{BR_EX, DUMMY, Result, state};
use crate::model::{OvsMap, OvsSetting};

/// `new` in place of `old`.
fn replaced(new: &str, old: &str) -> Result<serde_json::Value> {
    Ok(serde_json::to_value(state(new)?.replacing(&state(old)?, &[]).0)?)
}

/// Names of the entries below these keys that are to go, each by its value of `key`.
fn absent(state: &serde_json::Value, pointer: &str, key: &str) -> Vec<String> {
    let entries = state.pointer(pointer).and_then(|value| value.as_array()).into_iter().flatten();
    let mut names: Vec<_> = entries
        .filter(|entry| entry["state"] == "absent")
        .map(|entry| entry[key].as_str().unwrap_or_default().to_owned())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn a_card_goes_unless_it_is_a_port_or_a_base_and_an_absent_interface_is_gone_already() -> Result {
    let old = "\
interfaces:
- {name: eno1, type: ethernet, state: up}
- {name: eno2, type: ethernet, state: up}
- {name: eno3, type: ethernet, state: up}
- {name: gone0, type: dummy, state: absent}
- {name: dummy0, type: dummy, state: up}
";
    let new = "\
interfaces:
- {name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eno1]}}
- {name: eno2.5, type: vlan, state: up, vlan: {base-iface: eno2, id: 5}}
";
    let state = replaced(new, old)?;
    assert_eq!(absent(&state, "/interfaces", "name"), ["dummy0", "eno3"], "{state}");
    Ok(())
}

#[test]
fn interfaces_of_one_name_are_told_apart_by_their_type() -> Result {
    let new = "interfaces: [{name: br-ex, type: linux-bridge, state: up}]";
    let state = replaced(new, BR_EX)?;
    // The kernel has one br-ex: an absent one would stand in the place of the new one.
    assert_eq!(absent(&state, "/interfaces", "type"), ["ethernet", "ovs-bridge"]);
    let interfaces = state["interfaces"].as_array().into_iter().flatten();
    let new: Vec<_> = interfaces
        .filter(|interface| interface["state"] == "up")
        .map(|interface| &interface["type"])
        .collect();
    assert_eq!(new, ["linux-bridge"], "{state}");
    Ok(())
}

#[test]
fn routes_and_rules_go_unless_they_stay_or_their_interface_goes() -> Result {
    let old = "\
interfaces:
- {name: eno1, type: ethernet, state: up}
- {name: dummy0, type: dummy, state: up}
routes:
  config:
  - {destination: 198.51.100.0/24, next-hop-address: 192.0.2.1, next-hop-interface: eno1}
  - {destination: 203.0.113.0/24, next-hop-address: 192.0.2.1, next-hop-interface: eno1}
  - {destination: 10.0.0.0/8, next-hop-address: 192.0.2.1, next-hop-interface: dummy0}
  - {destination: 172.16.0.0/12, state: absent}
route-rules:
  config:
  - {ip-from: 192.0.2.0/24, route-table: 10, priority: 100}
  - {ip-from: 198.51.100.0/24, route-table: 11, priority: 101}
  - {ip-from: 203.0.113.0/24, state: absent}
";
    let new = "\
interfaces:
- {name: eno1, type: ethernet, state: up}
routes:
  config:
  - {destination: 198.51.100.0/24, next-hop-address: 192.0.2.1, next-hop-interface: eno1}
route-rules:
  config:
  - {ip-from: 192.0.2.0/24, route-table: 10, priority: 100}
";
    let state = replaced(new, old)?;
    let routes = absent(&state, "/routes/config", "destination");
    assert_eq!(routes, ["203.0.113.0/24"], "{state}");
    assert_eq!(absent(&state, "/route-rules/config", "ip-from"), ["198.51.100.0/24"], "{state}");
    Ok(())
}

#[test]
fn a_route_of_another_metric_goes_and_a_rule_of_another_spelling_stays() -> Result {
    let document = |metric: u32, rule: &str| {
        format!(
            "interfaces: [{{name: eno1, type: ethernet, state: up}}]\n\
             routes: {{config: [{{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, \
             next-hop-interface: eno1, metric: {metric}}}]}}\n\
             route-rules: {{config: [{{{rule}}}]}}\n"
        )
    };
    let rules_of = |new: &str, old: &str| -> Result<_> {
        let state = replaced(&document(100, new), &document(100, old))?;
        Ok(absent(&state, "/route-rules/config", "ip-from").len())
    };
    let long = "ip-from: '2001:DB8:0::1/128'";
    assert_eq!(rules_of("ip-from: '2001:db8::1'", long)?, 0);
    assert_eq!(rules_of("ip-from: '2001:db8::/64'", "ip-from: '2001:DB8:0::/64'")?, 0);
    assert_eq!(rules_of("ip-from: '2001:db8::2'", long)?, 1);
    let old = document(100, "ip-from: 192.0.2.10, route-table: 254");
    for (metric, rule, routes, rules) in [
        (100, "ip-from: 192.0.2.10/32", 0, 0),
        (100, "ip-from: 192.0.2.10, family: ipv4", 0, 0),
        (48, "ip-from: 192.0.2.10, route-table: 254, priority: -1", 1, 0),
        (100, "ip-from: 192.0.2.11", 0, 1),
        (100, "ip-from: 192.0.2.10, priority: 7", 0, 1),
        (100, "ip-from: 192.0.2.10, action: blackhole", 0, 1),
    ] {
        let state = replaced(&document(metric, rule), &old)?;
        assert_eq!(absent(&state, "/routes/config", "destination").len(), routes, "{state}");
        assert_eq!(absent(&state, "/route-rules/config", "ip-from").len(), rules, "{state}");
    }
    Ok(())
}

#[test]
fn name_servers_go_where_only_the_document_before_has_some() -> Result {
    let has_dns = |new: &str, old: &str| -> Result<_> {
        Ok(replaced(new, old)?.pointer("/dns-resolver/config").cloned())
    };
    let empty = "interfaces: [{name: eno1, type: ethernet, state: up}]";
    assert_eq!(has_dns(empty, BR_EX)?, Some(serde_json::json!({})));
    assert_eq!(has_dns(empty, DUMMY)?, None);
    let other = format!("{DUMMY}dns-resolver: {{config: {{server: [192.0.2.9]}}}}\n");
    let kept = has_dns(&other, BR_EX)?.unwrap_or_default();
    assert_eq!(kept["server"], serde_json::json!(["192.0.2.9"]));
    Ok(())
}

#[test]
fn settings_of_open_vswitch_go_unless_somebody_has_changed_them() -> Result {
    let old = "\
ovs-db:
  external_ids: {site: north, rack: '7', gone: x}
  other_config: {n-handler-threads: '2', dpdk-init: 'true'}
";
    let setting = |map, key: &str, value: Option<&str>| OvsSetting {
        map,
        key: key.to_owned(),
        value: value.map(str::to_owned),
    };
    let now = [
        setting(OvsMap::ExternalIds, "site", Some("north")),
        setting(OvsMap::ExternalIds, "rack", Some("8")),
        setting(OvsMap::ExternalIds, "gone", None),
        setting(OvsMap::OtherConfig, "n-handler-threads", Some("2")),
        setting(OvsMap::OtherConfig, "dpdk-init", Some("true")),
    ];
    for (new, expected) in [
        (
            "interfaces: []",
            json!({"external_ids": {"site": null}, "other_config": {"dpdk-init": null, "n-handler-threads": null}}),
        ),
        (
            "ovs-db: {other_config: {dpdk-init: 'true'}}",
            json!({"external_ids": {"site": null}, "other_config": {"dpdk-init": "true", "n-handler-threads": null}}),
        ),
        ("ovs-db: {}", json!({})),
        (
            "ovs-db: {external_ids: {}}",
            json!({"external_ids": {}, "other_config": {"dpdk-init": null, "n-handler-threads": null}}),
        ),
    ] {
        let replaced = serde_json::to_value(state(new)?.replacing(&state(old)?, &now).0)?;
        assert_eq!(replaced["ovs-db"], expected, "{new}");
    }
    Ok(())
}
