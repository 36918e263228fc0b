use serde_json::Value;

use super::{export, manifest, page};
use crate::{
    model::{Active, Profile, connection::ConnectionSettings},
    state::State,
};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;
/// A device, the type of its profile, and properties.
type Configured<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);
/// Profiles, and on which devices they are.
type Profiles = (Vec<Profile>, Vec<Active>);

/// A state of nmstate's.
fn state(text: &str) -> Fallible<Value> {
    Ok(State::collected(serde_yaml::from_str(text)?)?.to_value()?)
}

/// Profiles that are active, each on a device: `device kind` and properties, `section.property: JSON` with D-Bus's type.
fn profiles(all: &[Configured<'_>]) -> Fallible<Profiles> {
    let mut found = (Vec::new(), Vec::new());
    for (device, kind, properties) in all {
        let uuid = format!("{device}-{kind}");
        let mut settings = ConnectionSettings::default();
        for (name, value) in *properties {
            let (section, property) = name.split_once('.').ok_or("a name has a section")?;
            let (kind, data) = value.split_once(' ').ok_or("a value has a type")?;
            let value =
                serde_json::json!({"type": kind, "data": serde_json::from_str::<Value>(data)?});
            settings
                .section_mut(section)
                .insert(property.to_owned(), serde_json::from_value(value)?);
        }
        settings.set("connection", "uuid", uuid.clone());
        found.0.push(Profile { settings, ..Profile::default() });
        found.1.push(Active { uuid, device: (*device).to_owned(), kind: (*kind).to_owned() });
    }
    Ok(found)
}

const OFF: [(&str, &str); 2] =
    [("ipv4.method", r#"s "disabled""#), ("ipv6.method", r#"s "disabled""#)];

const NODE: &str = "
hostname: {running: worker-0, config: worker-0}
dns-resolver: {running: {server: [192.0.2.1]}, config: {server: [192.0.2.1], search: []}}
route-rules:
  config:
  - {family: ipv4, ip-from: 192.0.2.0/24, priority: 100, route-table: 200}
  - {family: ipv4, ip-to: 10.128.0.0/14, priority: 30, route-table: 7}
routes:
  running: []
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: br-ex, metric: 48, table-id: 254}
  - {destination: 203.0.113.0/24, next-hop-address: 192.0.2.2, next-hop-interface: br-ex, metric: 48, table-id: 200}
  - {destination: 10.128.0.0/14, next-hop-address: 10.128.0.1, next-hop-interface: ovn-k8s-mp0, metric: 0, table-id: 254}
interfaces:
- {name: lo, type: loopback, state: up, mtu: 65536}
- name: eno1
  type: ethernet
  state: up
  mac-address: 52:54:00:00:00:01
  permanent-mac-address: 52:54:00:00:00:01
  identifier: name
  profile-name: ovs-if-phys0
  mtu: 9000
  min-mtu: 68
  max-mtu: 9216
  driver: virtio_net
  controller: br-ex
  ipv4: {enabled: false}
  ipv6: {enabled: false}
  ethernet: {auto-negotiation: true, speed: 25000, duplex: full}
  ethtool: {feature: {rx-gro: true, tx-checksum-ip-generic: true}, ring: {rx: 512, tx: 512}}
  lldp: {enabled: false}
- name: br-ex
  type: ovs-bridge
  state: up
  ovs-db: {external_ids: {bridge-id: br-ex, owner: infra}, other_config: {}}
  bridge:
    options: {fail-mode: '', mcast-snooping-enable: false, rstp: false, stp: {enabled: false}, datapath: netdev}
    port: [{name: br-ex}, {name: eno1}, {name: patch-br-ex_worker-0-to-br-int}]
- name: br-ex
  type: ovs-interface
  state: up
  mac-address: 52:54:00:00:00:01
  mtu: 9000
  wait-ip: any
  ipv4:
    enabled: true
    dhcp: false
    address:
    - {ip: 192.0.2.10, prefix-length: 24}
    - {ip: 192.0.2.77, prefix-length: 32}
    - {ip: 169.254.169.2, prefix-length: 29}
  ipv6:
    enabled: true
    dhcp: true
    autoconf: true
    address:
    - {ip: '2001:db8::5054', prefix-length: 64, valid-life-time: 86388sec, preferred-life-time: 14388sec}
    - {ip: 'fe80::5054', prefix-length: 64}
- {name: patch-br-ex_worker-0-to-br-int, type: ovs-interface, state: up, patch: {peer: patch-br-int-to-br-ex_worker-0}}
- {name: ovn-k8s-mp0, type: ovs-interface, state: up, mtu: 8900}
- {name: br-int, type: ovs-bridge, state: up, bridge: {port: []}}
ovs-db: {external_ids: {ovn-encap-ip: 192.0.2.10}, other_config: {}}
ovn: {bridge-mappings: [{localnet: physnet, bridge: br-ex}, {localnet: tenants, bridge: br-ex}]}
";

fn node() -> Fallible<(Value, Profiles)> {
    let of = profiles(&[
        (
            "eno1",
            "802-3-ethernet",
            &[("802-3-ethernet.mtu", "u 9000"), ("ethtool.feature-rx-gro", "i 1")],
        ),
        (
            "br-ex",
            "ovs-bridge",
            &[
                ("ovs-bridge.datapath-type", r#"s "netdev""#),
                ("ovs-external-ids.data", r#"a{ss} {"owner": "infra"}"#),
            ],
        ),
        ("br-ex", "ovs-port", &[]),
        ("eno1", "ovs-port", &[]),
        (
            "br-ex",
            "ovs-interface",
            &[
                ("802-3-ethernet.mtu", "u 9000"),
                ("802-3-ethernet.assigned-mac-address", r#"s "52:54:00:00:00:01""#),
                ("ipv4.method", r#"s "manual""#),
                ("ipv4.may-fail", "b false"),
                ("ipv4.gateway", r#"s "192.0.2.1""#),
                ("ipv4.route-metric", "x 48"),
                (
                    "ipv4.address-data",
                    r#"aa{sv} [{"address": {"type": "s", "data": "192.0.2.10"}, "prefix": {"type": "u", "data": 24}}]"#,
                ),
                (
                    "ipv4.route-data",
                    r#"aa{sv} [{"dest": {"type": "s", "data": "203.0.113.9"}, "prefix": {"type": "u", "data": 24}}]"#,
                ),
                (
                    "ipv4.routing-rules",
                    r#"aa{sv} [{"priority": {"type": "u", "data": 100}, "table": {"type": "u", "data": 200}}]"#,
                ),
                ("ipv6.method", r#"s "auto""#),
            ],
        ),
    ])?;
    Ok((state(NODE)?, of))
}

#[test]
fn a_node_of_ovn_is_what_its_profiles_say() -> Fallible<()> {
    let (state, (profiles, active)) = node()?;
    let exported = export(&state, &profiles, &active);
    let yaml = State::collected(exported.document.clone())?.to_shown_yaml()?;
    let expected = "\
dns-resolver:
  config:
    server:
    - 192.0.2.1
route-rules:
  config:
  - family: ipv4
    ip-from: 192.0.2.0/24
    priority: 100
    route-table: 200
routes:
  config:
  - destination: 0.0.0.0/0
    next-hop-interface: br-ex
    next-hop-address: 192.0.2.1
    metric: 48
  - destination: 203.0.113.0/24
    next-hop-interface: br-ex
    next-hop-address: 192.0.2.2
    metric: 48
    table-id: 200
interfaces:
- name: br-ex
  type: ovs-bridge
  state: up
  ovs-db:
    external_ids:
      owner: infra
  bridge:
    allow-extra-patch-ports: true
    options:
      datapath: netdev
    port:
    - name: br-ex
    - name: eno1
- name: br-ex
  type: ovs-interface
  state: up
  mac-address: 52:54:00:00:00:01
  mtu: 9000
  wait-ip: ipv4
  ipv4:
    enabled: true
    dhcp: false
    address:
    - ip: 192.0.2.10
      prefix-length: 24
    prefix-route-metric: 48
  ipv6:
    enabled: true
    dhcp: true
    autoconf: true
- name: eno1
  type: ethernet
  state: up
  mtu: 9000
  ethtool:
    feature:
      rx-gro: true
ovn:
  bridge-mappings:
  - localnet: tenants
    bridge: br-ex
";
    assert_eq!(yaml, expected);
    let page = page(&exported, &yaml, "worker-0");
    for left_out in [
        "# - the host name: ",
        "# - br-int, lo, ovn-k8s-mp0, patch-br-ex_worker-0-to-br-int: interfaces without a profile",
        "# - patch-br-ex_worker-0-to-br-int on br-ex: ports that no profile has",
        "# - bridge-id of br-ex: ",
        "# - 192.0.2.77/32 on br-ex, 169.254.169.2/29 on br-ex: of no profile",
        "# - 2001:db8::5054/64 on br-ex: learned",
        "# - 10.128.0.0/14 over ovn-k8s-mp0: routes of no profile",
        "# - 30 (to 10.128.0.0/14): routing rules",
        "# - physnet of br-ex: OVN-Kubernetes",
        "# - ovn-encap-ip: Open vSwitch's own table",
    ] {
        assert!(page.contains(&format!("\n{left_out}")), "{left_out} in {page}");
    }
    let policy = manifest(&exported, &yaml, "Worker-0.example.com")?;
    let policy: Value = serde_yaml::from_str(&policy)?;
    assert_eq!(policy["metadata"]["name"], "worker-0.example.com");
    assert_eq!(policy["spec"]["nodeSelector"]["kubernetes.io/hostname"], "worker-0.example.com");
    assert_eq!(policy["spec"]["desiredState"], serde_yaml::from_str::<Value>(&yaml)?);
    Ok(())
}

#[test]
fn options_are_those_of_the_profile_and_secrets_stay_behind() -> Fallible<()> {
    const MARK: &str = "s3cretmarker0123";
    let state = state(&format!(
        "
interfaces:
- name: bond0
  type: bond
  state: up
  mac-address: 52:54:00:00:00:01
  link-aggregation:
    mode: active-backup
    options: {{miimon: 100, all_slaves_active: dropped, num_grat_arp: 1}}
    port: [eno1, eno2]
- name: bond0.30
  type: vlan
  state: up
  vlan: {{base-iface: bond0, id: 30, protocol: 802.1q, reorder-headers: true, loose-binding: false}}
  lldp: {{enabled: true, neighbors: []}}
- name: br0
  type: linux-bridge
  state: up
  bridge:
    options: {{gc-timer: 4, hello-timer: 0, hash-max: 4096, stp: {{enabled: false, forward-delay: 15}}, mac-ageing-time: 60}}
    port:
    - {{name: bond0.30, stp-hairpin-mode: false, stp-path-cost: 7, stp-priority: 32, vlan: {{}}}}
    - {{name: vnet0, stp-hairpin-mode: false, stp-path-cost: 2, stp-priority: 32, vlan: {{}}}}
- name: eno1
  type: ethernet
  state: up
  identifier: mac-address
  profile-name: uplink
  mac-address: 52:54:00:00:00:01
  802.1x: {{identity: worker, eap-methods: [tls], private-key: /etc/k.pem, private-key-password: {MARK}}}
- {{name: eno2, type: ethernet, state: down}}
"
    ))?;
    let (profiles, active) = profiles(&[
        (
            "bond0",
            "bond",
            &[
                ("bond.options", r#"a{ss} {"mode": "active-backup", "miimon": "100"}"#),
                OFF[0],
                OFF[1],
            ],
        ),
        ("bond0.30", "vlan", &[("connection.lldp", "i 1"), ("bridge-port.path-cost", "u 7")]),
        (
            "br0",
            "bridge",
            &[("bridge.ageing-time", "u 60"), ("ipv4.method", r#"s "shared""#), OFF[1]],
        ),
        ("eno1", "802-3-ethernet", &[]),
    ])?;
    let exported = export(&state, &profiles, &active);
    let yaml = State::collected(exported.document.clone())?.to_shown_yaml()?;
    let page = page(&exported, &yaml, "worker-0");
    assert!(!page.contains(MARK), "{page}");
    assert!(page.contains("# - secrets of eno1: "), "{page}");
    assert!(page.contains("# - ipv4.method=shared of br0: NMState has no word for it"), "{page}");
    let found: Value = serde_yaml::from_str(&yaml)?;
    let of = |name: &str| {
        let mut all = found["interfaces"].as_array().into_iter().flatten();
        all.find(|interface| interface["name"] == name).cloned().unwrap_or_default()
    };
    let json = |text: &str| serde_yaml::from_str::<Value>(text);
    assert_eq!(
        of("bond0")["link-aggregation"],
        json("{mode: active-backup, options: {miimon: 100}, port: [eno1, eno2]}")?
    );
    assert_eq!(of("bond0")["mac-address"], Value::Null);
    assert_eq!(of("bond0.30")["vlan"], json("{base-iface: bond0, id: 30}")?);
    assert_eq!(of("bond0.30")["lldp"], json("{enabled: true}")?);
    assert_eq!(
        of("br0")["bridge"],
        json(
            "{allow-extra-ports: true, options: {mac-ageing-time: 60, stp: {enabled: false}},
              port: [{name: bond0.30, stp-path-cost: 7}]}"
        )?
    );
    for (key, value) in [
        ("identifier", "mac-address"),
        ("profile-name", "uplink"),
        ("mac-address", "52:54:00:00:00:01"),
    ] {
        assert_eq!(of("eno1")[key], value);
    }
    assert_eq!(of("eno2"), Value::Null);
    Ok(())
}

/// The options of a bond as nmstate has written them into its profile, from the kernel's state.
#[test]
fn options_of_other_modes_stay_behind() -> Fallible<()> {
    let all = "miimon: 100, lacp_rate: fast, lacp_active: true, arp_missed_max: 2, arp_validate: none, tlb_dynamic_lb: true";
    for (mode, kept, left_out) in [
        (
            "802.3ad",
            "{miimon: 100, lacp_rate: fast}",
            "arp_missed_max of bond0, arp_validate of bond0, tlb_dynamic_lb of bond0",
        ),
        (
            "active-backup",
            "{miimon: 100, arp_missed_max: 2, arp_validate: none}",
            "lacp_rate of bond0, tlb_dynamic_lb of bond0",
        ),
    ] {
        let aggregation = format!("{{mode: {mode}, options: {{{all}}}, port: [eno1]}}");
        let state = serde_yaml::from_str(&format!(
            "interfaces: [{{name: bond0, type: bond, state: up, link-aggregation: {aggregation}}}]"
        ))?;
        let (profiles, active) = profiles(&[(
            "bond0",
            "bond",
            &[(
                "bond.options",
                r#"a{ss} {"miimon": "100", "lacp_rate": "fast", "lacp_active": "1", "arp_missed_max": "2", "arp_validate": "none", "tlb_dynamic_lb": "1"}"#,
            )],
        )])?;
        let exported = export(&state, &profiles, &active);
        assert_eq!(
            exported.document["interfaces"][0]["link-aggregation"]["options"],
            serde_yaml::from_str::<Value>(kept)?
        );
        let page = page(&exported, "", "worker-0");
        let told = format!("# - {left_out}: no option of the bond's mode\n");
        assert!(page.contains(&told), "{told} in {page}");
    }
    Ok(())
}

/// The comparison of `dayone diff`.
#[test]
fn the_node_has_all_of_its_document() -> Fallible<()> {
    let (state, (profiles, active)) = node()?;
    let exported = export(&state, &profiles, &active);
    let lacking = State::collected(exported.document)?.missing_in(&State::collected(state)?)?;
    assert_eq!(lacking.map(|lacking| lacking.subjects()), None);
    Ok(())
}
