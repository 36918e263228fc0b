//! How often a document is tried, and the way back by hand.

use tests::{
    dayone::{
        ADDRESS, APPLIED, ATTEMPT, DAY_ONE, Document, ENTRIES, HASTE, HOST_FILE, SOON, STATUS,
        attempt, kubelet_ran, mark, outcome, picture, settle, try_document, unwrapped, worker,
        wrong_gateway,
    },
    lab::{Case, Error, Inside, Nic, Node, Peer},
    wire::{has, probed},
};

/// A node with short timeouts and the default limit of attempts.
fn node(document: &str) -> Node {
    let settings = HASTE.replace("max-attempts = 0\n", "");
    assert_ne!(settings, HASTE);
    worker().day_one().document(document).settings(&settings)
}

/// Output and exit code of `dayone status --json`.
fn status(inside: &Inside) -> Result<(serde_json::Value, Option<i32>), Error> {
    let output = inside.run(&["dayone", "status", "--json"])?;
    let json = serde_json::from_str(&output.stdout);
    assert!(json.is_ok(), "{output}");
    Ok((json.unwrap_or_default(), output.status.code()))
}

/// Starts the agent again: the document is given up, and the network is left alone.
fn given_up(case: &Case<'_>, before: &str) -> Result<(), Error> {
    let inside = case.inside()?;
    let it = attempt(&inside)?.exits(3).says("failed 3 times and is not tried again");
    assert!(it.text().contains("gateway 192.0.2.254"), "the cause in {}", it.text());
    let (json, code) = status(&inside)?;
    assert_eq!(code, Some(3), "{json}");
    assert_eq!(json["outcome"], "given-up", "{json}");
    let phases: Vec<_> = json["phases"].as_array().into_iter().flatten().collect();
    assert!(
        phases.iter().all(|phase| phase["phase"] == "select" || phase["phase"] == "check"),
        "{json}"
    );
    let text = inside.run(&["dayone", "status"])?.says("failed too often, not tried again");
    assert!(text.stdout.contains("3 of document"), "{text}");
    assert_eq!(picture(&inside)?, before);
    assert!(case.peer().pings(ADDRESS, SOON)?);
    assert!(!kubelet_ran(&inside)?);
    Ok(())
}

