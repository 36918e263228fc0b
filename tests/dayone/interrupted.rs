//! The agent is killed, stopped or loses power in the middle, and the old network comes back.

use tests::{
    dayone::{
        ADDRESS, APPLIED, DAY_ONE, Document, ENTRIES, HASTE, HOST_FILE, MAC, MANAGER, Mark, PATCH,
        SOON, advised, attempt, configure_ovs, hold, kubelet_ran, old_network, outcome, ovn,
        ovs_rows, picture, settle, started, try_document, unwrapped, with_holdable_agent,
        wrong_gateway,
    },
    lab::{Case, Error, Inside, Nic, Node, Peer},
};

/// A node whose agent can be made to stop after a phase; it boots without a document.
fn node() -> Node {
    bare_node().day_one()
}

/// Such a node without a profile.
fn bare_node() -> Node {
    with_holdable_agent(Node::new("worker-0").nic(Nic::new("eno1", MAC))).settings(HASTE).file(
        "/etc/nmstate/openshift/worker-1.yml",
        "",
        0o644,
    )
}

/// Kills the agent that has waited since `mark`.
fn kill(inside: &Inside, mark: &Mark) -> Result<(), Error> {
    inside.kill("dayone.service")?;
    let manager = [mark.argument(), "_PID=1", "UNIT=dayone.service"];
    inside.wait_journal(&manager, SOON, |entry| entry.field("EXIT_CODE") == Some("killed"))?;
    Ok(())
}

/// Checks that the old network is back and kubelet has not run.
fn old_network_is_back(case: &Case<'_>, before: &str, after: &str) -> Result<(), Error> {
    let inside = case.inside()?;
    assert!(case.peer().pings(ADDRESS, SOON)?, "{after}");
    assert_eq!(picture(&inside)?, before, "{after}");
    assert_eq!(inside.read(APPLIED)?, None, "{after}");
    assert!(!kubelet_ran(&inside)?, "{after}");
    Ok(())
}

#[tests::case]
fn killed_in_each_phase_and_started_again() -> Result<(), Error> {
    let good = Document::new().text();
    let wrong = wrong_gateway();
    node().run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        assert!(before.contains(DAY_ONE) && !before.contains("br-ex"), "{before}");
        for (phase, document, changed) in [
            ("ready", &good, false),
            ("snapshot", &good, false),
            ("baseline", &good, false),
            ("journal", &good, false),
            ("apply", &good, true),
            ("verify", &good, true),
            ("probe", &good, true),
            ("commit", &good, true),
            ("roll-back", &wrong, false),
            ("restored", &wrong, false),
        ] {
            inside.write(HOST_FILE, document)?;
            let killed = hold(&inside, phase)?;
            if changed {
                assert_ne!(picture(&inside)?, before, "{phase} changed nothing");
            }
            // The next attempt must not hide the undo.
            inside.write(HOST_FILE, "interfaces: many\n")?;
            kill(&inside, &killed)?;
            let it = started(&inside)?;
            assert_eq!(it.exit, 2, "after {phase}: {}", it.text());
            old_network_is_back(case, &before, phase)?;
        }
        try_document(&inside, &good)?.exits(0);
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);

        // An agent that ends in each attempt before it changes anything: the last good network carries the node.
        inside.write(HOST_FILE, &wrong)?;
        inside.sh("sed -i 's/^max-attempts = .*/max-attempts = 2/' /etc/dayone/dayone.toml")?;
        // systemd's own start comes later than the case's.
        let later = "mkdir -p /run/systemd/system/dayone.service.d; cd /run/systemd/system/dayone.service.d; \
                     printf '[Service]\\nRestartSec=300\\n' >later.conf; systemctl daemon-reload";
        inside.sh(later)?;
        for _ in 0..2 {
            let killed = hold(&inside, "ready")?;
            kill(&inside, &killed)?;
        }
        started(&inside)?.exits(3).says("2 attempts in a row ended with the agent");
        inside.wait_unit("dayone.service", "active", SOON)?;
        let marks = inside.sh("ls /run/dayone")?;
        assert!(!marks.contains("undecided") && !marks.contains("cut-off"), "{marks}");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn killed_while_it_takes_over() -> Result<(), Error> {
    let good = Document::new().text();
    configure_ovs(bare_node()).run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        assert!(before.contains("ovs-if-phys0") && before.contains("192.0.2.10/24"), "{before}");
        for (phase, changed) in [("checkpoint", false), ("take-over", true)] {
            inside.write(HOST_FILE, &good)?;
            let killed = hold(&inside, phase)?;
            let theirs = inside.sh("nmcli -g NAME connection show")?.contains("ovs-if-phys0");
            assert_ne!(theirs, changed, "{phase}");
            inside.write(HOST_FILE, "interfaces: many\n")?;
            kill(&inside, &killed)?;
            let it = started(&inside)?;
            assert_eq!(it.exit, 2, "after {phase}: {}", it.text());
            old_network_is_back(case, &before, phase)?;
        }
        Ok(())
    })
}

