//! The documents of a node beside its NodeNetworkState, and beside its policies, field by field.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use tests::program::{self, Exits as _};

const DOCUMENT: &str = "\
interfaces:
- {name: eno1, type: ethernet, state: up, mtu: 9000, identifier: mac-address, mac-address: '52:54:00:00:00:01'}
- {name: bond0, type: bond, state: up, mtu: 9000, link-aggregation: {mode: active-backup, options: {miimon: 100}, ports: [eno2, eno3]}}
- {name: bond0.30, type: vlan, state: up, vlan: {base-iface: bond0, id: 30}, ipv4: {enabled: true, dhcp: true}}
- {name: old0, type: dummy, state: absent}
- name: br-ex
  type: ovs-bridge
  state: up
  bridge: {allow-extra-patch-ports: true, port: [{name: eno1}, {name: br-ex}]}
- name: br-ex
  type: ovs-interface
  state: up
  mtu: 9000
  ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.10, prefix-length: 24}]}
  ipv6: {enabled: true, dhcp: no, address: [{ip: 2001:DB8::10, prefix-length: 64}, {ip: 'fe80::1', prefix-length: 64}]}
dns-resolver: {config: {server: [192.0.2.1]}}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: br-ex, table-id: 254}]}
";

/// The state of a node that is as the document says, and has more.
fn state() -> Value {
    json!({
        "interfaces": [
            {"name": "ens3", "type": "ethernet", "state": "up", "mtu": 9000, "mac-address": "52:54:00:00:00:01"},
            {"name": "bond0", "type": "bond", "state": "up", "mtu": 9000,
             "link-aggregation": {"mode": "active-backup", "options": {"miimon": 100, "num_grat_arp": 1}, "port": ["eno3", "eno2"]}},
            {"name": "bond0.30", "type": "vlan", "state": "up", "mtu": 9000, "vlan": {"base-iface": "bond0", "id": 30},
             "ipv4": {"enabled": true, "dhcp": true, "address": [{"ip": "198.18.0.7", "prefix-length": 24}]}},
            {"name": "br-ex", "type": "ovs-bridge", "state": "up",
             "bridge": {"port": [{"name": "br-ex"}, {"name": "eno1"}, {"name": "patch-br-ex-to-br-int"}]}},
            {"name": "br-ex", "type": "ovs-interface", "state": "up", "mtu": 9000,
             "ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "192.0.2.10", "prefix-length": 24}, {"ip": "192.0.2.77", "prefix-length": 32}]},
             "ipv6": {"enabled": true, "dhcp": false, "address": [{"ip": "2001:db8::10", "prefix-length": 64}]}},
        ],
        "dns-resolver": {"config": {"server": ["192.0.2.1"]}},
        "routes": {"config": [{"destination": "0.0.0.0/0", "next-hop-address": "192.0.2.1", "next-hop-interface": "br-ex", "metric": 48}]},
    })
}

/// The messages of these rules, without their places.
fn told(others: &[(&str, Value)]) -> Vec<String> {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("hosts")).unwrap();
    fs::write(place.path().join("hosts/worker-0.yml"), DOCUMENT).unwrap();
    let mut nmgen = Command::new(program::nmgen());
    nmgen.args(["check", "--format", "json", "hosts"]).current_dir(place.path());
    for (name, content) in others {
        fs::write(place.path().join(name), content.to_string()).unwrap();
        nmgen.arg(name);
    }
    let found = nmgen.output().unwrap().json();
    let rules = ["node-state-differs", "policy-differs"];
    let all = found["findings"].as_array().unwrap_or_else(|| unreachable!("{found}"));
    let own = all.iter().filter(|finding| rules.iter().any(|rule| finding["rule"] == *rule));
    own.map(|finding| finding["message"].as_str().unwrap().split(" (").next().unwrap().to_owned())
        .collect()
}

fn of_node(state: &Value) -> (&'static str, Value) {
    let kind = json!({"apiVersion": "nmstate.io/v1beta1", "kind": "NodeNetworkState", "metadata": {"name": "worker-0"}});
    let mut object = kind;
    object["status"] = json!({"currentState": state});
    ("state.yaml", object)
}

