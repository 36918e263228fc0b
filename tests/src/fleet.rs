//! Hosts made up for measurements: two NICs, a bond, a VLAN with static addresses of both families.

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

/// Writes a hosts directory of `count` hosts.
///
/// # Errors
/// When a file cannot be written.
pub fn write(directory: &Path, count: usize) -> io::Result<()> {
    (0..count).try_for_each(|number| {
        fs::write(directory.join(format!("worker-{number}.yml")), document(number))
    })
}
