//! `dayone status` while the network changes.

use std::{net::Ipv4Addr, time::Duration};

use tests::{
    dayone::{
        ADDRESS, Document, HOST_FILE, Links, MAC, SOON, attempt, collected, make_others, mark,
        others_are_there, replays, run_is_over, stop_open_vswitch, try_document, unwrapped, worker,
    },
    lab::{Case, Error, Fault, FrameSender, Inside, Peer},
    schema,
    wire::{has, probed},
};

const CHANGE_ADOPTED: &str = "MESSAGE_ID=6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e43";
/// Bound on a look at the network, on a busy host.
const LOOK: Duration = Duration::from_secs(60);
const VIP: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 200);

#[tests::case]
fn lost_address_is_drift_and_a_virtual_one_is_not() -> Result<(), Error> {
    let node = worker().day_one().document(&Document::new().text()).settings(
        "[wait]\nnetwork = 2\nnetwork-manager = 3\n[timeout]\nbaseline = 1\nverify = 10\n",
    );
    node.run(&Peer::new(), |case| {
        let inside = case.boots(0)?;

        // Like keepalived on a master.
        inside.sh("ip address add 192.0.2.200/32 dev br-ex")?;
        assert!(case.peer().pings(VIP, SOON)?);
        inside.run(&["dayone", "status"])?.exits(0);
        let others = make_others(&inside, Links::Tap)?;
        inside.run(&["dayone", "status"])?.exits(0);
        assert!(inside.sh("dayone diff")?.ends_with("# no difference"));
        let mut document = Document::new();
        document.rest.push_str("  - destination: 203.0.113.0/24\n    next-hop-address: 192.0.2.2\n    next-hop-interface: br-ex\n");
        try_document(&inside, &document.text())?.exits(0);
        assert!(inside.sh("ip route")?.contains("203.0.113.0/24 via 192.0.2.2"));
        assert!(case.peer().pings(VIP, SOON)?, "the VIP is gone");
        others_are_there(&inside, &others, "after a commit")?;
        inside.write(HOST_FILE, &document.clone().with("next-hop-address: 192.0.2.1\n", "next-hop-address: 192.0.2.3\n").text())?;
        attempt(&inside)?.exits(3);
        others_are_there(&inside, &others, "after a roll back")?;
        try_document(&inside, &document.text())?;
        others_are_there(&inside, &others, "after a proof")?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        run_is_over(&inside)?;
        let bundle = replays(&inside)?;
        let card = &bundle["cards"][0];
        assert_eq!((&card["name"], &card["mac"]), (&"eno1".into(), &MAC.into()), "{card}");
        assert!(
            bundle["journals"]["dayone"]["value"]
                .as_str()
                .is_some_and(|text| text.contains("dayone"))
        );

        the_gateway_is_asked(case)?;
        let inside = case.inside()?;
        an_edited_profile_is_told(&inside)?;

        a_slow_answer_is_told(&inside)?;
        inside.sh("ip address del 192.0.2.10/24 dev br-ex")?;
        inside.run(&["dayone", "status"])?.exits(3).says("drifted: br-ex");
        let diff = inside.sh("dayone diff")?;
        let both = "+ interfaces[br-ex].ipv4.address: {ip: 192.0.2.10, prefix-length: 24}";
        assert!(diff.lines().any(|it| it == both), "{diff}");
        let json = inside.run(&["dayone", "status", "--json"])?.exits(3).json();
        assert_eq!(json["in-force"], true, "{json}");
        assert!(
            json["drift"][0].as_str().is_some_and(|drift| drift.starts_with("br-ex")),
            "{json}"
        );
        replays(&inside)?;
        drift_fails_a_unit(&inside)?;
        services_that_are_down_are_named(&inside)
    })
}

