//! Generated hosts for measurements: two NICs, a bond, a VLAN with static addresses of both families.

use std::fs;
use std::io;
use std::path::Path;

/// One host's document; `number` is below 65,536.
pub fn document(number: usize) -> String {
    let (high, low) = (number / 256, number % 256);
    format!(
        "\
interfaces:
  - name: eno1
    type: ethernet
    state: up
    mac-address: 52:54:00:{high:02x}:{low:02x}:01
  - name: eno2
    type: ethernet
    state: up
    mac-address: 52:54:00:{high:02x}:{low:02x}:02
  - name: bond0
    type: bond
    state: up
    link-aggregation:
      mode: 802.3ad
      options:
        miimon: 100
        lacp_rate: fast
      port:
        - eno1
        - eno2
  - name: bond0.100
    type: vlan
    state: up
    vlan:
      base-iface: bond0
      id: 100
    ipv4:
      enabled: true
      dhcp: false
      address:
        - ip: 10.{high}.{low}.10
          prefix-length: 24
    ipv6:
      enabled: true
      dhcp: false
      autoconf: false
      address:
        - ip: 2001:db8:{number:x}::10
          prefix-length: 64
dns-resolver:
  config:
    server:
      - 192.0.2.53
      - 2001:db8::53
routes:
  config:
    - destination: 0.0.0.0/0
      next-hop-address: 10.{high}.{low}.1
      next-hop-interface: bond0.100
    - destination: ::/0
      next-hop-address: 2001:db8:{number:x}::1
      next-hop-interface: bond0.100
"
    )
}

/// This host's document with a `br-ex` on its bond, which takes the default route.
pub fn with_br_ex(number: usize) -> String {
    let (high, low) = (number / 256, number % 256);
    let bridge = format!(
        "  - name: br-ex
    type: ovs-bridge
    state: up
    bridge:
      port:
        - name: bond0
        - name: br-ex
  - name: br-ex
    type: ovs-interface
    state: up
    copy-mac-from: bond0
    ipv4:
      enabled: true
      dhcp: false
      address:
        - ip: 172.{}.{low}.10
          prefix-length: 24
dns-resolver:
",
        16 + high
    );
    document(number)
        .replace("dns-resolver:\n", &bridge)
        .replace("next-hop-address: 10.", "next-hop-address: 172.")
        .replace(&format!("172.{high}.{low}.1\n"), &format!("172.{}.{low}.1\n", 16 + high))
        .replacen("next-hop-interface: bond0.100", "next-hop-interface: br-ex", 1)
}

/// An `agent-config.yaml` of `count` hosts with bond, VLAN and `br-ex`: three masters, the rest workers.
pub fn agent_config(count: usize) -> String {
    agent_config_of(count, with_br_ex)
}

/// An `agent-config.yaml` whose hosts have these documents.
pub fn agent_config_of(count: usize, document: fn(usize) -> String) -> String {
    let mut text =
        "apiVersion: v1alpha1\nkind: AgentConfig\nmetadata:\n  name: fleet\nhosts:\n".to_owned();
    for number in 0..count {
        let (high, low) = (number / 256, number % 256);
        let role = if number < 3 { "master" } else { "worker" };
        text += &format!(
            "\
- hostname: {role}-{number}
  role: {role}
  interfaces:
  - name: eno1
    macAddress: 52:54:00:{high:02x}:{low:02x}:01
  - name: eno2
    macAddress: 52:54:00:{high:02x}:{low:02x}:02
  networkConfig:
"
        );
        text.extend(document(number).lines().map(|line| format!("    {line}\n")));
    }
    text
}

/// Writes a hosts directory of `count` hosts.
///
/// # Errors
/// When a file cannot be written.
pub fn write(directory: &Path, count: usize) -> io::Result<()> {
    (0..count).try_for_each(|number| {
        fs::write(directory.join(format!("worker-{number}.yml")), document(number))
    })
}
