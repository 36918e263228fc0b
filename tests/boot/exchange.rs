//! A network card that was replaced between two boots: with a document for the new one the running system has its network again.

use tests::{
    lab::{Machines, Nic, Peer, VirtualMachine},
    two_stage::{
        ADDRESS, Ignition, MACS, NAME, default_route, has_one_profile, one_card, static_address,
    },
};

use crate::Result;

/// The new card's address.
const NEW: &str = "52:54:00:00:00:7f";

fn document(mac: &str) -> String {
    let route = default_route(Peer::GATEWAY, "eth1");
    one_card("eth1", mac, &static_address(ADDRESS), &route)
}

#[tests::case]
fn the_new_card_has_the_network_of_the_old_one() -> Result<()> {
    let machines = Machines::open()?;
    let path = format!("/etc/nmgen/{NAME}.yml");
    let machine = VirtualMachine::new()
        .nic(Nic::new("nic1", MACS[0]))
        .early(&path, &document(MACS[0]))
        .embedded_ignition(&Ignition::bare(NAME).text());
    machines.run(&machine, &Peer::new(), |case| {
        case.boot()?;
        has_one_profile(case, "enp0s16", "enp0s16", ADDRESS)?;
        case.reboot_as(|machine| machine.replaced_nic("nic1", NEW).early(&path, &document(NEW)))?;
        has_one_profile(case, "enp0s16", "enp0s16", ADDRESS)?;
        let inside = case.inside()?;
        let profile = "/etc/NetworkManager/system-connections/enp0s16.nmconnection";
        let profile = inside.sh(&format!("cat {profile}"))?;
        assert!(profile.to_lowercase().contains(&format!("mac-address={NEW}")), "{profile}");
        assert_eq!(inside.sh("ip -4 route show default | wc -l")?, "1");
        let told = inside.sh("journalctl --boot --output=cat --identifier=nmgen")?;
        assert!(told.contains("for cards that this machine lacks"), "{told}");
        Ok(())
    })
}
