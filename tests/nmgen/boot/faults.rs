//! Bad input and faults: a line each, and the boot goes on as it would without nmgen.

use std::collections::BTreeSet;

use tests::machine::{EARLY, Machine, RUNNING};

use super::with_mac;

const MAC: &str = "52:54:00:00:00:01";

fn machine(document: &str) -> Machine {
    Machine::with_card().host("worker-0", document)
}

#[test]
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

#[test]
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
        assert_eq!(machine.boot().code, Some(0));
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
