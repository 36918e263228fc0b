//! The running system gets a whole network or nothing of it: its own is neither doubled nor competed with.

use std::os::unix::fs::PermissionsExt;

use tests::machine::{EARLY, Machine, RUNNING};

const BOND: &str = "\
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: bond0}]}
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01}
- {name: eth1, type: ethernet, mac-address: 52:54:00:00:00:02}
- name: bond0
  type: bond
  link-aggregation: {mode: active-backup, port: [eth0, eth1]}
  ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}
- name: eth2
  type: ethernet
  mac-address: 52:54:00:00:00:03
  ipv4: {enabled: true, address: [{ip: 198.51.100.10, prefix-length: 24}]}
";
const FIRST_BOOT: &str = "nmgen.timeout=0 rd.neednet=1 ignition.firstboot\n";
const ASKED: &str = "nmgen.timeout=0 rd.neednet=1 ignition.firstboot nmgen.persist=1\n";
const ALL: [&str; 4] = ["bond0", "ens3", "ens4", "ens5"];

fn machine(line: &str) -> Machine {
    Machine::with_card()
        .card("ens4", "52:54:00:00:00:02")
        .card("ens5", "52:54:00:00:00:03")
        .command_line(&format!("rd.neednet=1 {line}"))
        .host("worker-0", BOND)
}

fn profile(keys: &str) -> String {
    format!("[connection]\nid=own\nuuid=1b671a64-40d5-491e-99b0-da01ff1f3341\n{keys}")
}

/// The profiles of the running system, and what was said; `own` are its own files.
fn given(line: &str, own: &[(&str, String)]) -> (Vec<String>, String) {
    let machine = machine(line);
    machine.boot().exits(0);
    for (path, text) in own {
        let path = format!("sysroot/{path}");
        machine.write(&path, text);
        std::fs::set_permissions(machine.path(&path), std::fs::Permissions::from_mode(0o600))
            .unwrap();
    }
    let said = machine.persist().exits(0);
    assert!(machine.profiles(EARLY).is_empty());
    let mut names = machine.profiles(RUNNING);
    names.retain(|name| name != "own");
    (names, said.kernel)
}

const OWN: &str = "etc/NetworkManager/system-connections/own.nmconnection";

#[tests::case]
fn a_bond_is_not_given_without_its_ports() {
    for keys in [
        "type=ethernet\ninterface-name=ens3\n",
        "type=ethernet\n[ethernet]\nmac-address=52:54:00:00:00:02\n",
        "type=ethernet\n[match]\ninterface-name=ens[34];!ens5;\n",
        "type=ethernet\n[match]\ninterface-name=ens4\n",
        "type=bond\ninterface-name=bond0\n",
        "type=vlan\ninterface-name=bond0.7\n[vlan]\nparent=bond0\nid=7\n",
    ] {
        let (names, said) = given(ASKED, &[(OWN, profile(keys))]);
        assert_eq!(names, ["ens5"], "{keys}");
        assert!(said.contains("has its own network for bond0, ens3, ens4\n"), "{said}");
    }
    // Profiles of the image, and ifcfg files.
    for (path, text) in [
        (
            "usr/lib/NetworkManager/system-connections/own.nmconnection",
            profile("type=ethernet\ninterface-name=ens3\n"),
        ),
        (
            "etc/sysconfig/network-scripts/ifcfg-uplink",
            "DEVICE=\"ens4\"\nBOOTPROTO=dhcp\n".to_owned(),
        ),
        ("etc/sysconfig/network-scripts/ifcfg-uplink", "HWADDR=52:54:00:00:00:01\n".to_owned()),
        ("etc/sysconfig/network-scripts/ifcfg-ens3", "ONBOOT=yes\n".to_owned()),
    ] {
        assert_eq!(given(ASKED, &[(path, text)]).0, ["ens5"], "{path}");
    }
    // nmgen's profiles may know their cards by address alone.
    let own = [(OWN, profile("type=ethernet\ninterface-name=ens5\n"))];
    let line = format!("{} nmgen.identifier=mac-address\n", ASKED.trim_end());
    assert_eq!(given(&line, &own).0, ["bond0", "ens3", "ens4"]);
}