#[tests::case]
fn a_state_is_compared_field_by_field_as_nmstate_does() {
    assert_eq!(told(&[of_node(&state())]), Vec::<String>::new());
    let on = |place: &str, value: Value| {
        let mut state = state();
        *state.pointer_mut(place).unwrap_or_else(|| unreachable!("{place}")) = value;
        told(&[of_node(&state)])
    };
    for (place, value, expected) in [
        (
            "/interfaces/0/mtu",
            json!(1500),
            "interfaces[eno1].mtu is 9000 here, and 1500 on worker-0",
        ),
        (
            "/interfaces/0/mac-address",
            json!("52:54:00:00:00:09"),
            "interfaces[eno1] is not on worker-0",
        ),
        (
            "/interfaces/1/state",
            json!("down"),
            "interfaces[bond0].state is up here, and down on worker-0",
        ),
        (
            "/interfaces/1/link-aggregation/mode",
            json!("802.3ad"),
            "interfaces[bond0].link-aggregation.mode is active-backup here, and 802.3ad on worker-0",
        ),
        (
            "/interfaces/1/link-aggregation/port",
            json!(["eno2"]),
            "interfaces[bond0].link-aggregation.ports[eno3] is not on worker-0",
        ),
        (
            "/interfaces/2/vlan/id",
            json!(31),
            "interfaces[bond0.30].vlan.id is 30 here, and 31 on worker-0",
        ),
        (
            "/interfaces/2/ipv4/dhcp",
            json!(false),
            "interfaces[bond0.30].ipv4.dhcp is true here, and false on worker-0",
        ),
        ("/interfaces/2/name", json!("old0"), "interfaces[bond0.30] is not on worker-0"),
        (
            "/interfaces/3/bridge/port/1/name",
            json!("eno9"),
            "interfaces[br-ex].bridge.port[eno1] is not on worker-0",
        ),
        (
            "/interfaces/4/ipv4/address/0/prefix-length",
            json!(25),
            "interfaces[br-ex].ipv4.address[192.0.2.10].prefix-length is 24 here, and 25 on worker-0",
        ),
        (
            "/interfaces/4/ipv6/address/0/ip",
            json!("2001:db8::11"),
            "interfaces[br-ex].ipv6.address[2001:DB8::10] is not on worker-0",
        ),
        (
            "/dns-resolver/config/server",
            json!([]),
            "dns-resolver.config.server is [192.0.2.1] here, and [] on worker-0",
        ),
        (
            "/routes/config/0/next-hop-address",
            json!("192.0.2.254"),
            "routes.config[0.0.0.0/0].next-hop-address is 192.0.2.1 here, and 192.0.2.254 on worker-0",
        ),
        ("/routes/config", json!([]), "routes.config[0.0.0.0/0] is not on worker-0"),
    ] {
        let found = on(place, value);
        assert!(
            found.iter().any(|message| message == expected),
            "{place}: {expected} in {found:?}"
        );
        assert!(found.len() == 1 || place.ends_with("name"), "{place}: {found:?}");
    }
}

#[tests::case]
fn a_policy_is_told_once_where_it_changes_what_the_document_says() {
    let policy = |node: &str, mtu: u32| {
        json!({
            "apiVersion": "nmstate.io/v1", "kind": "NodeNetworkConfigurationPolicy", "metadata": {"name": "mtu"},
            "spec": {"nodeSelector": {"kubernetes.io/hostname": node}, "desiredState": {"interfaces": [
                {"name": "br-ex", "type": "ovs-interface", "state": "up", "mtu": mtu},
                {"name": "eno7", "type": "ethernet", "state": "up", "ipv4": {"enabled": false}},
            ]}},
        })
    };
    let differs = "interfaces[br-ex].mtu is 8900 here, and 9000 in the document of worker-0";
    assert_eq!(told(&[("policy.yaml", policy("worker-0", 8900))]), [differs]);
    assert!(told(&[("policy.yaml", policy("worker-0", 9000))]).is_empty());
    assert!(told(&[("policy.yaml", policy("worker-1", 8900))]).is_empty());
    // The node has what the policy says, or what the document says.
    let mut changed = state();
    changed["interfaces"][4]["mtu"] = json!(8900);
    let eno7 = "interfaces[eno7] is not on worker-0";
    assert_eq!(
        told(&[("policy.yaml", policy("worker-0", 8900)), of_node(&changed)]),
        [differs, eno7]
    );
    let before = "interfaces[br-ex].mtu is 8900 here, and 9000 on worker-0";
    assert_eq!(
        told(&[("policy.yaml", policy("worker-0", 8900)), of_node(&state())]),
        [before, differs, eno7]
    );
}
