//! CoreOS's first boot with a whole Ignition config in the initramfs: nobody asks for a network, and the running system has the
//! document's all the same.

use tests::{
    lab::{Machines, Nic, Peer, VirtualMachine},
    two_stage::{ADDRESS, Ignition, MACS, NAME, has_one_profile, one_card, static_address},
};

use crate::Result;

#[tests::case]
fn the_running_system_gets_its_static_network() -> Result<()> {
    let machines = Machines::open()?;
    let machine = VirtualMachine::default()
        .coreos()
        .nic(Nic::new("nic1", MACS[0]))
        .early(
            &format!("/etc/nmgen/{NAME}.yml"),
            &one_card("eth1", MACS[0], &static_address(ADDRESS), ""),
        )
        .embedded_ignition(&Ignition::bare(NAME).text());
    // A lease would show that the card was left to DHCP.
    machines.run(&machine, &Peer::new().dhcp(), |case| {
        case.boot()?;
        has_one_profile(case, "enp0s16", "enp0s16", ADDRESS)?;
        assert!(case.peer().leases()?.is_empty());
        let inside = case.inside()?;
        let told = inside.sh("journalctl --boot --output=cat --identifier=nmgen")?;
        assert!(told.contains("for the running system only; eth1 is enp0s16"), "{told}");
        assert!(told.contains("the running system got 1 profile"), "{told}");
        // The initramfs had no network.
        let started = inside.sh("journalctl --boot --output=cat --unit=nm-initrd.service")?;
        assert!(!started.contains("Started"), "{started}");
        Ok(())
    })
}
