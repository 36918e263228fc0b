//! A document for br-ex that cuts the node off: the roll back restores the ramdisk's network, and kubelet does not start.

use tests::{
    dayone::{APPLIED, kubelet_ran},
    lab::{Machines, Nic, VirtualMachine, VmCase},
    two_stage::{
        ADDRESS, Ignition, MACS, NAME, PATIENCE, SOON, br_ex, default_route, one_card, peer,
        static_address,
    },
};

use crate::Result;

#[tests::case]
fn rolls_back_to_the_ramdisks_network() -> Result<()> {
    let machines = Machines::open()?;
    let gateway = [192, 0, 2, 1].into();
    let early =
        one_card("eth1", MACS[0], &static_address(ADDRESS), &default_route(gateway, "eth1"));
    let document = br_ex("enp0s16", "ethernet", ADDRESS, [192, 0, 2, 254].into());
    let config = Ignition::new(NAME)
        .document(NAME, &document)
        .settings(&format!("{PATIENCE}probe = 5\n"))
        .text();
    let machine = VirtualMachine::new()
        .nic(Nic::new("nic1", MACS[0]))
        .early(&format!("/etc/nmgen/{NAME}.yml"), &early)
        .ignition("192.0.2.1", &config);
    machines.run(&machine, &peer(), |case| {
        case.power_on()?;
        case.wait_running()?;
        let told = case.wait_console("FAILED: ", VmCase::BOOT)?;
        assert!(told.contains("rolled back"), "{told}");
        assert!(told.contains("192.0.2.254"), "{told}");
        let inside = case.inside()?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        inside.run(&["ovs-vsctl", "br-exists", "br-ex"])?.exits(2);
        assert_eq!(inside.read(APPLIED)?, None);
        assert!(!kubelet_ran(&inside)?);
        let status = inside.run(&["dayone", "status"])?;
        assert_ne!(status.status.code(), Some(0), "{status}");
        assert!(status.stdout.contains("192.0.2.254"), "{status}");
        the_console_has_no_secret(case, &document)?;
        rolls_back_without_ovs_vswitchd(case, &document)
    })
}

/// A document that is refused, with a secret as a number.
fn the_console_has_no_secret(case: &mut VmCase<'_>, document: &str) -> Result<()> {
    let inside = case.inside()?;
    let file = format!("/etc/nmstate/openshift/{NAME}.yml");
    let section = "  802.1x: {identity: a, password: 83517246, typo: 1}\n  state: up";
    inside.write(&file, &document.replacen("  state: up", section, 1))?;
    inside.sh("systemctl restart --no-block dayone.service")?;
    case.wait_console("<hidden>", VmCase::BOOT)?;
    inside.sh("systemctl stop dayone.service")?;
    assert!(!case.console().contains("83517246"));
    let logs = inside.sh("dmesg; journalctl --boot --output=cat --no-pager")?;
    assert!(!logs.contains("83517246"));
    inside.write(&file, document)?;
    Ok(())
}

/// Kills ovs-vswitchd for good, as systemd gives up one that dies too often, once br-ex has its address.
const DIES: &str = "until ip -4 -oneline address show br-ex | grep -q inet; do sleep 0.1; done; \
     systemctl mask --runtime ovs-vswitchd.service; \
     systemctl kill --signal=KILL ovs-vswitchd.service";

/// The kernel's datapath keeps the card of a bridge until somebody takes it from there.
fn rolls_back_without_ovs_vswitchd(case: &VmCase<'_>, document: &str) -> Result<()> {
    let inside = case.inside()?;
    inside.sh("systemctl stop dayone.service")?;
    inside.write("/etc/dayone/dayone.toml", "[timeout]\nroll-back = 60\nprobe = 5\n")?;
    inside.sh(&format!("systemd-run --no-block sh -c '{DIES}'"))?;
    inside.sh("systemctl start --no-block dayone.service")?;
    let said = "journalctl --unit=dayone.service | grep 'taking it from the datapath'";
    inside.wait_sh(said, VmCase::BOOT)?;
    let outcome = "dayone status --json | grep --extended-regexp 'rolled-back|roll-back-failed'";
    assert!(inside.wait_sh(outcome, VmCase::BOOT)?.contains("rolled-back"));
    // Without the next attempt.
    inside.sh("systemctl stop dayone.service")?;
    assert!(case.peer().pings(ADDRESS, SOON)?);

    inside.sh(
        "systemctl unmask --runtime ovs-vswitchd.service; systemctl start ovs-vswitchd.service",
    )?;
    inside.write("/etc/dayone/dayone.toml", &format!("{PATIENCE}probe = 5\n"))?;
    let right = document.replace("192.0.2.254", "192.0.2.1");
    inside.write(&format!("/etc/nmstate/openshift/{NAME}.yml"), &right)?;
    inside.sh("systemctl start dayone.service; dayone status")?;
    assert!(case.peer().pings(ADDRESS, SOON)?);
    Ok(())
}
