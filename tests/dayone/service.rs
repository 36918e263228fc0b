//! The agent as a service: pauses, turns, and the effect of a stop, crash or restart on kubelet.

use tests::{
    dayone::{
        ADDRESS, APPLIED, ATTEMPT, Document, ENTRIES, HASTE, HOST_FILE, MAC, Mark, SOON, hold,
        hold_with, kubelet_ran, outcome, settle, with_holdable_agent, worker, wrong_gateway,
    },
    lab::{Error, Inside, Nic, Node, Peer},
};

/// A node with short timeouts.
fn node(document: &str) -> Node {
    worker().day_one().document(document).settings(HASTE)
}

/// A node with an agent that can be made to stop after a phase.
fn holding_node(settings: &str) -> Node {
    with_holdable_agent(Node::new("worker-0").nic(Nic::new("eno1", MAC)))
        .day_one()
        .settings(settings)
        .file("/etc/nmstate/openshift/worker-1.yml", "", 0o644)
}

/// Starts the agent with a document, and returns when it waits after `verify`.
fn held_at_verify(inside: &Inside) -> Result<Mark, Error> {
    settle(inside)?;
    inside.write(HOST_FILE, &Document::new().text())?;
    hold(inside, "verify")
}

fn property(inside: &Inside, unit: &str, name: &str) -> Result<String, Error> {
    inside.sh(&format!("systemctl show --property={name} --value {unit}"))
}

#[tests::case]
fn second_run_is_told_whose_turn_it_is() -> Result<(), Error> {
    holding_node(HASTE).run(&Peer::new(), |case| {
        let inside = case.boot()?;
        let mark = held_at_verify(&inside)?;
        let first = property(&inside, "dayone.service", "MainPID")?;
        // The transaction and its owner are unchanged.
        let is_untouched = || {
            let own = inside.journal(&mark.entries())?;
            let mut said = own.iter().map(tests::lab::Entry::message);
            assert_eq!(said.find(|text| text.contains("an earlier run was killed")), None);
            let open = inside.read("/var/lib/dayone/transaction/journal.json")?.is_some();
            assert!(open, "the second run has undone the transaction of the first");
            assert_eq!(property(&inside, "dayone.service", "MainPID")?, first);
            Ok::<(), Error>(())
        };
        let whose = format!("dayone apply (process {first})");
        let waits = inside.run(&["timeout", "2", "dayone", "apply"])?;
        is_untouched()?;
        assert_eq!(waits.status.code(), Some(124), "{waits}");
        assert!(waits.stderr.contains(&format!("waiting for {whose}")), "{waits}");

        let settings = HASTE.replace("[wait]\n", "[wait]\nturn = 2\n");
        inside.write("/etc/dayone/dayone.toml", &settings)?;
        for command in ["apply", "rollback"] {
            let second = inside.run(&["dayone", command])?.exits(1);
            assert!(second.stderr.contains(&format!("{whose} holds the lock")), "{second}");
        }
        is_untouched()
    })
}

/// Gives a document up after its first failure.
fn impatient_node() -> Node {
    let settings = HASTE.replace("max-attempts = 0", "max-attempts = 1");
    assert_ne!(settings, HASTE);
    // A key of a newer version, or a typing error: a warning.
    let settings = settings + "\n[wire]\nmtu = true\n";
    node(&wrong_gateway()).settings(&settings).file(
        "/etc/fstab",
        "192.0.2.1:/export /srv nfs _netdev 0 0\n",
        0o644,
    )
}

/// A changed document ends the pause, and a reload of systemd's units does not end the attempt.
fn pause_ends(node: Node) -> Result<(), Error> {
    node.run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        outcome(&inside, None)?.exits(3);
        let said = inside.journal(&ENTRIES)?;
        let is_told = |entry: &tests::lab::Entry| entry.message().contains("unknown field `wire`");
        assert!(said.iter().any(is_told), "{said:?}");
        inside.sh("systemctl daemon-reload")?;
        // The document was given up in the second attempt: from now on the network alone is asked. It is a pause of the process, so
        // neither did systemd start the unit again, nor did anything that waits for it fail.
        let paused = "systemctl show --property=StatusText,NRestarts dayone.service \
                      | grep -e 'network is asked again in 300 s' -e 'NRestarts=[^0]'";
        inside.wait_sh(paused, 2 * SOON)?;
        assert_eq!(property(&inside, "dayone.service", "NRestarts")?, "0");
        assert_eq!(inside.unit("dayone.service")?.active_state, "activating");
        let process = property(&inside, "dayone.service", "MainPID")?;
        assert!(!kubelet_ran(&inside)?);
        // A network mount waits for the network; people need not.
        inside.sh("systemctl list-jobs --no-legend | grep 'srv.mount.*waiting'")?;
        inside.wait_sh("test ! -e /run/nologin", SOON)?;

        let mark = tests::dayone::mark(&inside)?;
        inside.write(HOST_FILE, &Document::new().text())?;
        outcome(&inside, Some(&mark))?.exits(0);
        // The whole boot's journal: systemd 252 skips the first match after a cursor.
        let woken = inside.journal(&["DAYONE_WOKEN=Change"])?;
        assert_eq!(woken.len(), 1, "{woken:?}");
        assert_eq!(woken[0].field("_PID"), Some(&*process));
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn changed_document_ends_the_pause() -> Result<(), Error> {
    pause_ends(impatient_node())
}

#[tests::case]
fn changed_document_ends_the_pause_with_systemd_252() -> Result<(), Error> {
    pause_ends(impatient_node().systemd252())
}

/// Stops the service in a pause, and repairs the node by hand.
fn repair_starts_kubelet(node: Node) -> Result<(), Error> {
    node.run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        outcome(&inside, None)?.exits(3);
        let paused = "systemctl show --property=StatusText,NRestarts dayone.service \
                      | grep -e 'next attempt is' -e 'NRestarts=[^0]'";
        inside.wait_sh(paused, SOON)?;
        inside.sh("systemctl stop dayone.service")?;
        let dayone = inside.unit("dayone.service")?;
        // On a loaded host the pause may be over before the stop, which then ends an attempt: its failure stands.
        let expected = match inside.journal(&["DAYONE_WOKEN=Stopped"])?.len() {
            0 => ("failed", "exit-code"),
            _ => ("inactive", "success"),
        };
        assert_eq!((&*dayone.active_state, &*dayone.result), expected);
        assert!(!kubelet_ran(&inside)?);

        inside.write(HOST_FILE, &Document::new().text())?;
        inside.run(&["dayone", "apply"])?.exits(0);
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        // A restart of kubelet starts no agent.
        inside.sh("systemctl restart kubelet.service")?;
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert_eq!(inside.unit("dayone.service")?.active_state, dayone.active_state);
        Ok(())
    })
}

