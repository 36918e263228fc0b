//! The documents came with the archive of the first boot; a later one, whose initramfs brings a network up too, has none.

use tests::{
    lab::{Machines, Nic, Peer, VirtualMachine},
    two_stage::{ADDRESS, MACS, NAME, archive, has_one_profile, one_card, static_address},
};

use crate::Result;

#[tests::case]
fn a_later_boot_says_what_is_missing_and_keeps_the_network() -> Result<()> {
    let machines = Machines::open()?;
    let document = one_card("eth1", MACS[0], &static_address(ADDRESS), "");
    let hosts = [(NAME.to_owned(), document)].into();
    let machine = VirtualMachine::new()
        .nic(Nic::new("nic1", MACS[0]))
        // Nobody answers DHCP at the second boot.
        .argument("rd.net.timeout.dhcp=5")
        .first_archive(archive(&hosts)?);
    machines.run(&machine, &Peer::new(), |case| {
        case.boot()?;
        has_one_profile(case, "enp0s16", "enp0s16", ADDRESS)?;
        let mark = case.inside()?.sh("cat /etc/nmgen/persisted")?;
        for field in [format!("\nhost={NAME}\n"), "\ndocument=sha256:".into(), "\nmachine=".into()]
        {
            assert!(mark.contains(&field), "{mark}");
        }
        case.reboot()?;
        has_one_profile(case, "enp0s16", "enp0s16", ADDRESS)?;
        let inside = case.inside()?;
        let told = inside.sh("journalctl --boot --output=cat --identifier=nmgen")?;
        let warning =
            format!("no document for this machine, and the running system has that of {NAME}");
        assert!(told.contains(&warning), "{told}");
        assert_eq!(inside.sh("cat /etc/nmgen/persisted")?, mark.trim_end());
        Ok(())
    })
}