/// The address that is gone is no alarm any more, until somebody takes that back.
fn a_change_on_purpose_is_adopted(inside: &Inside) -> Result<(), Error> {
    let adopt = ["dayone", "adopt", "--reason", "CHG-7", "--format", "json"];
    // A boot would wait for the way out.
    let route = inside.sh("ip route show default | head --lines=1")?;
    inside.sh("ip route del default")?;
    let refused = inside.run(&adopt)?.exits(3);
    assert!(refused.stderr.contains("no address with a default route"), "{refused}");
    inside.run(&[&adopt[..], &["--force"]].concat())?.exits(0);
    inside.sh(&format!("ip route add {route} onlink"))?;
    let json = inside.run(&adopt)?.exits(0).json();
    schema::fits("agent/doc/adopt", &json);
    assert_eq!(json["reason"], "CHG-7", "{json}");
    // Health is told at once.
    for unit in ["dayone-health.service", "dayone-health@drifted.service"] {
        inside.wait_unit(unit, "inactive", LOOK)?;
    }
    let status = inside.run(&["dayone", "status"])?.exits(0);
    let first = format!("IN FORCE: {HOST_FILE}; with an adopted change\n");
    assert!(status.stdout.starts_with(&first), "{status}");
    assert!(status.stdout.contains(", adopted just now: CHG-7"), "{status}");
    let told = inside.journal(&[CHANGE_ADOPTED])?;
    assert!(told.iter().any(|entry| entry.message().contains("CHG-7")), "{told:?}");
    // Another one is drift.
    let file = "/etc/NetworkManager/system-connections/br-ex-if.nmconnection";
    inside.sh(&format!(
        "cp --archive {file} /root/saved; sed --in-place s/192.0.2.10/192.0.2.11/ {file}"
    ))?;
    let status = inside.run(&["dayone", "status"])?.exits(3);
    assert!(status.stdout.starts_with("DRIFTED: "), "{status}");
    inside.sh(&format!("cp --archive /root/saved {file}"))?;
    inside.run(&["dayone", "adopt", "--forget"])?.exits(0);
    inside.wait_unit("dayone-health@drifted.service", "failed", LOOK)?;
    Ok(())
}

/// The work of the timer: the schema of its account, and no question to NetworkManager where nothing has changed.
fn drift_fails_a_unit(inside: &Inside) -> Result<(), Error> {
    let account = |inside: &Inside| -> Result<serde_json::Value, Error> {
        let json = inside.read("/run/dayone/health.json")?.unwrap_or_default();
        Ok(serde_json::from_str(&json).unwrap_or_default())
    };
    let states = |inside: &Inside| -> Result<[String; 2], Error> {
        inside.sh("systemctl start dayone-health.service dayone-health@drifted.service || true")?;
        // The account of the first one starts the second one too.
        let over = "! systemctl show --property=ActiveState dayone-health.service dayone-health@drifted.service | grep --quiet =activating";
        inside.wait_sh(over, LOOK)?;
        let units = ["dayone-health.service", "dayone-health@drifted.service"];
        let [whole, reason] = units.map(|unit| inside.unit(unit));
        Ok([whole?.active_state, reason?.active_state])
    };
    assert_eq!(states(inside)?, ["failed", "failed"]);
    let first = account(inside)?;
    schema::fits("agent/doc/health", &first);
    assert_eq!((&first["reason"], &first["failed"]), (&"drifted".into(), &true.into()), "{first}");
    assert_eq!(states(inside)?, ["failed", "failed"]);
    assert_eq!(account(inside)?["looked"], first["looked"], "NetworkManager was asked again");
    let by_hand = inside.run(&["dayone", "health"])?.exits(3);
    assert!(by_hand.stdout.starts_with("DRIFTED: "), "{by_hand}");
    a_change_on_purpose_is_adopted(inside)?;
    assert_eq!(states(inside)?, ["failed", "failed"]);
    inside.sh("ip address add 192.0.2.10/24 dev br-ex")?;
    assert_eq!(states(inside)?, ["inactive", "inactive"]);
    // A look that cannot be started, as in a sandbox that the system has no place for: the unit is not started without an end.
    let broken = "/run/systemd/system/dayone-health.service.d/99.conf";
    inside.write(broken, "[Service]\nExecStart=\nExecStart=/nowhere\n")?;
    inside.sh("systemctl daemon-reload; touch /run/dayone/ended")?;
    inside.wait_sh("! test -e /run/dayone/ended", LOOK)?;
    inside.wait_unit("dayone-health.service", "failed", LOOK)?;
    inside.sh(&format!("rm {broken}; systemctl daemon-reload"))?;
    assert_eq!(states(inside)?, ["inactive", "inactive"]);
    inside.sh("ip address del 192.0.2.10/24 dev br-ex")?;
    Ok(())
}

/// The page of `dayone status`, which has exit code 3, in one line.
fn page(inside: &Inside) -> Result<String, Error> {
    let status = inside.run(&["dayone", "status"])?.exits(3);
    assert!(!status.to_string().contains("Bug: "), "{status}");
    Ok(unwrapped(&status.stdout))
}

/// Runs a command that has to fail on this machine, soon and with these words.
fn fails(inside: &Inside, command: &str, words: &str) -> Result<(), Error> {
    let output = inside.run(&["dayone", command])?.exits(1);
    assert!(output.stderr.contains(words), "{words} in {output}");
    assert!(!output.stderr.contains("Bug: "), "{output}");
    Ok(())
}

