//! Bad input and faults: a line each, and the boot goes on as it would without nmgen.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use tests::machine::{EARLY, Machine, RUNNING};

use super::with_mac;

const MAC: &str = "52:54:00:00:00:01";

fn machine(document: &str) -> Machine {
    Machine::with_card().host("worker-0", document)
}

#[tests::case]
fn a_fault_of_the_documents_is_one_line_and_the_initramfs_keeps_its_network() {
    let card = format!("interfaces:\n- {{name: eth0, type: ethernet, mac-address: '{MAC}'}}\n");
    let cases = [
        (
            "two documents with one address",
            machine(&with_mac("a0", MAC)).host("b", &with_mac("b0", MAC)),
            4,
        ),
        (
            "a br-ex document",
            machine(&format!(
                "{card}- {{name: br-ex, type: ovs-bridge, bridge: {{port: [{{name: eth0}}]}}}}\n"
            )),
            3,
        ),
        (
            "a port with nmstate's word for a virtual function",
            machine(&format!(
                "{card}- {{name: br1, type: linux-bridge, bridge: {{port: [{{name: 'sriov:eth0:0'}}]}}}}\n"
            )),
            3,
        ),
        (
            "no card of the document",
            machine(&with_mac("a0", "52:54:00:00:00:77"))
                .command_line("nmgen.host=worker-0 nmgen.timeout=0\n"),
            3,
        ),
        ("a hosts directory that is a file", Machine::with_card().file("etc/nmgen", ""), 3),
        (
            "a list of cards that is a file",
            Machine::new().host("worker-0", &with_mac("a0", MAC)).file("sys/class/net", ""),
            3,
        ),
        ("not YAML", machine(&format!("mac-address: {MAC}\n\t- [")), 3),
    ];
    for (what, machine, level) in cases {
        let said = machine.boot();
        assert!(machine.is_untouched(), "{what}: {said:?}");
        let faults: Vec<&str> =
            said.kernel.lines().filter(|line| !line.starts_with("<6>")).collect();
        assert_eq!(faults.len(), 1, "{what}: {said:?}");
        assert!(faults[0].starts_with(&format!("<{level}>nmgen: ")), "{what}: {said:?}");
        // Nothing is handed over, and nothing is said.
        assert_eq!(machine.persist().console, "", "{what}");
        assert!(machine.profiles(RUNNING).is_empty(), "{what}");
    }
}

#[tests::case]
fn a_fault_of_the_running_system_doubles_nothing() {
    let document = format!(
        "{}- {{name: eth0.7, type: vlan, vlan: {{base-iface: eth0, id: 7}}}}\n",
        with_mac("a0", MAC)
    );
    for (what, path, text) in [
        ("the mark's directory is a file", "sysroot/etc/nmgen", ""),
        ("NetworkManager's directory is a file", "sysroot/etc/NetworkManager", ""),
        ("the profiles' directory is a file", RUNNING, ""),
        (
            "a damaged profile",
            "sysroot/etc/NetworkManager/system-connections/x.nmconnection",
            "[[\n=\0\n",
        ),
        ("a damaged ifcfg file", "sysroot/etc/sysconfig/network-scripts/ifcfg-ens3", "\0\0'"),
        ("ifcfg files as one file", "sysroot/etc/sysconfig/network-scripts", ""),
        ("half a system", "sysroot/usr/lib/NetworkManager/system-connections", ""),
    ] {
        let machine =
            machine(&document).command_line("nmgen.timeout=0 rd.neednet=1 ignition.firstboot\n");
        machine.boot().exits(0);
        machine.write(path, text);
        let said = machine.persist();
        assert!(matches!(said.code, Some(0 | 1)), "{what}: {said:?}");
        assert_eq!(said.kernel.lines().count(), said.console.lines().count(), "{what}");
        assert!(!said.kernel.is_empty() && said.kernel.lines().count() <= 3, "{what}: {said:?}");
        assert!(machine.profiles(EARLY).is_empty(), "{what}");
        let (given, kept) = (machine.profiles(RUNNING), machine.profiles("run/nmgen-profiles"));
        let given: BTreeSet<String> = given.into_iter().collect();
        assert!(kept.iter().all(|name| !given.contains(name)), "{what}: {given:?} {kept:?}");
    }
}