#[tests::case]
fn document_that_failed_three_times_waits_for_a_change_or_a_word() -> Result<(), Error> {
    node(&wrong_gateway()).run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        outcome(&inside, None)?.exits(3);
        inside.sh("systemctl stop dayone.service")?;
        let before = picture(&inside)?;
        assert!(before.contains(DAY_ONE) && !before.contains("br-ex"), "{before}");
        for _ in 0..2 {
            attempt(&inside)?.says("gateway 192.0.2.254");
        }
        given_up(case, &before)?;
        // A power cut does not reset the count, which is on disk; the boot tries once more, since somebody may have mended the
        // network.
        case.cut_power()?;
        let inside = case.power_on()?;
        outcome(&inside, None)?.exits(3).says("gateway 192.0.2.254");
        inside.wait_message(&ENTRIES, ATTEMPT, "failed 4 times and is not tried again")?;
        // A card with a carrier may be what the attempts lacked: one more follows.
        case.plug(Nic::new("eno2", "52:54:00:00:00:02"))?;
        inside.wait_message(&ENTRIES, ATTEMPT, "failed 5 times and is not tried again")?;
        case.unplug("eno2");
        settle(&inside)?;

        inside.sh("systemctl stop kubelet.service dayone.service")?;
        inside.run(&["dayone", "apply", "--retry"])?.exits(3);
        let (json, _) = status(&inside)?;
        assert_eq!(json["outcome"], "rolled-back", "{json}");
        // The count starts again at one.
        for _ in 0..2 {
            attempt(&inside)?;
        }
        given_up(case, &before)?;

        let good = Document::new().text();
        try_document(&inside, &good)?.exits(0);
        assert_eq!(inside.read(APPLIED)?, Some(good));
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn rollback_returns_to_last_good_and_says_so() -> Result<(), Error> {
    let good = Document::new().text();
    node("").run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        settle(&inside)?;
        let before = picture(&inside)?;
        // Without a last good configuration nothing changes, and the boot's status stays.
        let told = inside.read(STATUS)?;
        assert!(told.is_some());
        let none = inside.run(&["dayone", "rollback"])?.exits(1);
        assert!(none.stderr.contains("there is no last good configuration"), "{none}");
        assert_eq!(picture(&inside)?, before);
        assert_eq!(inside.read(STATUS)?, told);
        // With nothing to undo neither a recovery by hand nor one of the service holds back a decided boot.
        for recovery in ["dayone recover", "systemctl restart dayone-recover.service"] {
            inside.sh(recovery)?;
            assert_eq!(inside.read("/run/dayone/undecided")?, None, "{recovery}");
        }
        inside.sh("systemctl restart kubelet.service")?;
        inside.wait_unit("kubelet.service", "active", SOON)?;

        try_document(&inside, &good)?.exits(0);
        // A manual change, and a document that is still pending.
        inside.sh("nmcli connection modify br-ex-if ipv4.addresses 192.0.2.99/24; \
             nmcli --wait 20 connection up br-ex-if")?;
        assert_eq!(status(&inside)?.1, Some(3));
        inside.write(HOST_FILE, &wrong_gateway())?;

        inside.run(&["dayone", "rollback"])?.exits(0);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        let addresses = inside.sh("ip -4 -oneline address show dev br-ex")?;
        assert!(!addresses.contains("192.0.2.99"), "{addresses}");
        assert_eq!(inside.read(APPLIED)?.as_ref(), Some(&good));
        let (json, code) = status(&inside)?;
        assert_eq!(json["outcome"], "committed", "{json}");
        assert_eq!(json["exit"], 0, "{json}");
        assert_eq!(json["reason"], "the last good configuration, by dayone rollback", "{json}");
        assert_eq!(json["document"], HOST_FILE, "{json}");
        // The network in force differs from the node's current file.
        assert_eq!((&json["in-force"], code), (&false.into(), Some(3)), "{json}");
        let file = inside.read(STATUS)?.unwrap_or_default();
        assert!(file.contains("by dayone rollback"), "{file}");
        let text = inside.run(&["dayone", "status"])?;
        assert!(text.stdout.starts_with("PENDING: "), "{text}");
        assert!(text.stdout.contains("in force: no, the document of the last commit is"), "{text}");
        a_failure_outlasts_the_way_back(&inside)?;
        a_killed_run_is_undone_by_hand(&inside)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        try_document(&inside, &good)?;
        inside.run(&["dayone", "status"])?.exits(0);
        a_unit_without_which_kubelet_does_not_run_is_told(&inside)
    })
}

/// The network is in force, and systemd starts kubelet no more.
fn a_unit_without_which_kubelet_does_not_run_is_told(inside: &Inside) -> Result<(), Error> {
    let units = "/run/systemd/system";
    let fails = "[Service]\nType=oneshot\nExecStart=/bin/false\n";
    inside.write(&format!("{units}/lab-crio.service"), fails)?;
    let requires = "[Unit]\nRequires=lab-crio.service\nAfter=lab-crio.service\n";
    inside.write(&format!("{units}/kubelet-dependencies.target.d/lab.conf"), requires)?;
    inside.sh("systemctl daemon-reload; \
         systemctl stop kubelet.service kubelet-dependencies.target; \
         ! systemctl start kubelet.service")?;
    let words = "kubelet: kubelet.service does not run, because lab-crio.service failed: \
                 `systemctl status lab-crio.service`";
    inside.run(&["dayone", "status"])?.exits(0).says_wrapped(words);
    // systemd starts it again and again.
    let ends =
        "[Service]\nType=exec\nExecStart=\nExecStart=/bin/false\nRestart=always\nRestartSec=1000\n";
    inside.write(&format!("{units}/kubelet.service.d/lab.conf"), ends)?;
    inside.sh(&format!(
        "rm {units}/kubelet-dependencies.target.d/lab.conf; systemctl daemon-reload; \
         systemctl start --no-block kubelet.service"
    ))?;
    inside
        .wait_sh("systemctl show --property=SubState kubelet.service | grep auto-restart", SOON)?;
    let words = "kubelet: kubelet.service failed: `systemctl status kubelet.service`";
    inside.run(&["dayone", "status"])?.exits(0).says_wrapped(words);
    Ok(())
}

