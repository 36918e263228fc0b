//! An update of the agent and the way back: each version reads the other one's state.
//!
//! `OLDER_DAYONE=/path/to/dayone cargo test -p tests --test dayone -- older::`

use std::{net::Ipv4Addr, path::Path};

use tests::{
    dayone::{
        ADDRESS, ALTERNATIVE, APPLIED, ATTEMPT, Document, HOST_FILE, MAC, Mark, SOON,
        bridge_outcome, kubelet_ran, mark, outcome, try_document, with_bridge, with_programs,
    },
    lab::{Case, Error, Inside, Lab, Nic, Node, Peer},
    program, skip,
};

const DAY_TWO: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 77);

/// A case ends here without one.
fn older() -> &'static Path {
    program::older_dayone().unwrap_or_else(|| {
        skip::extra("OLDER_DAYONE= names another version of dayone, whose state is read")
    })
}

fn node(programs: [&Path; 2]) -> Node {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).day_one();
    with_programs(node, programs)
}

/// Installs one of the two builds.
fn install(inside: &Inside, which: &str) -> Result<(), Error> {
    inside.sh(&format!("ln --symbolic --force /usr/lib/dayone/{which} {ALTERNATIVE}; sync"))?;
    Ok(())
}

/// The second version takes for its own what the first one has committed and left open.
fn second_reads_the_first_ones_state(programs: [&Path; 2]) -> Result<(), Error> {
    let good = Document::new().text();
    let patient = "[wait]\nlink = 2\n[timeout]\nprobe = 60\nroll-back = 20\n";
    node(programs).document(&good).settings(patient).run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        inside.sh("nmcli connection modify br-ex-if +ipv4.addresses 192.0.2.77/24")?;
        install(&inside, "second")?;
        case.reboot()?;
        stays(case)?;
        assert_eq!(case.inside()?.read(APPLIED)?.as_ref(), Some(&good));
        // A transaction of the first version is cut off: no gateway answers, and the cut comes before the roll back.
        let inside = case.inside()?;
        install(&inside, "first")?;
        let bad = Document::new().with("192.0.2.1\n    next-hop", "192.0.2.9\n    next-hop").text();
        inside.write(HOST_FILE, &bad)?;
        let start = mark(&inside)?;
        inside.sh("systemctl stop dayone.service; systemctl start --no-block dayone.service")?;
        inside.wait_journal(&start.entries(), ATTEMPT, |entry| {
            entry.message().starts_with("opening the journal")
        })?;
        inside.wait_sh("ip route | grep 192.0.2.9", ATTEMPT)?;
        install(&inside, "second")?;
        inside.write(HOST_FILE, &good)?;
        inside.sh("sync")?;
        case.cut_power()?;
        case.boot()?;
        let undone = "MESSAGE_ID=6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e07";
        assert_eq!(case.inside()?.journal(&[undone])?.len(), 1);
        stays(case)?;
        // The first version again, over what the second one wrote.
        install(&case.inside()?, "first")?;
        case.reboot()?;
        stays(case)?;
        let inside = case.inside()?;
        install(&inside, "second")?;
        try_document(&inside, &Document::new().with("192.0.2.10", "192.0.2.11").text())?.exits(0);
        assert!(case.peer().pings(Ipv4Addr::new(192, 0, 2, 11), SOON)?);
        Ok(())
    })
}

/// The document is in force without an apply, changes of day two stay, and kubelet runs.
fn stays(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    outcome(&inside, None)?.exits(0).says("in force already");
    inside.wait_unit("kubelet.service", "active", SOON)?;
    assert!(case.peer().pings(ADDRESS, SOON)? && case.peer().pings(DAY_TWO, SOON)?);
    let status = inside.run(&["dayone", "status"])?;
    assert!(status.stdout.starts_with(&format!("IN FORCE: {HOST_FILE}")), "{status}");
    Ok(())
}

#[tests::case]
fn an_update_reads_the_older_versions_state() -> Result<(), Error> {
    second_reads_the_first_ones_state([older(), program::dayone()])
}

#[tests::case]
fn the_way_back_reads_the_newer_versions_state() -> Result<(), Error> {
    second_reads_the_first_ones_state([program::dayone(), older()])
}