#[tests::case]
fn a_profile_for_any_card_is_for_every_one() {
    let own = [(OWN, profile("type=ethernet\n[ipv4]\nmethod=auto\n"))];
    assert_eq!(given(ASKED, &own).0, [""; 0]);
    // But for a default that gives way to each other profile, and files that NetworkManager passes over.
    for (path, text) in [
        (OWN, profile("type=ethernet\nautoconnect-priority=-100\n")),
        (OWN, profile("type=ethernet\nmulti-connect=3\n")),
        (OWN, profile("type=wifi\n")),
        (OWN, profile("type=ethernet\ninterface-name=ens9\n")),
        (OWN, profile("type=ethernet\n[match]\ninterface-name=!ens*\n")),
        ("etc/sysconfig/network-scripts/ifcfg-lo", "DEVICE=lo\n".to_owned()),
        ("etc/sysconfig/network-scripts/ifcfg-ens3.rpmsave", "DEVICE=ens3\n".to_owned()),
        ("etc/sysconfig/network-scripts/readme-ifcfg-rh.txt", "DEVICE=ens3\n".to_owned()),
    ] {
        assert_eq!(given(ASKED, &[(path, text.clone())]).0, ALL, "{path} {text}");
    }
}

/// A node that has run for long, and gets an initramfs with nmgen; and a first boot whose Ignition config brings a network: a
/// second default route beside its own may cut the machine off.
#[tests::case]
fn a_configured_system_gets_nothing_unless_it_is_asked_for() {
    let other = [(OWN, profile("type=ethernet\ninterface-name=ens9\n"))];
    let (names, said) = given("nmgen.timeout=0 rd.neednet=1\n", &other);
    assert_eq!(names, [""; 0]);
    let refused = "its own network (ens9): it gets no profile without nmgen.persist=1";
    assert!(said.contains(refused), "{said}");
    let (names, said) = given(FIRST_BOOT, &other);
    assert_eq!(names, [""; 0]);
    assert!(said.contains(refused), "{said}");
    assert_eq!(given("nmgen.timeout=0 rd.neednet=1 nmgen.persist=1\n", &other).0, ALL);
    assert_eq!(given(ASKED, &other).0, ALL);
    // No network: an image's default, what NetworkManager ignores or the initramfs gave, and the loopback device.
    for text in [
        profile("type=ethernet\nautoconnect-priority=-100\n"),
        profile("type=loopback\ninterface-name=lo\n"),
        profile(
            "type=ethernet\ninterface-name=ens9\n[user]\norg.freedesktop.NetworkManager.origin=nm-initrd-generator\n",
        ),
        "# nothing\n".to_owned(),
        // A storage network, which has no way out.
        profile(
            "type=ethernet\ninterface-name=ens9\n[ipv4]\nmethod=manual\naddress1=203.0.113.7/24\n[ipv6]\nmethod=disabled\n",
        ),
    ] {
        assert_eq!(given(FIRST_BOOT, &[(OWN, text.clone())]).0, ALL, "{text}");
    }
    // One that does not come up by itself is none either, but for the controller of a port that does.
    let manual = profile("type=bond\ninterface-name=bond9\nautoconnect=false\n");
    assert_eq!(given(FIRST_BOOT, &[(OWN, manual.clone())]).0, ALL);
    let port = "[connection]\nid=port\ntype=ethernet\ninterface-name=ens9\ncontroller=bond9\n";
    let path = "usr/lib/NetworkManager/system-connections/port.nmconnection";
    assert_eq!(given(FIRST_BOOT, &[(OWN, manual), (path, port.to_owned())]).0, [""; 0]);
    let ifcfg = "etc/sysconfig/network-scripts/ifcfg-ens9";
    for (text, gets) in [
        ("BOOTPROTO=dhcp\n", false),
        ("BOOTPROTO=none\nIPADDR=203.0.113.7\nPREFIX=24\nGATEWAY=203.0.113.1\n", false),
        ("BOOTPROTO=none\nIPADDR=203.0.113.7\nPREFIX=24\n", true),
        ("BOOTPROTO=dhcp\nDEFROUTE=no\n", true),
        ("BOOTPROTO=dhcp\nMASTER=bond1\nSLAVE=yes\n", true),
        ("BOOTPROTO=dhcp\nONBOOT=no\n", true),
    ] {
        let expected: &[&str] = if gets { &ALL } else { &[] };
        assert_eq!(given(FIRST_BOOT, &[(ifcfg, text.to_owned())]).0, expected, "{text}");
    }
    assert_eq!(given("nmgen.timeout=0 rd.neednet=1\n", &[]).0, ALL);
    assert_eq!(
        given("nmgen.timeout=0 rd.neednet=1 ignition.firstboot nmgen.persist=0\n", &[]).0,
        [""; 0]
    );
}

/// The lab's own mistake, and many people's.
#[tests::case]
fn a_profile_that_networkmanager_ignores_is_said() {
    let machine = machine(FIRST_BOOT);
    machine.boot().exits(0);
    machine.write(
        &format!("{RUNNING}/own.nmconnection"),
        &profile("type=ethernet\ninterface-name=ens5\n"),
    );
    let said = machine.persist();
    let line = format!("/{RUNNING}/own.nmconnection: NetworkManager ignores this profile");
    assert!(said.kernel.contains(&line), "{said:?}");
}
