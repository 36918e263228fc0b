//! A cluster set up by the operator's units gets the agent, or its first document.

use std::net::Ipv4Addr;

use tests::{
    dayone::{
        APPLIED, Document, HOST_FILE, SOON, agent, br_ex_works, finished, keeps_patch_port,
        outcome, patch_port,
    },
    lab::{Error, Field, Inside, Node, Peer},
};

use super::{each_release, node, peers::made_by_configure_ovs};

/// The agent's units need this file: without it the node behaves as if the agent were not installed.
const INSTALLED: &str = "/etc/lab-agent";
const DAY_TWO: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 77);

fn agent_later(node: Node) -> Node {
    let condition = format!("[Unit]\nConditionPathExists={INSTALLED}\n");
    let drop_in = |unit: &str| format!("/etc/systemd/system/{unit}.service.d/50-absent.conf");
    agent(node).file(&drop_in("dayone"), &condition, 0o644).file(
        &drop_in("dayone-recover"),
        &condition,
        0o644,
    )
}

/// Checks that OVSDB has one br-ex, of the document's profile, and that configure-ovs.sh's profiles are gone.
fn one_bridge_of_the_document(inside: &Inside) -> Result<(), Error> {
    let rows = inside.sh("ovs-vsctl --bare --columns=name find bridge name=br-ex")?;
    assert_eq!(rows, "br-ex");
    let row = inside.sh("ovs-vsctl get bridge br-ex external_ids:NM.connection.uuid")?;
    let profile = inside.sh("nmcli --get-values connection.uuid connection show br-ex-br")?;
    assert_eq!(row.trim_matches('"'), profile);
    let profiles = inside.sh("nmcli --get-values NAME connection show")?;
    assert!(!profiles.lines().any(|name| name.starts_with("ovs-")), "{profiles}");
    Ok(())
}

each_release!(migration_from_configure_ovs: release_4_16, release_4_20, two_nodes_5_1);
fn migration_from_configure_ovs(field: Field) -> Result<(), Error> {
    let text = Document::new().text();
    agent(node(field)).day_one().run(&Peer::new(), |case| {
        let inside = case.boot()?;
        finished(&inside)?;
        made_by_configure_ovs(&inside)?;
        patch_port(&inside)?;
        // The reboot keeps only OVSDB's file: the profiles are in /run.
        let uuid = inside.sh("ovs-vsctl get bridge br-ex external_ids:NM.connection.uuid")?;
        let profile = inside.sh("nmcli --get-values connection.uuid connection show br-ex")?;
        assert!(profile.contains(uuid.trim_matches('"')), "{uuid} {profile}");
        inside.write(HOST_FILE, &text)?;

        for boot in 0..2 {
            let inside = case.reboot()?;
            finished(&inside)?;
            let outcome = outcome(&inside, None)?;
            assert_eq!(outcome.exit, 0, "boot {boot}: {}", outcome.text());
            br_ex_works(case)?;
            one_bridge_of_the_document(&inside)?;
            patch_port(&inside)?;
            assert_eq!(inside.read(APPLIED)?.as_ref(), Some(&text));
        }
        Ok(())
    })
}

each_release!(adoption_of_a_document_that_the_peers_applied: release_4_16, release_4_20, release_5_1);
fn adoption_of_a_document_that_the_peers_applied(field: Field) -> Result<(), Error> {
    let text = Document::new().text();
    agent_later(node(field)).day_one().document(&text).run(&Peer::new(), |case| {
        let inside = case.boot()?;
        finished(&inside)?;
        br_ex_works(case)?;
        assert_eq!(inside.unit("dayone.service")?.exec_start, None);
        let port = patch_port(&inside)?;
        inside.sh("nmcli connection modify br-ex-if +ipv4.addresses 192.0.2.77/24")?;
        inside.write(INSTALLED, "")?;

        let inside = case.reboot()?;
        finished(&inside)?;
        outcome(&inside, None)?.exits(0);
        br_ex_works(case)?;
        assert!(case.peer().pings(DAY_TWO, SOON)?, "the day-2 change is gone");
        assert!(keeps_patch_port(&inside, &port)?);
        inside.run(&["dayone", "status"])?.exits(0);
        Ok(())
    })
}
