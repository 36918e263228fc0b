//! The cluster changes its MTU, on a bond below a document's br-ex and at a switch with the old one: the operator's unit is
//! skipped, the document with the new MTU is rolled back until the switch carries its frames, and the next boot has it in
//! force.

use std::net::Ipv4Addr;

use tests::{
    dayone::unwrapped,
    lab::{Inside, Machines, VmCase},
    two_stage::{
        ADDRESS, Ignition, NAME, PATIENCE, SERVER, SOON, archive, bonded, br_ex, fleet,
        kubelet_last, peer,
    },
    wire::{detail, probed},
};

use crate::Result;

const GATEWAY: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const UNIT: &str = "mtu-migration.service";
const SETTINGS: &str = "probe = 10\n[probe]\nmtu = \"required\"\n";

/// The document with this MTU on the bond and on br-ex.
fn document(mtu: u16) -> String {
    let text = br_ex("bond0", "bond", ADDRESS, GATEWAY);
    let with = |text: String, kind: &str| {
        let state = format!("  type: {kind}\n  state: up\n");
        text.replacen(&state, &format!("{state}  mtu: {mtu}\n"), 1)
    };
    let text = with(with(text, "bond"), "ovs-interface");
    assert_eq!(text.matches(&format!("mtu: {mtu}\n")).count(), 2, "{text}");
    text
}

fn mtus(inside: &Inside) -> Result<String> {
    let links = "cd /sys/class/net; cat br-ex/mtu bond0/mtu enp0s16/mtu enp0s17/mtu | uniq";
    Ok(inside.sh(links)?)
}

/// The operator's unit is skipped, and nothing waits for it.
fn is_skipped(case: &VmCase<'_>, told: &str) -> Result<Inside> {
    let inside = case.inside()?;
    kubelet_last(&inside)?;
    let unit = inside.unit(UNIT)?;
    let seen = (unit.exec_start, &*unit.active_state, &*unit.result);
    assert_eq!(seen, (None, "inactive", "exec-condition"), "{unit:?}");
    let said = inside.sh("journalctl --boot --output=cat --identifier=dayone")?;
    let skipped = said.lines().find(|line| line.starts_with("mtu-migration.service is skipped: "));
    assert!(skipped.is_some_and(|line| line.contains(told)), "{told} in {said}");
    assert!(case.peer().pings(ADDRESS, SOON)?);
    Ok(inside)
}

fn applies(inside: &Inside, mtu: u16, exit: i32) -> Result<String> {
    inside.write(&format!("/etc/nmstate/openshift/{NAME}.yml"), &document(mtu))?;
    let output = inside.run_within(&["dayone", "apply"], VmCase::BOOT)?.exits(exit);
    Ok([output.stdout.as_str(), &output.stderr].concat())
}

fn status(inside: &Inside, exit: i32) -> Result<String> {
    let status = inside.run(&["dayone", "status"])?.exits(exit);
    Ok(unwrapped(&status.stdout))
}

#[tests::case]
fn the_cluster_gets_a_larger_mtu() -> Result<()> {
    let machines = Machines::open()?;
    let configuration = Ignition::new(NAME)
        .mtu_migration(9000)
        .settings(&format!("{PATIENCE}{SETTINGS}"))
        .document(NAME, &document(1500));
    let machine = bonded("active-backup")
        .archive(archive(&fleet("active-backup"))?)
        .ignition(&SERVER.to_string(), &configuration.text());
    machines.run(&machine, &peer(), |case| {
        case.boot()?;
        let inside =
            is_skipped(case, "the cluster wants an MTU of 9000, br-ex of the document has 1500")?;
        let page = status(&inside, 3)?;
        assert!(page.contains("its MTU is too small for the cluster"), "{page}");

        // The switch drops the larger frames.
        let refused = applies(&inside, 9000, 3)?;
        assert!(refused.contains("9000 bytes do not pass (1500 do)"), "{refused}");
        assert_eq!(mtus(&inside)?, "1500");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        case.frames(9000)?;
        applies(&inside, 9000, 0)?;
        assert_eq!(mtus(&inside)?, "9000");

        case.reboot()?;
        let inside = is_skipped(case, "br-ex of the document has 9000")?;
        assert_eq!(mtus(&inside)?, "9000");
        let good = probed(&inside, 0)?;
        let passed = detail(&good, "mtu", &GATEWAY.to_string(), "ok").unwrap_or_default();
        assert!(passed.ends_with("9000 bytes pass"), "{good}");
        let page = status(&inside, 0)?;
        assert!(
            page.contains("the cluster wants an MTU of 9000, br-ex of the document has 9000"),
            "{page}"
        );

        applies(&inside, 1500, 0)?;
        assert_eq!(mtus(&inside)?, "1500");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}
