//! Without a usable document the boot goes on by DHCP, and one line gives the reason.

use tests::{
    lab::{Machines, Nic, Peer, VirtualMachine, VmCase},
    two_stage::{Ignition, one_card, static_address},
};

use crate::Result;

const MAC: &str = "52:54:00:00:00:71";

fn document() -> String {
    one_card("eth1", MAC, &static_address([192, 0, 2, 70].into()), "")
}

fn machine() -> VirtualMachine {
    // Without the agent: only the first stage matters here.
    let config = Ignition::bare("worker-7").text();
    VirtualMachine::new().nic(Nic::new("nic1", MAC)).ignition("192.0.2.1", &config)
}

/// Boots by DHCP until Ignition has its configuration, and checks nmgen's lines.
fn falls_back(
    machine: &VirtualMachine,
    expected: &[&str],
    then: impl FnOnce(&mut VmCase<'_>) -> Result<()>,
) -> Result<()> {
    let machines = Machines::open()?;
    machines.run(machine, &Peer::new().dhcp(), |case| {
        case.power_on()?;
        case.wait_requested("config.ign")?;
        let leases = case.peer().leases()?;
        assert_eq!(leases.len(), 1, "{leases:?}");
        assert_eq!(leases[0].mac, MAC);
        let requests = case.requests()?;
        assert!(requests.contains(&leases[0].address.to_string()), "{requests}");
        // The unit's line, with its process id; an error appears a second time, from the kernel's log, and in an emergency a third
        // time.
        let console = case.console();
        let console = console.split(EMERGENCY).next().unwrap_or_default();
        let is_said = |line: &&str| line.contains("nmgen[") && !line.contains("waiting for");
        let said: Vec<_> = console.lines().filter(is_said).collect();
        assert_eq!(said.len(), expected.len(), "{said:?}");
        for (line, expected) in said.iter().zip(expected) {
            assert!(line.contains(expected), "{said:?}");
        }
        then(case)
    })
}

/// An address of two documents identifies neither's machine, and no other document is for it.
#[tests::case]
fn no_matching_host() -> Result<()> {
    let machine = machine()
        .early("/etc/nmgen/worker-1.yml", &document())
        .early("/etc/nmgen/worker-2.yml", &document().replace(".70", ".71"));
    let expected =
        ["worker-1.yml and /etc/nmgen/worker-2.yml have", "no document in /etc/nmgen matches"];
    // One of them to its end: the running system.
    falls_back(&machine, &expected, |case| Ok(case.wait_running()?))
}

/// A person's commands in an emergency shell; the case ends with them.
const EMERGENCY: &str = "lab: a shell in the initramfs";
const SHELL: (&str, &str) = (
    "/etc/systemd/system/emergency.service.d/60-lab.conf",
    "[Service]\nExecStart=\nExecStart=/bin/sh -c 'exec >/dev/console 2>&1; echo lab: a shell in the initramfs; journalctl --no-pager --boot; \
     nmgen boot --explain; nmgen check /etc/nmgen/worker-1.yml; dmesg; systemctl poweroff --force --force'\n",
);
/// A preshared key that YAML has another type for.
const SECRET: &str = "83517246";

/// Ignition has no config that it can read either, so the boot ends in an emergency shell. A secret beside the fault is told
/// nowhere.
#[tests::case]
fn broken_document() -> Result<()> {
    let tunnel =
        format!("  - {{name: t, type: ipsec, libreswan: {{right: 192.0.2.1, psk: {SECRET}}}}}");
    let broken = document().replace("prefix-length: 24", "prefix-length: 240").replacen(
        "interfaces:\n",
        &format!("interfaces:\n{tunnel}\n"),
        1,
    );
    let machine = VirtualMachine::new()
        .nic(Nic::new("nic1", MAC))
        .ignition("192.0.2.1", "{")
        .early("/etc/nmgen/worker-1.yml", &broken)
        .early(SHELL.0, SHELL.1);
    falls_back(&machine, &["libreswan.psk cannot be \"<hidden>\""], |case| {
        case.wait_off()?;
        let console = case.console();
        let (_, shell) = console.split_once(EMERGENCY).ok_or("no emergency shell")?;
        for told in ["the boot goes on with", "it cannot be used: ", "error[prefix-length-range]"] {
            assert!(shell.contains(told), "{told}: {shell}");
        }
        assert!(!console.contains(SECRET));
        Ok(())
    })
}
