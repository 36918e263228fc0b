//! `dayone apply --trial`: a document that is not the node's, taken back by itself unless it is confirmed.

use tests::{
    dayone::{
        ADDRESS, APPLIED, ATTEMPT, BRIDGE_PROFILES, Document, HASTE, MAC, MANAGER, Mark, SOON,
        USERSPACE, agent, br_ex_works, finished, kubelet_ran, mark, outcome, patch_port, picture,
        picture_like, settle, unwrapped, volatile_profiles, with_bridge, worker,
    },
    lab::{Case, Error, Inside, Nic, Node, Output, Peer, Release},
};

/// The document on trial.
const FILE: &str = "/root/new.yml";
/// Its address.
const OTHER: std::net::Ipv4Addr = std::net::Ipv4Addr::new(192, 0, 2, 77);
/// A trial that lasts longer than the case.
const LONG: &str = "3600";

const WAITS: &str = "MESSAGE_ID=6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e31";
const CONFIRMED: &str = "MESSAGE_ID=6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e32";
const UNDONE: &str = "MESSAGE_ID=6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e35";

/// Begins a trial in a terminal of its own, the unit of this name, and returns when the time runs.
fn begin(inside: &Inside, terminal: &str) -> Result<Mark, Error> {
    let start = mark(inside)?;
    let command = format!("dayone apply --trial {LONG} {FILE}");
    inside.sh(&format!("systemd-run --quiet --unit={terminal} {command}"))?;
    inside.wait_journal(&[start.argument(), WAITS], ATTEMPT, |_| true)?;
    Ok(start)
}

/// Ends a terminal with this signal.
fn close(inside: &Inside, terminal: &str, signal: &str) -> Result<(), Error> {
    inside.sh(&format!("systemctl kill --signal={signal} {terminal}.service"))?;
    inside.wait_unit(&format!("{terminal}.service"), "failed", SOON)?;
    Ok(())
}

fn undone(inside: &Inside, since: &Mark) -> Result<(), Error> {
    inside.wait_journal(&[since.argument(), UNDONE], ATTEMPT, |_| true)?;
    inside.wait_unit("dayone-trial.service", "inactive", SOON)?;
    Ok(())
}

/// Runs the agent; its exit code has to be this one.
fn dayone(inside: &Inside, arguments: &[&str], code: i32) -> Result<Output, Error> {
    let it = inside.run_within(&[&["dayone"], arguments].concat(), ATTEMPT)?;
    assert_eq!(it.status.code(), Some(code), "{arguments:?}: {it}");
    Ok(it)
}

/// The network is the one of `before`, and nothing is left of a trial.
fn is_back(case: &Case<'_>, before: &str, after: &str) -> Result<(), Error> {
    let inside = case.inside()?;
    assert_eq!(picture_like(&inside, before)?, before, "{after}");
    assert!(case.peer().pings(ADDRESS, SOON)?, "{after}");
    let checkpoints = inside.sh(&format!("busctl get-property {MANAGER} Checkpoints"))?;
    assert_eq!(checkpoints, "ao 0", "{after}");
    assert!(!inside.sh("ls /var/lib/dayone")?.contains("transaction"), "{after}");
    assert_eq!(inside.read("/run/dayone/trial.yml")?, None, "{after}");
    Ok(())
}

/// On a node whose document is in force: another address on br-ex.
const RACK: &str = "ovs-vsctl --if-exists get Open_vSwitch . external_ids:rack";
const FLOW_LIMIT: &str = "ovs-vsctl --if-exists get Open_vSwitch . other_config:flow-limit";