fn the_gateway_is_asked(case: &mut Case<'_>) -> Result<(), Error> {
    for fault in [Fault::IgnoreNeighbours, Fault::DropPing] {
        case.peer_mut().fault(fault, true)?;
    }
    let inside = case.inside()?;
    // A request of the peer's before the fault is an answer too.
    let silent = "ip neighbour flush dev br-ex; dayone status | grep --quiet 'no gateway answers'";
    inside.wait_sh(silent, 3 * SOON)?;
    let forged = another_machine_answers(case)?;
    // The kernel asks three times within three seconds; an echo is asked for after that.
    let settings = inside.sh("cat /etc/dayone/dayone.toml")?;
    let patient = settings.replace("baseline = 1", "baseline = 5");
    assert_ne!(patient, settings);
    inside.write("/etc/dayone/dayone.toml", &patient)?;
    inside.sh("ip neighbour flush dev br-ex")?;
    let text = page(&inside)?;
    let told = format!("IN FORCE: {HOST_FILE}; no gateway answers ");
    assert!(text.starts_with(&told), "{text}");
    let wire = probed(&inside, 3)?;
    assert!(has(&wire, "gateway", "192.0.2.1", "failed"), "{wire}");
    assert!(has(&wire, "mtu", "192.0.2.1", "unknown"), "{wire}");
    drop(forged);
    inside.write("/etc/dayone/dayone.toml", &settings)?;
    assert!(text.contains("default routes: 192.0.2.1 on br-ex; "), "{text}");
    // A boot goes on with a silent gateway; a run by hand is no success, and is in the journal.
    let start = mark(&inside)?;
    fails(&inside, "apply", "the document is in force, and no gateway answers: ")?;
    inside.wait_message(&start.entries(), SOON, "in force already")?;
    for fault in [Fault::IgnoreNeighbours, Fault::DropPing] {
        case.peer_mut().fault(fault, false)?;
    }
    inside.run(&["dayone", "status"])?.exits(0);
    Ok(())
}

/// Answers for the gateway from another address, with what can be guessed of a question: the process's number, and the link's.
fn another_machine_answers(case: &Case<'_>) -> Result<FrameSender, Error> {
    let inside = case.inside()?;
    let number = |command: &str| -> Result<u16, Error> {
        Ok(inside.sh(command)?.trim().parse().unwrap_or_default())
    };
    let (process, link) = (number("echo $$")?, number("cat /sys/class/net/br-ex/ifindex")?);
    assert_ne!((process, link), (0, 0));
    let tokens = (process..process + 400).map(|process| {
        let ([a, b], [c, d]) = (process.to_be_bytes(), link.to_be_bytes());
        [a, b, c, d]
    });
    case.peer().forge_echo_replies("lan", [Ipv4Addr::new(192, 0, 2, 77), ADDRESS], tokens)
}

/// An editor changes a file and no network, until NetworkManager reads and activates it.
fn an_edited_profile_is_told(inside: &Inside) -> Result<(), Error> {
    let file = "/etc/NetworkManager/system-connections/br-ex-if.nmconnection";
    inside.run(&["dayone", "diff", "--exit-code"])?.exits(0);
    inside.sh(&format!("cp {file} /root/saved; sed --in-place s/192.0.2.10/192.0.2.11/ {file}"))?;
    let text = page(inside)?;
    assert!(text.starts_with(&format!("DRIFTED: {HOST_FILE} the next activation")), "{text}");
    // A run by hand leaves it too, and says so.
    let kept = inside.run(&["dayone", "apply"])?.exits(3);
    for words in ["192.0.2.11", "FAILED: DRIFTED: ", "`dayone rollback`", "`dayone adopt"] {
        assert!(kept.stderr.contains(words), "{words} in {kept}");
    }
    assert!(!kept.stderr.contains("dayone_"), "{kept}");
    assert!(kept.stderr.lines().all(|line| line.starts_with("dayone: ")), "{kept}");
    assert!(page(inside)?.starts_with(&format!("DRIFTED: {HOST_FILE} the next activation")));
    let diff = inside.run(&["dayone", "diff", "--exit-code"])?.exits(1);
    for line in [
        "# the next activation of the saved profiles:",
        "- interfaces[br-ex].ipv4.address: {ip: 192.0.2.10, prefix-length: 24}",
        "+ interfaces[br-ex].ipv4.address: {ip: 192.0.2.11, prefix-length: 24}",
    ] {
        assert!(diff.stdout.lines().any(|it| it == line), "{line} in {diff}");
    }
    let json = inside.run(&["dayone", "diff", "--format", "json"])?.exits(0).json();
    schema::fits("agent/doc/diff", &json);
    assert_eq!(json["next-activation"][0]["before"]["ip"], "192.0.2.10", "{json}");
    assert_eq!(json["differences"], serde_json::json!([]), "{json}");
    each_way_out_of_a_drift(inside, file)?;
    // A profile that is gone comes back with no boot.
    inside.sh(&format!("rm {file}"))?;
    let text = page(inside)?;
    assert!(text.contains("the next activation of the saved profiles changes it: br-ex"), "{text}");
    inside.sh(&format!("cp --archive /root/saved {file}"))?;
    inside.run(&["dayone", "status"])?.exits(0);
    Ok(())
}

