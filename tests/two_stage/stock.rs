//! An initramfs that was built without nmgen, as CoreOS's: the archive brings the program, and Ignition fetches its config over the
//! document's static network.

use tests::{
    lab::{Machines, Nic, Peer, VirtualMachine},
    two_stage::{
        ADDRESS, Ignition, MACS, NAME, archive_with_program, has_one_profile, one_card,
        static_address,
    },
};

use crate::Result;

#[tests::case]
fn the_archive_is_enough() -> Result<()> {
    let machines = Machines::open()?;
    let document = one_card("eth1", MACS[0], &static_address(ADDRESS), "");
    // No rd.neednet: coreos-enable-network asks for the network when Ignition needs it.
    let machine = VirtualMachine::default()
        .stock_initramfs()
        .coreos()
        .nic(Nic::new("nic1", MACS[0]))
        .first_archive(archive_with_program(NAME, &document)?)
        .ignition("192.0.2.1", &Ignition::bare(NAME).text());
    machines.run(&machine, &Peer::new(), |case| {
        case.boot()?;
        let requests = case.requests()?;
        assert!(requests.contains(&ADDRESS.to_string()), "{requests}");
        has_one_profile(case, "enp0s16", "enp0s16", ADDRESS)?;
        let inside = case.inside()?;
        let mark = inside.sh("cat /etc/nmgen/persisted")?;
        assert!(mark.contains(&format!("\nhost={NAME}\ndocument=sha256:")), "{mark}");
        // CoreOS has taken the links down: NetworkManager has activated the profile anew.
        let told = inside.sh("journalctl --boot --output=cat _TRANSPORT=kernel")?;
        assert!(told.contains("the running system has a network of its own"), "{told}");
        Ok(())
    })
}
