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
        // The unit's line, with its process id; an error appears a second time, from the kernel's log.
        let console = case.console();
        let is_said = |line: &&str| line.contains("nmgen[") && !line.contains("waiting for");
        let said: Vec<_> = console.lines().filter(is_said).collect();
        assert_eq!(said.len(), expected.len(), "{said:?}");
        for (line, expected) in said.iter().zip(expected) {
            assert!(line.contains(expected), "{said:?}");
        }
        then(case)
    })
}

#[tests::case]
fn no_matching_host() -> Result<()> {
    let other = document().replace(MAC, "52:54:00:00:00:99");
    falls_back(
        &machine().early("/etc/nmgen/worker-1.yml", &other),
        &["no document in /etc/nmgen matches this machine"],
        // One of them to its end: the running system.
        |case| Ok(case.wait_running()?),
    )
}

/// An address of two documents identifies neither's machine.
#[tests::case]
fn two_matching_hosts() -> Result<()> {
    let machine = machine()
        .early("/etc/nmgen/worker-1.yml", &document())
        .early("/etc/nmgen/worker-2.yml", &document().replace(".70", ".71"));
    let expected =
        ["worker-1.yml and /etc/nmgen/worker-2.yml have", "no document in /etc/nmgen matches"];
    falls_back(&machine, &expected, |_| Ok(()))
}

#[tests::case]
fn broken_document() -> Result<()> {
    let broken = document().replace("prefix-length: 24", "prefix-length: 240");
    falls_back(&machine().early("/etc/nmgen/worker-1.yml", &broken), &["prefix-length"], |_| Ok(()))
}

#[tests::case]
fn directory_that_cannot_be_read() -> Result<()> {
    // A link to itself: root can read any file.
    falls_back(&machine().early_link("/etc/nmgen", "/etc/nmgen"), &["/etc/nmgen"], |_| Ok(()))
}
