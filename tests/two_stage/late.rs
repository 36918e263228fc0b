//! Late cards: initramfs and agent each wait for the card of their own document.

use std::{thread, time::Duration};

use tests::{
    lab::{Machines, Nic, VirtualMachine, VmCase},
    two_stage::{
        ADDRESS, Ignition, MACS, NAME, SOON, br_ex, default_route, kubelet_last, messages, moment,
        one_card, peer, static_address,
    },
};

use crate::Result;

/// The delay of the card.
const LATE: Duration = Duration::from_secs(10);

#[tests::case]
fn both_stages_wait_for_their_card() -> Result<()> {
    let machines = Machines::open()?;
    let gateway = [192, 0, 2, 1].into();
    let early =
        one_card("eth1", MACS[0], &static_address(ADDRESS), &default_route(gateway, "eth1"));
    let document = br_ex("enp2s0", "ethernet", [192, 0, 2, 71].into(), gateway);
    let config = Ignition::new(NAME).document(NAME, &document).text();
    let machine = VirtualMachine::new()
        .early(&format!("/etc/nmgen/{NAME}.yml"), &early)
        .ignition("192.0.2.1", &config);
    machines.run(&machine, &peer(), |case| {
        case.power_on()?;
        case.wait_console("waiting for network cards", VmCase::BOOT)?;
        thread::sleep(LATE);
        case.plug(&Nic::new("nic1", MACS[0]))?;
        case.wait_running()?;
        let inside = case.inside()?;
        let waiting =
            "systemctl show --property=StatusText dayone.service | grep 'waiting for.*link'";
        inside.wait_sh(waiting, VmCase::BOOT)?;
        thread::sleep(LATE);
        assert_eq!(inside.unit("kubelet.service")?.active_state, "inactive");
        case.plug(&Nic::new("nic2", MACS[1]))?;
        kubelet_last(&inside)?;
        assert!(case.peer().pings([192, 0, 2, 71], SOON)?);
        let entries = messages(&inside)?;
        let waited =
            moment(&entries, "this machine is")? - moment(&entries, "waiting for network")?;
        assert!(waited >= LATE.as_secs_f64() * 0.9, "{waited}");
        Ok(())
    })
}
