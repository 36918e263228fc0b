//! Interfaces whose early profile the running system does not get: its NetworkManager would show them as "connected
//! (externally)".

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tests::machine::{Machine, RUNNING};
use tests::{program, skip};

const DOCUMENT: &str = "\
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01}
- name: eth0.100
  type: vlan
  vlan: {base-iface: eth0, id: 100}
  ipv4: {enabled: true, address: [{ip: 192.0.2.70, prefix-length: 24}]}
- name: eth1
  type: ethernet
  mac-address: 52:54:00:00:00:02
  ipv4: {enabled: true, address: [{ip: 198.51.100.70, prefix-length: 24}]}
";
const OWN_UUID: &str = "1b671a64-40d5-491e-99b0-da01ff1f3341";
const RECORD: &str = "run/nmgen-release";
/// NetworkManager's state file of a device.
const STATE: &str =
    "[device]\nmanaged=true\nconnection-uuid=eb167dc3-77c6-5e5b-94a7-7ca659590917\n";

fn own(machine: &Machine, name: &str, keys: &str) {
    let path = format!("{RUNNING}/{name}.nmconnection");
    machine.write(&path, &format!("[connection]\nid={name}\n{keys}"));
    std::fs::set_permissions(machine.path(&path), std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// A machine whose initramfs has brought three interfaces up, with their states.
fn booted(line: &str) -> Machine {
    let machine = Machine::with_card()
        .card("ens4", "52:54:00:00:00:02")
        .command_line(&format!("nmgen.timeout=0 rd.neednet=1 {line}\n"))
        .host("worker-0", DOCUMENT);
    machine.boot().exits(0);
    for (index, name) in ["ens3", "ens3.100", "ens4"].iter().enumerate() {
        machine.write(&format!("sys/class/net/{name}/ifindex"), &format!("{index}\n"));
        machine.write(&format!("run/NetworkManager/devices/{index}"), STATE);
    }
    machine
}

/// The interfaces whose state is gone after NetworkManager stopped.
fn released(machine: &Machine) -> Vec<&'static str> {
    machine.persist().exits(0);
    machine.run(machine.command().arg("--release")).exits(0);
    assert!(!machine.has(RECORD));
    let names = ["ens3", "ens3.100", "ens4"].into_iter().enumerate();
    names
        .filter(|(index, _)| !machine.has(&format!("run/NetworkManager/devices/{index}")))
        .map(|(_, name)| name)
        .collect()
}

#[tests::case]
fn a_card_with_a_profile_of_its_own_is_released_and_all_that_is_connected() {
    let machine = booted("rd.neednet=1 ignition.firstboot nmgen.persist=1");
    own(&machine, "own", &format!("uuid={OWN_UUID}\ntype=ethernet\ninterface-name=ens3\n"));
    assert_eq!(released(&machine), ["ens3", "ens3.100"]);
    assert_eq!(machine.profiles(RUNNING), ["ens4", "own"]);
    // A second stop, and a boot that has nothing to release.
    assert_eq!(machine.run(machine.command().arg("--release")).console, "");
}

#[tests::case]
fn nothing_is_released_where_the_system_gets_or_has_the_profile() {
    let machine = booted("rd.neednet=1 ignition.firstboot");
    assert_eq!(released(&machine), [""; 0]);
    // A later boot: the mark is there, and the profiles with their uuids.
    machine.boot().exits(0);
    assert_eq!(released(&machine), [""; 0]);
}

/// Every later boot with `rd.neednet=1`, after somebody replaced a profile, removed one, or made a port of it.
#[tests::case]
fn at_later_boots_what_the_system_has_replaced_is_released() {
    let machine = booted("rd.neednet=1 ignition.firstboot");
    assert_eq!(released(&machine), [""; 0]);
    let path = |name: &str| machine.path(&format!("{RUNNING}/{name}.nmconnection"));
    std::fs::remove_file(path("ens3.100")).unwrap();
    std::fs::remove_file(path("ens4")).unwrap();
    own(&machine, "other", &format!("uuid={OWN_UUID}\ntype=ethernet\ninterface-name=ens4\n"));
    machine.boot().exits(0);
    assert_eq!(released(&machine), ["ens3.100", "ens4"]);

    let machine = booted("rd.neednet=1 ignition.firstboot");
    assert_eq!(released(&machine), [""; 0]);
    let port = machine.read(&format!("{RUNNING}/ens4.nmconnection"));
    let port = port.replace("[connection]\n", "[connection]\nmaster=br-ex\nslave-type=ovs-port\n");
    machine.write(&format!("{RUNNING}/ens4.nmconnection"), &port);
    machine.boot().exits(0);
    assert_eq!(released(&machine), ["ens4"]);
}

/// A card that wpa_supplicant works for starts anew, though the running system gets it: NetworkManager starts none for a device
/// that it takes over.
#[tests::case]
fn an_authenticated_card_is_released_at_every_boot() {
    let authenticated = DOCUMENT.replacen(
        "00:01}",
        "00:01, 802.1x: {identity: worker-0, eap-methods: [tls], private-key: /k, client-cert: /c}}",
        1,
    );
    let machine = |line| {
        let machine = booted(line).file("usr/sbin/wpa_supplicant", "");
        let machine = machine.host("worker-0", &authenticated);
        machine.boot().exits(0);
        machine
    };
    let it = machine("ignition.firstboot");
    assert_eq!(released(&it), ["ens3", "ens3.100"]);
    assert_eq!(it.profiles(RUNNING), ["ens3", "ens3.100", "ens4"]);
    for (index, name) in ["ens3", "ens3.100", "ens4"].iter().enumerate() {
        it.write(&format!("run/NetworkManager/devices/{index}"), STATE);
        assert!(it.has(&format!("{RUNNING}/{name}.nmconnection")));
    }
    it.boot().exits(0);
    assert_eq!(released(&it), ["ens3", "ens3.100"]);

    let on_network = machine("ignition.firstboot netroot=nbd:192.0.2.9:4420");
    on_network.persist().says("nothing authenticates it again");
    assert!(!on_network.has(RECORD));
}

/// A bond that became a port of br-ex: it goes, and its ports, whose profiles are as they were, start anew.
#[tests::case]
fn the_ports_of_a_released_bond_are_released() {
    let document = "\
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01}
- {name: eth1, type: ethernet, mac-address: 52:54:00:00:00:02}
- {name: bond0, type: bond, link-aggregation: {mode: active-backup, port: [eth0, eth1]}}
";
    let machine = Machine::with_card()
        .card("ens4", "52:54:00:00:00:02")
        .command_line("nmgen.timeout=0 rd.neednet=1 ignition.firstboot\n")
        .host("worker-0", document);
    // The first boot, and a later one at which all is as it was.
    for _ in 0..2 {
        machine.boot().exits(0);
        machine.persist().exits(0);
        assert!(!machine.has(RECORD));
    }
    let path = format!("{RUNNING}/bond0.nmconnection");
    let bond = machine.read(&path);
    machine.write(
        &path,
        &bond.replace("[connection]\n", "[connection]\nmaster=br-ex\nslave-type=ovs-port\n"),
    );
    machine.boot().exits(0);
    machine.persist().exits(0);
    let record = machine.read(RECORD);
    let mut names: Vec<&str> = record.lines().collect();
    names.sort_unstable();
    assert_eq!(names, ["bond0", "ens3", "ens4"]);
}

/// The root disk is on the document's network: its card stays up, under the system's own profile.
#[tests::case]
fn a_card_that_carries_the_root_disk_is_handed_to_the_systems_own_profile() {
    for line in ["root=nfs:192.0.2.1:/srv", "root=UUID=0 fcoe=edd:nodcb"] {
        let machine = booted(&format!("ignition.firstboot {line}"));
        own(&machine, "own", &format!("uuid={OWN_UUID}\ntype=ethernet\ninterface-name=ens4\n"));
        assert_eq!(released(&machine), [""; 0], "{line}");
        let state = machine.read("run/NetworkManager/devices/2");
        let is_own = state.contains(&format!("connection-uuid={OWN_UUID}\n"));
        assert!(is_own && state.contains("managed=true\n"), "{line}: {state}");
        assert_eq!(machine.read("run/NetworkManager/devices/0"), STATE);
    }
    // NetworkManager never had the device: there is nothing to hand over, and nothing to say.
    let machine = booted("ignition.firstboot root=nfs:192.0.2.1:/srv");
    own(&machine, "own", &format!("uuid={OWN_UUID}\ntype=ethernet\ninterface-name=ens4\n"));
    std::fs::remove_file(machine.path("run/NetworkManager/devices/2")).unwrap();
    assert_eq!(released(&machine), ["ens4"]);
}

/// The kernel's part, in a network namespace with a `/sys` and a `/run` of its own: `card0` is a card in this `/sys`, and
/// each device has an address and a secondary one.
const KERNEL: &str = "\
mount -t sysfs sysfs /sys && mount -t tmpfs tmpfs /run || exit 77
ip link add lab0 type veth peer name lab1 && ip link add card0 type veth peer name card1 || exit 77
mkdir -p /run/NetworkManager/devices
for name in lo lab0 lab1 card0 card1; do
    ip link set $name up && ip address add 192.0.2.70/24 dev $name && ip address add 192.0.2.71/24 dev $name || exit 77
    index=$(cat /sys/class/net/$name/ifindex)
    mkdir -p /run/sys/class/net/$name && echo $index >/run/sys/class/net/$name/ifindex
    echo $name >/run/NetworkManager/devices/$index
done
mkdir /run/sys/class/net/card0/device
mount --bind /run/sys /sys || exit 77
printf 'lab0\\nlab1\\nlo\\ncard0\\ngone\\n' >/run/nmgen-release
\"$0\" boot --release || exit 1
[ ! -e /run/nmgen-release ] && cat /run/NetworkManager/devices/*
for name in lab0 card0 card1; do
    ip -4 -oneline address show up dev $name 2>/dev/null | wc -l
    ip -4 -oneline address show dev $name 2>/dev/null | wc -l
done
";

#[tests::case]
fn a_virtual_device_goes_and_a_card_goes_down_without_its_addresses() {
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "--propagation", "private", "sh", "-c", KERNEL]);
    let output = command.arg(program::nmgen()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(77) || said.contains("unshare: ") {
        skip::part(&format!("the kernel's devices: {said}"));
    }
    assert!(output.status.success(), "{said}");
    // `lab1` went with `lab0`; what the kernel refuses is said, and NetworkManager's state stays with it.
    assert_eq!(
        said,
        "nmgen: lab0 is the running system's\n\
         nmgen: lab1 is the running system's\n\
         nmgen: cannot put lo back: Operation not supported (os error 95)\n\
         nmgen: card0 is the running system's\n"
    );
    // Others' devices keep what they have.
    let left = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(left, "lo\ncard1\n0\n0\n0\n0\n2\n2\n");
}