#[tests::case]
fn killed_between_the_decision_and_the_record() -> Result<(), Error> {
    let good = Document::new().text();
    node().run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        inside.write(HOST_FILE, &good)?;
        let killed = hold(&inside, "record")?;
        // The decision is durable, but not reported.
        assert_eq!(inside.read(APPLIED)?, None);
        assert!(!kubelet_ran(&inside)?);
        let status = inside.run(&["dayone", "status"])?;
        assert!(status.stdout.starts_with("WAITING: kubelet does not start\n"), "{status}");
        let reason = format!("RUNNING: {HOST_FILE}; recording; by dayone apply (process ");
        assert!(unwrapped(&status.stdout).contains(&reason), "{status}");
        let new = picture(&inside)?;
        assert_ne!(new, before);
        kill(&inside, &killed)?;
        attempt(&inside)?.exits(0).says("in force already");
        assert_eq!(inside.read(APPLIED)?, Some(good));
        assert_eq!(picture(&inside)?, new);
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        inside.run(&["dayone", "status"])?.exits(0);
        Ok(())
    })
}

/// Kills the agent that has waited since `mark` and restarts it with a document that it refuses, so that no new attempt hides
/// the undo.
fn kill_and_undo(inside: &Inside, mark: &Mark) -> Result<(), Error> {
    inside.write(HOST_FILE, "interfaces: many\n")?;
    kill(inside, mark)?;
    started(inside)?.exits(2);
    Ok(())
}

/// A roll back leaves files alone that others wrote during the transaction.
#[tests::case]
fn roll_back_leaves_files_of_others_alone() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        inside.write(HOST_FILE, &Document::new().text())?;
        let held = hold(&inside, "verify")?;
        let storage = "/etc/NetworkManager/system-connections/storage.nmconnection";
        let others = [
            ("/etc/systemd/network/98-nmstate-eno1.link", "[Link]\nName=eno1\n"),
            ("/etc/systemd/network/10-machine-config.link", "[Link]\nName=eno1\n"),
            ("/etc/NetworkManager/dispatcher.d/99-new", "#!/bin/sh\n"),
            ("/etc/hostname", "worker-0.lab.test\n"),
            (storage, "[connection]\nid=storage\ntype=ethernet\ninterface-name=eno7\n"),
        ];
        for (path, text) in others {
            inside.write(path, text)?;
        }
        inside.sh(&format!("chmod 0600 {storage}"))?;
        kill_and_undo(&inside, &held)?;
        for (path, text) in others {
            assert_eq!(inside.read(path)?.as_deref(), Some(text), "{path}");
        }
        inside.sh(&format!("rm {storage}; nmcli connection reload"))?;
        old_network_is_back(case, &before, "files of others")
    })
}

/// Another program's checkpoint, made after the snapshot.
#[tests::case]
fn checkpoint_of_others_is_left_alone() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        inside.write(HOST_FILE, &Document::new().text())?;
        let held = hold(&inside, "journal")?;
        inside.sh(&format!("busctl call {MANAGER} CheckpointCreate aouu 0 300 0"))?;
        kill_and_undo(&inside, &held)?;
        let left = inside.sh(&format!("busctl get-property {MANAGER} Checkpoints"))?;
        assert!(left.starts_with("ao 1 "), "{left}");
        old_network_is_back(case, &before, "the checkpoint")
    })
}