#[tests::case]
fn an_automatic_bridge_is_made_by_each_version_after_the_other() -> Result<(), Error> {
    with_bridge(node([older(), program::dayone()])).run(&Peer::new(), |case| {
        for next in ["second", "first", "second"] {
            let inside = case.boot()?;
            bridge_outcome(&inside, None)?.exits(0);
            inside.wait_unit("kubelet.service", "active", SOON)?;
            assert!(case.peer().pings(ADDRESS, SOON)?);
            install(&inside, next)?;
            case.shut_down()?;
        }
        Ok(())
    })
}

/// What a cluster that runs would lose: br-ex as it is in the database, and its flows.
fn bridge(inside: &Inside) -> Result<String, Error> {
    inside.sh("ovs-vsctl get bridge br-ex _uuid; ovs-ofctl --no-stats dump-flows br-ex")
}

/// Exchanges the programs on a node that runs, with br-ex of a document or without one.
fn exchanged_on_a_running_node(programs: [&Path; 2], document: Option<&str>) -> Result<(), Error> {
    let node = with_bridge(node(programs));
    let node = match document {
        Some(text) => node.document(text),
        None => node,
    };
    node.run(&Peer::new(), |case| {
        let inside = case.boot()?;
        let ended = |mark: Option<&Mark>| match document {
            Some(_) => outcome(&inside, mark),
            None => bridge_outcome(&inside, mark),
        };
        ended(None)?.exits(0);
        inside.wait_unit("kubelet.service", "active", SOON)?;
        inside.sh("ovs-ofctl add-flow br-ex priority=7,ip,nw_dst=198.51.100.1,actions=drop")?;
        let before = bridge(&inside)?;
        assert!(before.contains("198.51.100.1"), "{before}");
        let service = if document.is_some() { "dayone.service" } else { "dayone-bridge.service" };
        for which in ["second", "first", "second"] {
            install(&inside, which)?;
            // What kubelet requires is asked again whether it starts: without its mark, configure-ovs would make br-ex anew.
            inside
                .sh("systemctl reset-failed kubelet.service; systemctl restart kubelet.service")?;
            inside.wait_unit("kubelet.service", "active", SOON)?;
            assert_eq!(bridge(&inside)?, before, "{which}");
            assert_eq!(inside.unit("ovs-configuration.service")?.exec_start, None, "{which}");
            let start = mark(&inside)?;
            inside
                .sh(&format!("systemctl restart {service}; systemctl restart kubelet.service"))?;
            ended(Some(&start))?.exits(0);
            inside.wait_unit("kubelet.service", "active", SOON)?;
            assert_eq!(bridge(&inside)?, before, "{which}");
            assert_eq!(inside.unit("ovs-configuration.service")?.exec_start, None, "{which}");
            assert!(case.peer().pings(ADDRESS, SOON)?);
        }
        Ok(())
    })
}

#[tests::case]
fn an_exchange_on_a_running_node_leaves_its_br_ex() -> Result<(), Error> {
    let document = Document::new().text();
    for programs in [[older(), program::dayone()], [program::dayone(), older()]] {
        exchanged_on_a_running_node(programs, Some(&document))?;
        exchanged_on_a_running_node(programs, None)?;
    }
    Ok(())
}

/// A boot that waits goes on waiting, and is decided by the other version.
#[tests::case]
fn an_exchange_in_the_middle_of_a_boot() -> Result<(), Error> {
    let lab = Lab::open()?;
    let good = Document::new().text();
    let bad = good.replace("192.0.2.1\n    next-hop", "192.0.2.9\n    next-hop");
    for programs in [[older(), program::dayone()], [program::dayone(), older()]] {
        let node = with_bridge(node(programs)).document(&bad);
        lab.run(node, &Peer::new(), |case| {
            let inside = case.power_on()?;
            let it = outcome(&inside, None)?;
            assert_ne!(it.exit, 0, "{}", it.text());
            install(&inside, "second")?;
            inside.sh(
                "systemctl stop dayone.service; systemctl restart --no-block kubelet.service",
            )?;
            assert!(inside.read("/run/dayone/undecided")?.is_some());
            inside.write(HOST_FILE, &good)?;
            let start = mark(&inside)?;
            inside.sh("systemctl start --no-block dayone.service")?;
            assert!(!kubelet_ran(&inside)?);
            outcome(&inside, Some(&start))?.exits(0);
            inside.wait_unit("kubelet.service", "active", SOON)?;
            assert_eq!(inside.unit("ovs-configuration.service")?.exec_start, None);
            assert!(case.peer().pings(ADDRESS, SOON)?);
            Ok(())
        })?;
    }
    Ok(())
}