/// Runs the commands that the text of a drift names.
fn each_way_out_of_a_drift(inside: &Inside, file: &str) -> Result<(), Error> {
    let exits = |command: &[&str], code: i32| -> Result<String, Error> {
        let output = inside.run(&[&["dayone"], command].concat())?;
        assert_eq!(output.status.code(), Some(code), "{command:?}: {output}");
        Ok(unwrapped(&output.stdout))
    };
    exits(&["diff"], 0)?;
    exits(&["adopt", "--reason", "CHG-5"], 0)?;
    let adopted = exits(&["status"], 0)?;
    assert!(adopted.contains("CHG-5"), "{adopted}");
    exits(&["apply"], 0)?;
    exits(&["adopt", "--forget"], 0)?;
    let drifted = exits(&["status"], 3)?;
    assert!(drifted.starts_with("DRIFTED: "), "{drifted}");
    exits(&["rollback"], 0)?;
    for command in [&["status"][..], &["apply"], &["diff", "--exit-code"]] {
        exits(command, 0)?;
    }
    assert!(inside.read(file)?.is_some_and(|text| text.contains("192.0.2.10/24")));
    inside.sh(&format!("cp --archive {file} /root/saved"))?;
    Ok(())
}

/// A process that owns its name on the bus and answers nothing.
fn a_slow_answer_is_told(inside: &Inside) -> Result<(), Error> {
    inside.sh("systemctl kill --signal=SIGSTOP NetworkManager.service")?;
    let text = page(inside)?;
    let bundle = collected(inside)?;
    let error = bundle["facts"]["profiles"]["error"].as_str();
    assert_eq!(error, Some("no answer within 8 s"), "{bundle:#}");
    assert!(bundle["facts"]["kernel"]["value"]["interfaces"].is_array(), "{bundle:#}");
    inside.sh("systemctl kill --signal=SIGCONT NetworkManager.service")?;
    assert!(text.starts_with(&format!("COMMITTED: {HOST_FILE}; drift unknown ")), "{text}");
    assert!(text.contains("within 10 s: NetworkManager does not answer"), "{text}");
    inside.sh("kill -STOP $(pidof dbus-broker)")?;
    let text = page(inside)?;
    inside.sh("kill -CONT $(pidof dbus-broker)")?;
    assert!(text.contains(" the system bus does not answer no answer within 5 s; "), "{text}");
    inside.run(&["dayone", "status"])?.exits(0);
    Ok(())
}

fn services_that_are_down_are_named(inside: &Inside) -> Result<(), Error> {
    inside.sh(
        "systemctl mask --runtime NetworkManager.service; systemctl stop NetworkManager.service",
    )?;
    let text = page(inside)?;
    let start =
        "Next: `systemctl unmask NetworkManager.service; systemctl start NetworkManager.service`";
    for words in [format!("COMMITTED: {HOST_FILE}; NetworkManager is down"), start.to_owned()] {
        assert!(text.contains(&words), "{words} in {text}");
    }
    fails(inside, "diff", "NetworkManager is down: `systemctl unmask")?;
    // The address is gone too; a run by hand says what it waits for.
    let said = inside.sh("timeout 7 dayone apply 2>&1 || true")?;
    assert!(said.contains("dayone: waiting for NetworkManager (1 s of 3)"), "{said}");
    inside.sh("systemctl unmask --runtime NetworkManager.service")?;
    stop_open_vswitch(inside)?;
    let text = page(inside)?;
    let start = "Next: `systemctl start openvswitch";
    // A run by hand that was stopped before its change leaves the account of this boot's.
    for words in ["; Open vSwitch is down ", start] {
        assert!(text.contains(words), "{words} in {text}");
    }
    assert!(!text.contains("failed, nothing was changed"), "{text}");
    for command in ["apply", "rollback", "diff"] {
        fails(inside, command, "Open vSwitch is down: `systemctl start openvswitch")?;
    }
    Ok(())
}
