//! The root disk is on the network: the profile that carries it stays, into the running system.

use tests::{
    lab::{Machines, Nic, Peer, VirtualMachine},
    two_stage::{ADDRESS, MACS, NAME, has_one_profile, one_card, static_address},
};

use crate::Result;

#[tests::case]
fn its_card_is_left_alone() -> Result<()> {
    let machines = Machines::open()?;
    // As after a firmware's table: an address on the card, and iSCSI's argument. The lab's disk does not depend on it.
    let machine = VirtualMachine::new()
        .nic(Nic::new("nic1", MACS[0]))
        .argument("rd.iscsi.firmware=1")
        .argument("ip=192.0.2.72::192.0.2.1:255.255.255.0::enp0s16:none")
        .early(
            &format!("/etc/nmgen/{NAME}.yml"),
            &one_card("eth1", MACS[0], &static_address(ADDRESS), ""),
        );
    machines.run(&machine, &Peer::new(), |case| {
        case.boot()?;
        has_one_profile(case, "enp0s16", "enp0s16", [192, 0, 2, 72].into())?;
        let inside = case.inside()?;
        let told = inside.sh("journalctl --boot --output=cat --identifier=nmgen")?;
        assert!(told.contains("the root disk is on the network"), "{told}");
        let addresses = inside.sh("ip -oneline -4 address show enp0s16")?;
        assert!(!addresses.contains(&ADDRESS.to_string()), "{addresses}");
        // The running system's NetworkManager has taken the initramfs's profile over.
        let uuid = "nmcli -g UUID,DEVICE connection show --active | sed -n s/:enp0s16$//p";
        let from = inside
            .sh(&format!("grep -l uuid=$({uuid}) /run/NetworkManager/system-connections/*"))?;
        assert!(from.ends_with("/enp0s16.nmconnection"), "{from}");
        Ok(())
    })
}