/// The document fails beside a good one; `dayone rollback` makes it neither pending nor healthy.
fn a_failure_outlasts_the_way_back(inside: &Inside) -> Result<(), Error> {
    attempt(inside)?.says("gateway 192.0.2.254");
    let fell_back = |words: &str| {
        let text = inside.run(&["dayone", "status"])?.exits(3);
        assert!(text.stdout.starts_with("FELL BACK: "), "{text}");
        assert!(unwrapped(&text.stdout).contains(words), "{words} in {text}");
        inside.run(&["dayone", "health"])?.exits(3);
        Ok::<_, Error>(())
    };
    fell_back("gateway 192.0.2.254")?;
    let check = inside.run(&["dayone", "check"])?.exits(0);
    let words = "is valid, but it failed once, last in this boot; the last error: ";
    assert!(check.stdout.contains(words), "{check}");
    assert!(check.stdout.contains("gateway 192.0.2.254"), "{check}");
    // The document's gateway is asked beside that of the network that is there.
    let wire = probed(inside, 3)?;
    assert!(has(&wire, "gateway", "192.0.2.254", "failed"), "{wire}");
    assert!(has(&wire, "gateway", "192.0.2.1", "ok"), "{wire}");
    let back = inside.run(&["dayone", "rollback"])?.exits(0);
    assert!(back.stderr.contains("changes made by hand since the last commit go"), "{back}");
    fell_back("it failed once; the last error: ")?;
    fell_back("the next boot tries it once")
}

/// Kills a run by hand after it has changed the network.
fn killed(inside: &Inside) -> Result<(), Error> {
    inside.sh(
        "dayone apply --retry >/dev/null 2>&1 & run=$!; \
         while kill -0 $run && ! { test -e /var/lib/dayone/transaction/journal.json \
         && grep --quiet '^  \"phase\": \"probe\"' /run/dayone/status.json; }; do sleep 0.02; done; \
         kill -9 $run; wait $run || true",
    )?;
    Ok(())
}

/// The status promises no service that starts again, and `dayone recover` undoes as a run does.
fn a_killed_run_is_undone_by_hand(inside: &Inside) -> Result<(), Error> {
    settle(inside)?;
    let before = picture(inside)?;
    killed(inside)?;
    assert_ne!(picture(inside)?, before);
    let text = inside.run(&["dayone", "status"])?;
    assert!(text.stdout.starts_with("INTERRUPTED: "), "{text}");
    assert!(!unwrapped(&text.stdout).contains("by itself"), "{text}");
    let recovered = inside.run(&["dayone", "recover"])?.exits(0);
    let undone = "an unfinished transaction was undone: the old network is back";
    assert!(recovered.stderr.contains(undone), "{recovered}");
    settle(inside)?;
    assert_eq!(picture(inside)?, before);
    inside.run(&["dayone", "status"])?.says_wrapped("`dayone recover` has undone it");

    // The service's half is for a NetworkManager that has not started yet, and says so beside one that runs.
    killed(inside)?;
    let mark = mark(inside)?;
    inside.sh("systemctl restart dayone-recover.service")?;
    inside.wait_message(&mark.entries(), SOON, "was undone: the old profiles are back on disk, and NetworkManager reads them when it starts")?;
    inside.sh("systemctl restart NetworkManager.service")?;
    settle(inside)?;
    assert_eq!(picture(inside)?, before);
    Ok(())
}
