//! `agent/doc/runbook.md`: its commands, as they stand there, on a node whose document names a wrong gateway.

use std::{fs, io};

use tests::{
    dayone::{
        ADDRESS, ENTRIES, HASTE, HOST_FILE, SOON, commands, follow, kubelet_ran, mark, outcome,
        replays, worker, wrong_gateway,
    },
    lab::{Error, Inside, Peer},
    program::root,
};

fn kubelet_runs(inside: &Inside) -> Result<(), Error> {
    inside.wait_unit("kubelet.service", "active", SOON)?;
    Ok(())
}

#[tests::case]
fn runbook_leads_a_node_with_a_wrong_document_back() -> Result<(), Error> {
    let guide = fs::read_to_string(root().join("agent/doc/runbook.md"));
    assert!(guide.is_ok(), "{guide:?}");
    let guide = guide.unwrap_or_default();
    let wrong = wrong_gateway();
    // Given up after one failure, so that no later attempt changes the node under the reader.
    let settings = HASTE.replace("max-attempts = 0", "max-attempts = 1");
    let node = worker().day_one().document(&wrong).settings(&settings).machine_config_operator();
    node.run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        outcome(&inside, None)?.exits(3);
        inside.wait_message(
            &ENTRIES,
            SOON * 3,
            "this document failed once and is not tried again",
        )?;
        inside.wait_sh("grep --quiet given-up /run/dayone/status.json", SOON)?;
        replays(&inside)?;
        for section in ["First look", "The journal", "What to collect"] {
            follow(case, &guide, section, 3, |_| Ok(()))?;
        }
        let inside = case.inside()?;
        let archive = inside.sh("tar --list --gzip --file=/root/dayone.tar.gz")?;
        for file in ["run/dayone/status.json", "var/lib/dayone/record.json", &HOST_FILE[1..]] {
            assert!(archive.lines().any(|path| path == file), "{file} in {archive}");
        }
        assert!(inside.sh("stat --format=%a /root/dayone*")?.lines().all(|mode| mode == "600"));
        let start = mark(&inside)?;
        follow(case, &guide, "Another attempt", 3, |_| Ok(()))?;
        let inside = case.inside()?;
        outcome(&inside, Some(&start))?.says("gateway 192.0.2.254");
        assert!(!kubelet_ran(&inside)?);

        // The rest of that section brings the agent back for later boots.
        follow(case, &guide, "Without the agent for one boot", 3, |_| Ok(()))?;
        let inside = case.inside()?;
        kubelet_runs(&inside)?;
        assert_eq!(inside.read("/run/dayone/status.json")?, None);
        assert!(inside.read("/run/lab-ovs-configuration")?.is_some());
        assert!(case.peer().pings(ADDRESS, SOON)?);

        follow(case, &guide, "A corrected document", 0, |_| Ok(()))?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        follow(case, &guide, "The last good configuration", 0, |_| Ok(()))?;
        assert!(case.peer().pings(ADDRESS, SOON)?);

        follow(case, &guide, "The node without the agent", 0, |_| Ok(()))?;
        let inside = case.inside()?;
        kubelet_runs(&inside)?;
        assert_eq!(inside.read("/run/dayone/undecided")?, None);
        assert_eq!(inside.unit("dayone.service")?.active_state, "inactive");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

/// The guide has each unit.
#[tests::case]
fn runbook_is_complete() -> io::Result<()> {
    let guide = fs::read_to_string(root().join("agent/doc/runbook.md"))?;
    let system = root().join("systemd/usr/lib/systemd");
    let preset = fs::read_to_string(system.join("system-preset/80-dayone.preset"))?;
    let without = commands(&guide, "The node without the agent");
    let disable: Vec<&str> = without
        .iter()
        .filter_map(|shown| shown.command.strip_prefix("systemctl disable "))
        .flat_map(str::split_whitespace)
        .collect();
    for unit in preset.lines().filter_map(|line| line.strip_prefix("enable ")) {
        assert!(disable.contains(&unit), "{unit}");
        assert!(guide.contains(&format!("\n| `{unit}` |")), "{unit}");
    }
    Ok(())
}