#[tests::case]
fn confirmed_trial_lasts_until_the_next_boot_or_run() -> Result<(), Error> {
    let own = Document::new().text() + "ovs-db:\n  external_ids:\n    rack: north\n";
    let tried = Document::new().with("192.0.2.10", "192.0.2.77").text()
        + "ovs-db:\n  other_config:\n    flow-limit: '100000'\n";
    worker().day_one().document(&own).file(FILE, &tried, 0o600).run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        inside.wait_unit("kubelet.service", "active", SOON)?;
        settle(&inside)?;
        let before = picture(&inside)?;
        // OVN-Kubernetes's own address, which it sets once, and a virtual one of keepalived's.
        inside.sh(
            "ip address add 169.254.0.2/17 dev br-ex; ip address add 192.0.2.200/32 dev br-ex",
        )?;
        let none = dayone(&inside, &["confirm"], 1)?;
        assert!(none.stderr.contains("no trial waits for a confirmation"), "{none}");
        inside.write("/root/wrong.yml", "interfaces: many\n")?;
        dayone(&inside, &["apply", "--trial", LONG, "/root/wrong.yml"], 2)?;
        dayone(&inside, &["apply", "--trial", "9", FILE], 2)?;

        begin(&inside, "first")?;
        assert!(case.peer().pings(OTHER, SOON)?);
        let second = dayone(&inside, &["apply", "--trial", LONG, FILE], 1)?;
        assert!(second.stderr.contains("a trial of /root/new.yml is on"), "{second}");
        let status = dayone(&inside, &["status"], 3)?;
        assert!(status.stdout.starts_with("TRIAL: /root/new.yml; "), "{status}");
        let json = dayone(&inside, &["status", "--json"], 3)?.json();
        assert_eq!(json["trial"]["state"], "waiting", "{json}");
        assert!((1..=3600).contains(&json["trial"]["left"].as_u64().unwrap_or_default()), "{json}");
        let start = mark(&inside)?;
        close(&inside, "first", "INT")?;
        inside.wait_message(&start.entries(), SOON, "goes on without this terminal")?;
        dayone(&inside, &["confirm"], 0)?.says("until the next boot");
        inside.wait_journal(&[start.argument(), CONFIRMED], SOON, |_| true)?;
        dayone(&inside, &["confirm"], 0)?;
        dayone(&inside, &["status"], 3)?.says("stays until the next boot");
        assert!(case.peer().pings(OTHER, SOON)?);
        // Nothing says that the document is the node's.
        assert_eq!(inside.read(APPLIED)?.as_deref(), Some(&*own));
        assert_eq!(dayone(&inside, &["export", "--last-good"], 0)?.stdout, own);

        assert_eq!(inside.sh(FLOW_LIMIT)?, "\"100000\"");
        // One that the document in force alone has is gone meanwhile.
        assert_eq!(inside.sh(RACK)?, "");

        // NetworkManager has no checkpoint any more, and the virtual address has moved.
        inside.sh("ip address delete 192.0.2.200/32 dev br-ex")?;
        dayone(&inside, &["apply"], 0)?;
        let addresses = inside.sh("ip -oneline -4 address show dev br-ex")?;
        assert!(addresses.contains(" 169.254.0.2/17 "), "{addresses}");
        inside.sh("ip address delete 169.254.0.2/17 dev br-ex")?;
        is_back(case, &before, "dayone apply")?;
        assert_eq!(inside.sh(FLOW_LIMIT)?, "");
        assert_eq!(inside.sh(RACK)?, "north");
        dayone(&inside, &["status"], 0)?;
        let over = dayone(&inside, &["confirm"], 3)?;
        assert!(over.stderr.contains("a later run of dayone ended it"), "{over}");

        begin(&inside, "second")?;
        close(&inside, "second", "KILL")?;
        dayone(&inside, &["confirm"], 0)?;
        inside.sh("sync")?;
        case.cut_power()?;
        let inside = case.boot()?;
        assert_eq!(inside.journal(&[UNDONE])?.len(), 1);
        outcome(&inside, None)?.says("in force already");
        settle(&inside)?;
        is_back(case, &before, "the power cut")?;
        let status = dayone(&inside, &["status"], 0)?;
        assert!(!status.stdout.contains("failures"), "{status}");
        Ok(())
    })
}

