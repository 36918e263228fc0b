//! A keyfile of others, in the initramfs and in the running system, beside a document.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::boot::boot;
use crate::machine::{EARLY, Machine, RUNNING};

const DOCUMENT: &str = "\
interfaces:
- {name: ens3, type: ethernet, state: up, mac-address: 52:54:00:00:00:01}
- name: ens3.7
  type: vlan
  state: up
  vlan: {base-iface: ens3, id: 7}
  ipv4: {enabled: true, dhcp: true}
";

pub(super) fn run(content: &[u8]) {
    let machine = Machine::with_card().host("cluster", DOCUMENT);
    machine.write("proc/cmdline", "rd.neednet=1 ignition.firstboot nmgen.timeout=0\n");
    let own = format!("{RUNNING}/other.nmconnection");
    for path in [&format!("{EARLY}/other.nmconnection"), &own] {
        let written = machine.try_write(path, content);
        // NetworkManager ignores a profile that others may read.
        let private = fs::Permissions::from_mode(0o600);
        let written = written.and_then(|()| fs::set_permissions(machine.path(path), private));
        assert!(written.is_ok(), "{path}: {written:?}");
    }
    boot(&machine, &[]);
    boot(&machine, &["--persist"]);
    // The running system's own profiles are its own.
    let left = fs::read(machine.path(&own));
    assert!(left.as_ref().is_ok_and(|left| left == content), "{left:?}");
}
