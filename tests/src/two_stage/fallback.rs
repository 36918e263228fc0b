//! A boot without a usable document, which goes on by DHCP.

use crate::{
    lab::{Machines, Peer, VirtualMachine, VmCase},
    two_stage::{ADDRESS, MACS, one_card, static_address},
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A person's commands in an emergency shell begin with this line.
pub const EMERGENCY: &str = "lab: a shell in the initramfs";

/// A document for the machine's only card.
pub fn document() -> String {
    one_card("eth1", MACS[0], &static_address(ADDRESS), "")
}

/// Boots by DHCP until Ignition has its configuration, and checks nmgen's lines.
///
/// # Errors
/// Those of the lab.
///
/// # Panics
/// If the machine does anything else.
pub fn falls_back(
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
        assert_eq!(leases[0].mac, MACS[0]);
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
