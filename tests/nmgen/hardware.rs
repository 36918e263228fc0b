//! Documents beside what somebody has seen of the hosts' hardware.

use std::fs;

use serde_json::json;
use tests::program::{self, Exits as _};

const DOCUMENT: &str = "\
interfaces:
- {name: eno1, type: ethernet, state: up}
- {name: eno2, type: ethernet, state: up}
- {name: bond0, type: bond, state: up, mtu: 9000, link-aggregation: {mode: 802.3ad, port: [eno1, eno2]}}
- {name: bond0.30, type: vlan, state: up, vlan: {base-iface: bond0, id: 30}, ipv4: {enabled: true, dhcp: true}}
- {name: eno9, type: ethernet, state: up}
";

/// The rules that are told, each with its line.
fn told(hardware: (&str, &str)) -> Vec<String> {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("hosts")).unwrap();
    fs::write(place.path().join("hosts/worker-0.yml"), DOCUMENT).unwrap();
    fs::write(place.path().join(hardware.0), hardware.1).unwrap();
    let call = ["check", "--format", "short", "hosts", hardware.0];
    let output = program::nmgen_in(place.path(), &call).exits(0);
    let text = output.out().to_owned() + output.err();
    let rules = ["card-missing", "vlan-not-on-port", "mtu-not-on-port", "bond-speeds-differ"];
    let of = |line: &str| {
        let rule = rules.iter().find(|rule| line.contains(&format!("[{rule}]")))?;
        let line = line.split(':').nth(1)?;
        Some(format!("{line} {rule}"))
    };
    let mut found: Vec<String> = text.lines().filter_map(of).collect();
    found.sort();
    found
}

#[tests::case]
fn a_collected_node_and_its_state_are_facts_and_no_second_document() {
    let card = |name: &str, last: u8, speed: Option<u32>| json!({"name": name, "mac": format!("52:54:00:00:00:0{last}"), "mtu": 1500, "carrier": true, "speed": speed, "driver": null, "bus": null});
    let all = ["4 bond-speeds-differ", "4 mtu-not-on-port", "5 vlan-not-on-port", "6 card-missing"];
    let collected = |frame: Option<u32>| {
        json!({
            "schema": 1, "hostname": "worker-0", "collected": 1,
            "cards": [card("eno1", 1, Some(25000)), card("eno2", 2, Some(10000))],
            "facts": {"lldp": {"value": [{"link": "eno2", "system": "leaf", "port": "1", "frame": frame, "vlans": [10, 20]}]}},
            // A file of a node is larger than a document may be.
            "journals": {"dayone": {"value": "x".repeat(3 << 20)}},
        })
    };
    // A bond carries what its worse port does. A switch may say nothing, or the packet's size.
    for (frame, is_told) in [
        (Some(9017), true),
        (Some(9018), false),
        (None, false),
        (Some(1500), true),
        (Some(0), false),
    ] {
        let expected: Vec<&str> =
            all.into_iter().filter(|finding| is_told || !finding.contains("mtu")).collect();
        assert_eq!(told(("node.json", &collected(frame).to_string())), expected, "{frame:?}");
    }

    let state = |speed: u32| {
        json!({
            "apiVersion": "nmstate.io/v1beta1", "kind": "NodeNetworkState", "metadata": {"name": "worker-0"},
            "status": {"currentState": {"interfaces": [
                {"name": "eno1", "type": "ethernet", "state": "up", "mac-address": "52:54:00:00:00:01", "ethernet": {"speed": 25000}},
                {"name": "eno2", "type": "ethernet", "state": "up", "mac-address": "52:54:00:00:00:01",
                 "permanent-mac-address": "52:54:00:00:00:02", "ethernet": {"speed": speed},
                 "lldp": {"enabled": true, "neighbors": [[{"type": 5, "system-name": "leaf"}, {"type": 127,
                   "ieee-802-1-vlans": [{"name": "a", "vid": 10}, {"name": "b", "vid": 20}], "oui": "00:80:c2", "subtype": 3},
                   {"type": 127, "ieee-802-3-max-frame-size": 1522, "oui": "00:12:0f", "subtype": 4}]]}},
            ]}},
        })
    };
    assert_eq!(told(("nns.yaml", &state(10000).to_string())), all);
    assert_eq!(told(("nns.yaml", &state(25000).to_string())), all[1..]);
}

#[tests::case]
fn the_status_of_a_host_is_a_fact_and_another_hosts_is_none() {
    let host = |name: &str, vlan: u32| {
        json!({
            "apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {"name": name}, "spec": {"online": true},
            "status": {"hardware": {"nics": [
                {"name": "eno1", "mac": "52:54:00:00:00:01", "speedGbps": 25, "vlans": [{"id": 30}, {"id": vlan}]},
                // An entry for each address.
                {"name": "eno1", "mac": "52:54:00:00:00:01", "ip": "2001:db8::1", "speedGbps": 25},
                {"name": "eno2", "mac": "52:54:00:00:00:02", "speedGbps": 25},
            ]}},
        })
        .to_string()
    };
    assert_eq!(told(("bmh.yaml", &host("worker-0", 10))), ["6 card-missing"]);
    assert!(told(("bmh.yaml", &host("worker-1", 10))).is_empty());
}

#[tests::case]
fn a_speed_beyond_any_number_is_passed_over() {
    let speed = u64::MAX;
    let nics = format!("[{{name: eno1, mac: '52:54:00:00:00:01', speedGbps: {speed}}}]");
    let hardware = format!(
        "apiVersion: metal3.io/v1alpha1\nkind: HardwareData\nmetadata: {{name: worker-0}}\nspec: {{hardware: {{nics: {nics}}}}}\n"
    );
    // The document has two cards more.
    assert_eq!(told(("a.yml", &hardware)), ["3 card-missing", "6 card-missing"]);
}
