//! kubelet starts again in a boot that is decided: configure-ovs's unit, and the agent's with it, is started each time.

use tests::{
    dayone::{
        APPLIED, Document, HOST_FILE, SOON, automatic, br_ex_works, bridge_outcome, finished, mark,
        outcome, patch_port,
    },
    lab::{Case, Error, Field, Inside, Peer},
};

use super::node;

/// br-ex in the database, which a new one would not be, and where its network comes from.
fn bridge(inside: &Inside) -> Result<String, Error> {
    inside.sh("ovs-vsctl get bridge br-ex _uuid; ip route show default; nmcli -g UUID connection show --active | sort")
}

/// kubelet is started again, as by a crash or by pacemaker.
fn restarts_kubelet(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    let (before, start) = (bridge(&inside)?, mark(&inside)?);
    inside.sh("systemctl stop kubelet.service; systemctl start kubelet.service")?;
    inside.wait_unit("kubelet.service", "active", SOON)?;
    inside.wait_sh("! systemctl list-jobs --no-legend | grep .", SOON)?;
    assert_eq!(bridge(&inside)?, before);
    br_ex_works(case)?;
    assert_eq!(inside.read("/run/lab-fenced")?, None);
    let changed = ["MESSAGE_ID=6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e21", start.argument()];
    assert_eq!(inside.journal(&changed)?.len(), 0);
    Ok(())
}

#[tests::case]
fn the_bridges_service_changes_nothing_for_a_kubelet_that_starts_again() -> Result<(), Error> {
    automatic(node(Field::two_nodes_5_1())).day_one().run(&Peer::new(), |case| {
        let inside = case.boot()?;
        finished(&inside)?;
        bridge_outcome(&inside, None)?.exits(0);
        patch_port(&inside)?;
        restarts_kubelet(case)?;
        // Somebody has stopped it, and it would start again.
        inside.sh("systemctl stop dayone-bridge.service")?;
        restarts_kubelet(case)?;
        // By hand it does its work.
        let start = mark(&inside)?;
        inside.sh("systemctl restart dayone-bridge.service")?;
        bridge_outcome(&inside, Some(&start))?.says("in force already");

        inside.write(HOST_FILE, &Document::new().text())?;
        let inside = case.reboot()?;
        finished(&inside)?;
        outcome(&inside, None)?.exits(0);
        restarts_kubelet(case)?;
        // The next boot makes the automatic br-ex, and no start of kubelet before it.
        inside.sh(&format!("rm {HOST_FILE}"))?;
        restarts_kubelet(case)?;
        assert!(inside.read(APPLIED)?.is_some());
        let status = inside.run(&["dayone", "status"])?;
        assert!(status.stdout.starts_with("REMOVED: "), "{status}");
        let inside = case.reboot()?;
        finished(&inside)?;
        bridge_outcome(&inside, None)?.exits(0);
        assert_eq!(inside.read(APPLIED)?, None);
        Ok(())
    })
}