/// On a node without a document: its card becomes a port of br-ex.
#[tests::case]
fn unconfirmed_trial_goes_back_whatever_ends() -> Result<(), Error> {
    let node = worker().day_one().settings(HASTE).file(FILE, &Document::new().text(), 0o644);
    node.run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        settle(&inside)?;
        let before = picture(&inside)?;

        let start = begin(&inside, "first")?;
        assert_ne!(picture(&inside)?, before);
        inside.kill("dayone-trial.service")?;
        undone(&inside, &start)?;
        is_back(case, &before, "kill -9 of the agent")?;
        let over = dayone(&inside, &["confirm"], 3)?;
        assert!(unwrapped(&over.stderr).contains("its agent was killed"), "{over}");

        let start = begin(&inside, "second")?;
        close(&inside, "second", "KILL")?;
        inside.sh("systemctl stop dayone-trial.service")?;
        undone(&inside, &start)?;
        is_back(case, &before, "systemctl stop")?;

        // From standard input: nothing of the caller has to stay.
        let pipe = format!("dayone apply --trial 10 - <{FILE}");
        let silent = inside.run_within(&["sh", "-c", &pipe], ATTEMPT)?.exits(3);
        assert!(silent.stderr.contains("no confirmation came within 10 s"), "{silent}");
        is_back(case, &before, "no answer")?;
        let over = dayone(&inside, &["confirm"], 3)?;
        assert!(over.stderr.contains("no confirmation came within 10 s"), "{over}");
        dayone(&inside, &["status"], 0)?.says("trial: standard input, over");

        begin(&inside, "third")?;
        inside.sh("sync")?;
        case.cut_power()?;
        let inside = case.boot()?;
        assert_eq!(inside.journal(&[UNDONE])?.len(), 1);
        outcome(&inside, None)?.exits(0);
        settle(&inside)?;
        is_back(case, &before, "the power cut")?;
        assert!(kubelet_ran(&inside)?);

        begin(&inside, "fourth")?;
        let inside = case.reboot()?;
        outcome(&inside, None)?.exits(0);
        settle(&inside)?;
        is_back(case, &before, "the reboot")?;
        assert!(kubelet_ran(&inside)?);
        let status = dayone(&inside, &["status"], 0)?;
        assert!(!status.stdout.contains("failures"), "{status}");
        Ok(())
    })
}

/// The automatic br-ex works, with OVN's port.
fn is_automatic(case: &Case<'_>, after: &str) -> Result<(), Error> {
    let inside = case.inside()?;
    assert_eq!(volatile_profiles(&inside)?, BRIDGE_PROFILES, "{after}");
    patch_port(&inside)?;
    br_ex_works(case)
}

/// On a node of the field without a document: the trial's br-ex takes the automatic one's place, with OVN's port on it.
#[tests::case]
fn trial_in_place_of_the_automatic_bridge() -> Result<(), Error> {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).day_one();
    let node = with_bridge(agent(node.field(Release::V4_22).ovn_remains()))
        .settings(&format!("{HASTE}{USERSPACE}"))
        .file(FILE, &Document::new().with("192.0.2.10", "192.0.2.77").text(), 0o644);
    node.run(&Peer::new(), |case| {
        let inside = case.boot()?;
        finished(&inside)?;
        is_automatic(case, "the boot")?;
        let before = picture(&inside)?;

        let start = begin(&inside, "first")?;
        assert!(case.peer().pings(OTHER, SOON)?);
        patch_port(&inside)?;
        // A roll back that restarts NetworkManager takes longer than a call may.
        inside.sh("systemctl stop --no-block dayone-trial.service")?;
        undone(&inside, &start)?;
        is_back(case, &before, "systemctl stop")?;
        is_automatic(case, "systemctl stop")?;

        begin(&inside, "second")?;
        dayone(&inside, &["confirm"], 0)?;
        // The node's own network, by the command for it.
        dayone(&inside, &["apply"], 0)?;
        is_back(case, &before, "dayone apply")?;
        is_automatic(case, "dayone apply")?;

        begin(&inside, "third")?;
        dayone(&inside, &["confirm"], 0)?;
        inside.sh("sync")?;
        case.cut_power()?;
        let inside = case.boot()?;
        finished(&inside)?;
        assert_eq!(inside.journal(&[UNDONE])?.len(), 1);
        is_automatic(case, "the power cut")?;
        is_back(case, &before, "the power cut")?;
        assert!(kubelet_ran(&inside)?);
        dayone(&inside, &["status"], 0)?;
        Ok(())
    })
}
