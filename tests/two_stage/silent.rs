//! A second card with DHCP and no server for it: nobody waits.

use std::{fmt::Write as _, thread};

use tests::{
    lab::{Machines, Nic, VirtualMachine},
    two_stage::{
        ADDRESS, Ignition, MACS, NAME, br_ex, default_route, kubelet_last, moment, one_card, peer,
        static_address, tell, tell_timeline,
    },
};

use crate::Result;

/// Seconds from NetworkManager's first start to the commit of br-ex.
fn seconds(machines: &Machines, with_silent_card: bool) -> Result<f64> {
    let gateway = [192, 0, 2, 1].into();
    let route = default_route(gateway, "eth1");
    let mut early = one_card("eth1", MACS[0], &static_address(ADDRESS), "");
    let mut machine = VirtualMachine::new().nic(Nic::new("nic1", MACS[0]));
    if with_silent_card {
        let mac = MACS[1];
        write!(
            early,
            "  - name: eth2\n    type: ethernet\n    state: up\n    mac-address: {mac}\n    ipv4:\n      enabled: true\n      dhcp: true\n    ipv6:\n      enabled: false\n"
        )?;
        machine = machine.nic(Nic::new("nic2", mac).segment("silent"));
    }
    early.push_str(&route);
    let document = br_ex("enp0s16", "ethernet", ADDRESS, gateway);
    let config = Ignition::new(NAME).document(NAME, &document).text();
    let machine =
        machine.early(&format!("/etc/nmgen/{NAME}.yml"), &early).ignition("192.0.2.1", &config);
    let mut seconds = 0.0;
    machines.run(&machine, &peer().dhcp(), |case| {
        case.power_on()?;
        case.wait_running()?;
        let inside = case.inside()?;
        kubelet_last(&inside)?;
        seconds = moment(&inside, "the network is in force")?
            - moment(&inside, "NetworkManager (version")?;
        tell_timeline(&inside)?;
        tell(&format!("silent card: {with_silent_card}, {seconds:.1} s"));
        Ok::<_, Box<dyn std::error::Error>>(())
    })?;
    Ok(seconds)
}

/// Both at once where there is room for two machines, so that what else the host does is the same for both.
#[test]
fn nobody_waits_for_its_lease() -> Result<()> {
    let measure = |with_silent_card| -> std::result::Result<Option<f64>, String> {
        let measured = Machines::open().map_err(Into::into).and_then(|machines| {
            machines.map(|machines| seconds(&machines, with_silent_card)).transpose()
        });
        measured.map_err(|e: Box<dyn std::error::Error>| format!("{e:?}"))
    };
    let (without, with) = thread::scope(|scope| {
        let without = scope.spawn(|| measure(false));
        let with = measure(true);
        (without.join(), with)
    });
    let without = without.map_err(|_| "the boot without the card panicked")??;
    let (Some(without), Some(with)) = (without, with?) else { return Ok(()) };
    // The shortest wait for a lease is 45 s. What the card itself costs is in what was told.
    assert!(with < without * 1.25, "{with:.1} s with it, {without:.1} s without");
    Ok(())
}