/// Neither a file of any size nor one that nobody writes to holds the pivot up.
#[tests::case]
fn what_is_no_small_file_is_passed_over() {
    let fifo = |path: &Path| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let machine =
        self::machine(&format!("hostname: {{config: worker-0}}\n{}", with_mac("a0", MAC)))
            .command_line("nmgen.timeout=0 rd.neednet=1 ignition.firstboot\n");
    machine.boot().exits(0);
    for path in [
        "sysroot/etc/hostname",
        "sysroot/etc/crypttab",
        "sysroot/etc/sysconfig/network-scripts/ifcfg-a0",
        "sysroot/etc/NetworkManager/system-connections/ens3.nmconnection~",
    ] {
        fifo(&machine.path(path));
    }
    let large = machine.path("sysroot/usr/lib/NetworkManager/system-connections/large");
    fs::create_dir_all(large.parent().unwrap()).unwrap();
    fs::File::create(&large).unwrap().set_len(1 << 40).unwrap();
    let said = machine.persist().exits(0);
    assert_eq!(said.console, "nmgen: the running system got 2 profiles\n");
    assert_eq!(machine.read("sysroot/etc/hostname"), "worker-0\n");
}

/// A deployment that was written by half, or is no system at all: what can be given is given once.
#[tests::case]
fn half_a_root_gets_each_profile_once() {
    let booted = || {
        let machine = self::machine(&with_mac("a0", MAC));
        machine.boot().exits(0);
        fs::remove_dir_all(machine.path("sysroot")).unwrap();
        machine
    };
    let machine = booted().file("sysroot/usr/lib/os-release", "");
    machine.persist().exits(0);
    assert_eq!(machine.profiles(RUNNING), ["a0", "ens3"]);
    assert!(machine.has("sysroot/etc/nmgen/persisted") && !machine.has("run/nmgen-profiles"));

    for path in ["sysroot/etc", "sysroot"] {
        let machine = booted().file(path, "not a directory");
        let said = machine.persist();
        assert_eq!(said.code, Some(1), "{path}: {said:?}");
        assert_eq!(said.console.lines().count(), 1, "{path}: {said:?}");
        assert_eq!(machine.profiles("run/nmgen-profiles"), ["a0", "ens3"], "{path}");
        assert!(machine.profiles(EARLY).is_empty() && machine.read(path) == "not a directory");
    }
}

/// Ten times what a kernel keeps of its command line, and the arguments at its end.
#[tests::case]
fn a_command_line_over_its_bound_counts_to_its_end() {
    let line = format!("{} nmgen.host=worker-1 nmgen.timeout=0\n", "rd.x=y ".repeat(3_000));
    let machine = Machine::with_card()
        .host("worker-0", &with_mac("a0", MAC))
        .host("worker-1", &with_mac("b0", MAC))
        .file("etc/cmdline.d/long.conf", &line)
        .command_line("quiet\n");
    machine.boot().exits(0);
    assert_eq!(machine.profiles(EARLY), ["b0", "ens3"]);
    // Cut off by the kernel in the middle of a name: a line, and the initramfs's own network.
    let cut = Machine::with_card()
        .host("worker-10", &with_mac("a0", MAC))
        .command_line("quiet nmgen.timeout=0 nmgen.host=worker-1");
    let said = cut.boot();
    assert_eq!(said.kernel.lines().count(), 1, "{said:?}");
    assert!(said.kernel.starts_with("<3>nmgen: nmgen.host=worker-1: no such document"), "{said:?}");
    assert!(cut.is_untouched());
}

/// Later than the quiet period after udev's idle moment: the boot has gone on, and nothing comes in by half.
#[tests::case]
fn a_card_that_comes_too_late_changes_nothing() {
    let machine = Machine::new()
        .card("ens9", "52:54:00:00:00:99")
        .host("worker-0", &with_mac("a0", MAC))
        .command_line("nmgen.timeout=1 rd.neednet=1\n");
    machine.write("run/udev/control", "");
    machine.write("sys/class/net/ens9/ifindex", "2\n");
    machine.write("run/udev/data/n2", "I:1\n");
    let said = machine.boot().exits(0);
    let told = "nmgen: waiting for network cards\n\
                nmgen: no document in /etc/nmgen matches this machine: nothing to do (its MAC addresses: \
                52:54:00:00:00:99)\n";
    assert_eq!(said.console, told);
    machine.plug("ens3", MAC);
    let said = machine.persist();
    assert_eq!((said.code, said.console.as_str()), (Some(0), ""));
    assert!(machine.is_untouched() && machine.profiles(RUNNING).is_empty());
}
