//! The running system has a profile of its own for the card that the initramfs used: it comes up with that one, at the first boot
//! and at a later one.

use tests::{
    lab::{Machines, Nic, Peer, VirtualMachine},
    two_stage::{ADDRESS, Ignition, MACS, NAME, has_one_profile, one_card, static_address},
};

use crate::Result;

const OWN: &str = "\
[connection]
id=own
uuid=7c5f4a52-4a31-4a4f-9d6e-5f0c7c1f8a11
type=ethernet
interface-name=enp0s16

[ipv4]
method=manual
address1=192.0.2.71/24

[ipv6]
method=disabled
";

#[tests::case]
fn it_is_activated_at_every_boot() -> Result<()> {
    let machines = Machines::open()?;
    let machine = VirtualMachine::new()
        .nic(Nic::new("nic1", MACS[0]))
        .early(
            &format!("/etc/nmgen/{NAME}.yml"),
            &one_card("eth1", MACS[0], &static_address(ADDRESS), ""),
        )
        .embedded_ignition(&Ignition::bare(NAME).keyfile("own", OWN).text());
    machines.run(&machine, &Peer::new(), |case| {
        case.boot()?;
        has_one_profile(case, "enp0s16", "own", [192, 0, 2, 71].into())?;
        case.reboot()?;
        has_one_profile(case, "enp0s16", "own", [192, 0, 2, 71].into())?;
        let profiles = case.inside()?.sh("nmcli -g NAME connection show")?;
        assert!(!profiles.contains("enp0s16"), "{profiles}");
        Ok(())
    })
}