#[tests::case]
fn repair_by_hand_starts_kubelet() -> Result<(), Error> {
    repair_starts_kubelet(node(&wrong_gateway()))
}

#[tests::case]
fn repair_by_hand_starts_kubelet_with_systemd_252() -> Result<(), Error> {
    repair_starts_kubelet(node(&wrong_gateway()).systemd252())
}

#[tests::case]
fn crash_does_not_start_kubelet_with_systemd_252() -> Result<(), Error> {
    node(&wrong_gateway()).systemd252().run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        outcome(&inside, None)?.exits(3);
        inside.kill("dayone.service")?;
        // Units after the agent start; kubelet does not.
        inside.wait_unit("dayone-wait.service", "activating", SOON)?;
        assert!(!kubelet_ran(&inside)?);
        inside.write(HOST_FILE, &Document::new().text())?;
        // The next agent finds the transaction; kubelet is not requested again.
        inside.wait_unit("kubelet.service", "active", ATTEMPT)?;
        assert!(inside.read(APPLIED)?.is_some());
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn restart_of_the_agent_leaves_kubelet_alone() -> Result<(), Error> {
    node(&Document::new().text()).run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        inside.wait_unit("kubelet.service", "active", SOON)?;
        let kubelet = property(&inside, "kubelet.service", "MainPID")?;
        for action in ["restart", "stop", "start"] {
            inside.sh(&format!("systemctl {action} dayone.service"))?;
            assert_eq!(property(&inside, "kubelet.service", "MainPID")?, kubelet, "{action}");
        }
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn reboot_in_the_middle_is_no_failure() -> Result<(), Error> {
    holding_node(HASTE).run(&Peer::new(), |case| {
        held_at_verify(&case.boot()?)?;
        case.shut_down()?;
        let inside = case.boots(0)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        let history = inside.read("/var/lib/dayone/history.jsonl")?.unwrap_or_default();
        assert!(history.contains("\"outcome\":\"stopped\""), "{history}");
        let failed = ["rolled-back", "interrupted"];
        assert!(!failed.iter().any(|outcome| history.contains(outcome)), "{history}");
        Ok(())
    })
}

/// A call that blocks stops the runtime, and with it every bound of a phase.
#[tests::case]
fn agent_that_stands_still_ends_itself_and_is_undone() -> Result<(), Error> {
    holding_node(HASTE).run(&Peer::new(), |case| {
        let inside = case.boot()?;
        settle(&inside)?;
        inside.sh("systemctl stop kubelet.service; rm -rf /run/lab-kubelet")?;
        inside.write(HOST_FILE, &Document::new().text())?;
        let mark = hold_with(&inside, "DAYONE_BLOCK_AT=verify\nDAYONE_STANDSTILL=2\n")?;
        let own = mark.entries();
        let blocked = property(&inside, "dayone.service", "MainPID")?;
        let ended =
            |entry: &tests::lab::Entry| entry.message().contains("made no progress for 2 s");
        inside.wait_journal(&own, 2 * SOON, ended)?;
        let manager = [mark.argument(), "_PID=1", "UNIT=dayone.service"];
        inside.wait_message(&manager, SOON, "status=6/ABRT")?;
        assert!(!kubelet_ran(&inside)?);
        // The next run undoes the transaction, and applies the document.
        let second = outcome(&inside, Some(&mark))?.exits(0);
        assert_ne!(second.entry.field("_PID"), Some(&*blocked));
        let own = inside.journal(&own)?;
        let undone =
            |entry: &tests::lab::Entry| entry.message().contains("an earlier run was killed");
        assert!(own.iter().any(undone), "{own:?}");
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}