/// Without a checkpoint, reloading NetworkManager's settings undoes the document's global DNS.
#[tests::case]
fn global_dns_goes_again_without_a_checkpoint() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        let global = "busctl get-property org.freedesktop.NetworkManager \
                      /org/freedesktop/NetworkManager org.freedesktop.NetworkManager \
                      GlobalDnsConfiguration";
        let none = inside.sh(global)?;
        let more =
            Document::new().with("- 192.0.2.1\nroutes", "- 192.0.2.1\n    - 192.0.2.53\nroutes");
        inside.write(HOST_FILE, &more.text())?;
        // NetworkManager has committed: its checkpoint is gone.
        let held = hold(&inside, "commit")?;
        assert!(inside.sh(global)?.contains("192.0.2.53"));
        kill_and_undo(&inside, &held)?;
        assert_eq!(inside.sh(global)?, none);
        old_network_is_back(case, &before, "global DNS")?;

        // A policy of another tool has left some, and a document without name servers of its own meets it.
        let set = global.replace("get-property", "set-property");
        inside.sh(&format!(
            "{set} 'a{{sv}}' 1 domains 'a{{sv}}' 1 '*' 'a{{sv}}' 1 servers as 1 192.0.2.53"
        ))?;
        let text = Document::new().text();
        let (own, rest) = (text.split("dns-resolver:").next(), text.split("routes:").nth(1));
        inside.write(
            HOST_FILE,
            &format!("{}routes:{}", own.unwrap_or_default(), rest.unwrap_or_default()),
        )?;
        attempt(&inside)?.exits(0);
        let status = inside.run(&["dayone", "status"])?;
        assert!(
            unwrapped(&status.stdout).contains("(192.0.2.53) replaces the name servers"),
            "{status}"
        );
        inside.sh(&advised(&status.stdout, "busctl set-property "))?;
        assert_eq!(inside.sh(global)?, none);
        Ok(())
    })
}

/// Unreadable journal, record and status, as after a disk fault.
#[tests::case]
fn damaged_state_is_set_aside() -> Result<(), Error> {
    let good = Document::new().text();
    node().run(&Peer::new(), |case| {
        let (inside, _) = old_network(case)?;
        inside.write(HOST_FILE, &good)?;
        let held = hold(&inside, "apply")?;
        let damaged = ["/var/lib/dayone/transaction/journal.json", "/var/lib/dayone/record.json"];
        for path in damaged {
            inside.write(path, "{\"half")?;
        }
        kill(&inside, &held)?;
        attempt(&inside)?.exits(0);
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        let own = inside.journal(&ENTRIES)?;
        for path in damaged {
            assert!(own.iter().any(|entry| entry.message().contains(path)), "{path}: {own:?}");
        }
        for aside in [
            "/var/lib/dayone/transaction.damaged/journal.json",
            "/var/lib/dayone/record.json.damaged",
        ] {
            assert_eq!(inside.read(aside)?.as_deref(), Some("{\"half"), "{aside}");
        }
        inside.write("/run/dayone/status.json", "{\"half")?;
        let status = inside.run(&["dayone", "status"])?.exits(0);
        // The check of the node's health may have read it first.
        let aside = "/run/dayone/status.json.damaged";
        assert_eq!(inside.read(aside)?.as_deref(), Some("{\"half"));
        if !status.stderr.contains(aside) {
            inside.wait_message(&ENTRIES, SOON, aside)?;
        }

        // The state that the document was resolved to, which version 0.2 leaves out, and a damaged one.
        let record = "/var/lib/dayone/record.json";
        let whole = || -> Result<serde_json::Value, Error> {
            Ok(serde_json::from_str(&inside.read(record)?.unwrap_or_default()).unwrap_or_default())
        };
        let before = whole()?;
        assert_eq!(before["committed"]["document"]["text"], good.as_str(), "{before}");
        assert!(
            before["committed"]["resolved"].as_str().is_some_and(|resolved| !resolved.is_empty())
        );
        for damaged in [serde_json::Value::Null, "interfaces: {".into()] {
            let mut record_of = before.clone();
            record_of["committed"]["resolved"] = damaged;
            inside.write(record, &record_of.to_string())?;
            started(&inside)?.says("in force already");
            inside.wait_sh(&format!("grep resolved {record} | grep eno1"), SOON)?;
            assert_eq!(whole()?["committed"]["resolved"], before["committed"]["resolved"]);
            inside.run(&["dayone", "status"])?.exits(0);
        }
        Ok(())
    })
}

