//! Where nmgen has nothing to say, or cannot say it, the boot goes on by DHCP, and one line says why.

use tests::{
    lab::{Machines, Nic, Peer, VirtualMachine, VmCase},
    two_stage::{Ignition, SOON, one_card, static_address},
};

use crate::Result;

const MAC: &str = "52:54:00:00:00:71";

fn document() -> String {
    one_card("eth1", MAC, &static_address([192, 0, 2, 70].into()), "")
}

fn machine() -> VirtualMachine {
    // Without the agent: what this is about is the first stage.
    let config = Ignition::bare("worker-7").text();
    VirtualMachine::new().nic(Nic::new("nic1", MAC)).ignition("192.0.2.1", &config)
}

/// Boots to the running system, by a lease; returns nmgen's lines.
fn by_dhcp(case: &mut VmCase<'_>) -> Result<Vec<String>> {
    case.power_on()?;
    case.wait_running()?;
    let leases = case.peer().leases()?;
    assert_eq!(leases.len(), 1, "{leases:?}");
    assert_eq!(leases[0].mac, MAC);
    let requests = case.requests()?;
    assert!(requests.contains(&leases[0].address.to_string()), "{requests}");
    // The journal has each line twice: from the kernel's log, and from the unit.
    let of_nmgen = "journalctl --boot --output=cat --identifier=nmgen _TRANSPORT=kernel";
    Ok(case.inside()?.sh(of_nmgen)?.lines().map(str::to_owned).collect())
}

fn falls_back(machine: &VirtualMachine, expected: &str) -> Result<()> {
    let Some(machines) = Machines::open()? else { return Ok(()) };
    machines.run(machine, &Peer::new().dhcp(), |case| {
        let lines = by_dhcp(case)?;
        let told: Vec<_> = lines.iter().filter(|line| !line.starts_with("waiting for")).collect();
        assert_eq!(told.len(), 1, "{lines:?}");
        assert!(told[0].contains(expected), "{lines:?}");
        assert!(case.wait_console(expected, SOON)?.contains("nmgen: "));
        Ok(())
    })
}

#[test]
fn no_matching_host() -> Result<()> {
    let other = document().replace(MAC, "52:54:00:00:00:99");
    falls_back(
        &machine().early("/etc/nmgen/worker-1.yml", &other),
        "no document in /etc/nmgen is for this machine",
    )
}

#[test]
fn two_matching_hosts() -> Result<()> {
    let machine = machine()
        .early("/etc/nmgen/worker-1.yml", &document())
        .early("/etc/nmgen/worker-2.yml", &document().replace(".70", ".71"));
    falls_back(&machine, "/etc/nmgen/worker-2.yml")
}

#[test]
fn broken_document() -> Result<()> {
    let broken = document().replace("prefix-length: 24", "prefix-length: 240");
    falls_back(&machine().early("/etc/nmgen/worker-1.yml", &broken), "prefix-length")
}

#[test]
fn directory_that_cannot_be_read() -> Result<()> {
    // A link that leads back to itself: root may read everything else.
    falls_back(&machine().early_link("/etc/nmgen", "/etc/nmgen"), "/etc/nmgen")
}