fn without_numbers(rows: &str) -> String {
    rows.lines().filter(|line| !line.starts_with("ofport ")).collect::<Vec<_>>().join("\n")
}

/// A power cut between the removal of configure-ovs's bridge and the commit.
#[tests::case]
fn power_cut_while_it_takes_over_a_bridge_with_ovns_port() -> Result<(), Error> {
    let good = Document::new().text();
    configure_ovs(bare_node()).run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        ovn(&inside)?;
        inside.sh("systemctl stop kubelet.service; rm -r /run/lab-kubelet")?;
        settle(&inside)?;
        let (before, rows) = (picture(&inside)?, ovs_rows(&inside)?);
        for phase in ["take-over", "verify"] {
            let inside = case.inside()?;
            inside.write(HOST_FILE, &good)?;
            hold(&inside, phase)?;
            assert_ne!(ovs_rows(&inside)?, rows, "{phase}");
            inside.write(HOST_FILE, "")?;
            inside.sh("sync")?;
            case.cut_power()?;
            let inside = case.boot()?;
            let undone = inside.journal(&["MESSAGE_ID=6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e07"])?;
            assert_eq!(undone.len(), 1, "{undone:?}");
            inside.wait_sh("ovs-vsctl list-ports br-ex | grep -qx eno1", SOON)?;
            inside.sh("systemctl stop kubelet.service; rm -rf /run/lab-kubelet")?;
            settle(&inside)?;
            old_network_is_back(case, &before, phase)?;
            // NetworkManager makes its own ports anew at every boot, with other numbers.
            assert_eq!(without_numbers(&ovs_rows(&inside)?), without_numbers(&rows), "{phase}");
            let number = inside.sh(&format!("ovs-vsctl get interface {PATCH} ofport"))?;
            assert_eq!(number, "7", "{phase}");
        }
        Ok(())
    })
}

#[tests::case]
fn power_cut_while_it_applies() -> Result<(), Error> {
    let good = Document::new().text();
    node().run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        inside.write(HOST_FILE, &good)?;
        hold(&inside, "verify")?;
        assert!(!picture(&inside)?.contains(DAY_ONE));
        inside.write(HOST_FILE, "")?;
        inside.sh("sync")?;
        case.cut_power()?;
        let inside = case.boot()?;
        let undone = inside.journal(&["MESSAGE_ID=6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e07"])?;
        assert_eq!(undone.len(), 1, "{undone:?}");
        // Without a document kubelet starts.
        inside.sh("rm -r /run/lab-kubelet")?;
        settle(&inside)?;
        old_network_is_back(case, &before, "the power cut")
    })
}

#[tests::case]
fn stopped_by_systemds_timeout() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        // An agent that hangs without a sign of life.
        let silent = "[Service]\nUnsetEnvironment=NOTIFY_SOCKET\nTimeoutStartSec=5\n";
        inside.write("/etc/systemd/system/dayone.service.d/silent.conf", silent)?;
        inside.write(HOST_FILE, &Document::new().text())?;
        inside.sh("systemctl daemon-reload")?;
        let mark = hold(&inside, "apply")?;
        assert_ne!(picture(&inside)?, before);
        outcome(&inside, Some(&mark))?.exits(3).says("was stopped");
        let manager = [mark.argument(), "_PID=1", "UNIT=dayone.service"];
        inside.wait_message(&manager, SOON, "result 'timeout'")?;
        old_network_is_back(case, &before, "the timeout")
    })
}
