//! Each failure ends with the old network back, the cause in a message, the right exit code, and kubelet not started.

use std::time::Duration;

use tests::{
    dayone::{
        ADDRESS, APISERVER, APPLIED, ATTEMPT, DAY_ONE, Document, HASTE, HOST_FILE, MAC, Mark,
        Outcome, SOON, attempt, crash_open_vswitch, hold, kubelet_ran, mark, old_network, outcome,
        picture, picture_like, release, start, stop_open_vswitch, try_document, unwrapped,
        with_holdable_agent, worker, wrong_gateway,
    },
    lab::{Case, Error, Fault, Inside, Nic, Node, Peer},
};

/// A node with short timeouts and a probe of the API.
fn node(document: &str) -> Node {
    settled(worker(), document)
}

/// Such a node, whose agent can be held.
fn holdable_node(document: &str) -> Node {
    settled(with_holdable_agent(Node::new("worker-0").nic(Nic::new("eno1", MAC))), document)
}

fn settled(node: Node, document: &str) -> Node {
    node.day_one().document(document).settings(HASTE).file(APISERVER.0, APISERVER.1, 0o644)
}

/// Checks that a failure restored the old network, whose [`picture`] is `before`.
fn failed(
    case: &Case<'_>,
    outcome: &Outcome,
    exit: i32,
    cause: &str,
    before: &str,
) -> Result<(), Error> {
    let inside = case.inside()?;
    assert!(outcome.text().contains(cause), "{cause} in: {}", outcome.text());
    assert_eq!(outcome.exit, exit, "{}", outcome.text());
    assert!(case.peer().pings(ADDRESS, SOON)?, "after {cause}");
    assert_eq!(picture(&inside)?, before, "after {cause}");
    assert!(!kubelet_ran(&inside)?, "after {cause}");
    assert_ne!(inside.unit("kubelet.service")?.active_state, "active", "after {cause}");
    inside.run(&["dayone", "status"])?.exits(3);
    Ok(())
}

/// Waits until the run that began at `mark` verifies the new network.
fn verifying(inside: &Inside, mark: &Mark) -> Result<(), Error> {
    inside.wait_journal(&mark.entries(), ATTEMPT, |entry| {
        entry.message().starts_with("verifying the new")
    })?;
    Ok(())
}

#[tests::case]
fn wrong_gateway_with_the_operators_units_beside_it() -> Result<(), Error> {
    node(&wrong_gateway()).machine_config_operator().run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        let first = outcome(&inside, None)?;
        let again = mark(&inside)?;
        assert_eq!(first.exit, 3, "{}", first.text());
        // The second attempt fails the same way.
        let second = outcome(&inside, Some(&again))?;
        // A correction ends the third one.
        let last = mark(&inside)?;
        verifying(&inside, &last)?;
        inside.write(HOST_FILE, &wrong_gateway().replace("192.0.2.254", "192.0.2.253"))?;
        let third = outcome(&inside, Some(&last))?;
        inside.sh("systemctl stop dayone.service")?;
        let before = picture(&inside)?;
        assert!(before.contains(DAY_ONE) && !before.contains("br-ex"), "{before}");
        failed(case, &first, 3, "gateway 192.0.2.254", &before)?;
        failed(case, &second, 3, "gateway 192.0.2.254", &before)?;
        failed(case, &third, 3, "was stopped", &before)?;
        // The operator's units, ordered after the agent, are skipped by their conditions.
        for unit in ["nmstate-configuration", "ovs-configuration"] {
            let skipped =
                format!("systemctl show --property=ConditionResult {unit}.service | grep =no");
            inside.wait_sh(&skipped, SOON)?;
            inside.run(&["systemctl", "start", &format!("{unit}.service")])?.exits(0);
            assert_eq!(inside.read(&format!("/run/lab-{unit}"))?, None);
        }
        assert_eq!(inside.read(APPLIED)?, None);
        assert_eq!(picture(&inside)?, before);
        Ok(())
    })
}

#[tests::case]
fn each_cause_is_named_and_undone() -> Result<(), Error> {
    let good = Document::new().text();
    let missing = Document::new().nic("eno9").text();
    holdable_node(&missing).run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        let first = outcome(&inside, None)?;
        inside.sh("systemctl stop dayone.service")?;
        let before = picture(&inside)?;
        assert!(before.contains(DAY_ONE) && !before.contains("br-ex"), "{before}");
        failed(case, &first, 1, "link eno9", &before)?;

        let invalid = good.replace("type: ovs-bridge", "type: ovs-bridge\n  mtu: many");
        let it = try_document(&inside, &invalid)?;
        failed(case, &it, 2, HOST_FILE, &before)?;

        secrets_are_shown_nowhere(&inside, &good)?;

        // The kernel has NetworkManager's MTU until ovs-vswitchd goes on with what its database has.
        let smaller = "type: ovs-interface\n  mtu: 1400";
        inside.write(HOST_FILE, &good.replace("type: ovs-interface", smaller))?;
        let mark = hold(&inside, "apply")?;
        inside.sh("kill -STOP $(pidof ovs-vswitchd); ovs-vsctl --no-wait set Interface br-ex mtu_request=1300")?;
        release(&inside)?;
        inside.sh("kill -CONT $(pidof ovs-vswitchd)")?;
        let it = outcome(&inside, Some(&mark))?;
        failed(case, &it, 3, "br-ex (ovs-interface): mtu", &before)?;

        let refused = good.replace("datapath: netdev", "datapath: netdev\n      fail-mode: bogus");
        let it = try_document(&inside, &refused)?;
        failed(case, &it, 3, "fail-mode", &before)?;

        // From here on the gateway answers nothing but ARP.
        inside.write(HOST_FILE, &good)?;
        // The baseline probes are over.
        let mark = hold(&inside, "journal")?;
        let status = inside.run(&["dayone", "status"])?;
        let page = unwrapped(&status.stdout);
        for words in ["; this is attempt ", ", and the one before failed: ", "fail-mode"] {
            assert!(page.contains(words), "{words} in {status}");
        }
        case.peer_mut().fault(Fault::DropTraffic, true)?;
        release(&inside)?;
        let it = outcome(&inside, Some(&mark))?;
        inside.sh("systemctl stop dayone.service")?;
        case.peer_mut().fault(Fault::DropTraffic, false)?;
        failed(case, &it, 3, "probe api failed", &before)?;
        let way = "packets to 198.51.100.10 leave by br-ex from 192.0.2.10 through 192.0.2.1";
        assert!(it.text().contains(way), "{}", it.text());

        stop_open_vswitch(&inside)?;
        let it = try_document(&inside, &good)?;
        inside.sh("systemctl start openvswitch-switch.service")?;
        failed(case, &it, 1, "Open vSwitch's database", &before)?;

        inside.sh("mount -t tmpfs -o size=32k tmpfs /var/lib/dayone; dd if=/dev/zero of=/var/lib/dayone/full bs=32k count=2 2>/dev/null || :")?;
        let it = try_document(&inside, &good)?;
        inside.sh("umount /var/lib/dayone")?;
        failed(case, &it, 1, "No space left on device", &before)?;

        inside.sh("mount -t overlay -o ro,lowerdir=/etc:/lab overlay /etc")?;
        let it = attempt(&inside)?;
        inside.sh("umount /etc")?;
        failed(case, &it, 1, "Read-only file system", &before)?;

        // Without the cause the same document succeeds.
        try_document(&inside, &good)?.exits(0);
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(inside.read(APPLIED)?.as_deref(), Some(&*good));
        Ok(())
    })
}

/// The agent refuses documents with a secret, quoted and as a number, that have a fault in it or beside it.
fn secrets_are_shown_nowhere(inside: &Inside, good: &str) -> Result<(), Error> {
    let mut shown = String::new();
    for (secret, fault) in [
        ("83517246", "typo: 1"),
        ("[83517246]", "typo: 1"),
        ("'83517246'", "eap-methods: many"),
        ("\"83517246", "typo: 1"),
    ] {
        let section =
            format!("  802.1x: {{identity: a, password: {secret}, {fault}}}\n  state: up");
        try_document(inside, &good.replacen("  state: up", &section, 1))?.exits(2);
        for command in ["status", "status --json", "check", "diff", "apply --dry-run"] {
            shown += &inside.run(&["sh", "-c", &format!("dayone {command} 2>&1")])?.stdout;
        }
    }
    shown +=
        &inside.sh("journalctl --boot --output=export --identifier=dayone; dmesg 2>&1 || :")?;
    shown += &inside.sh("cat /run/dayone/* 2>/dev/null || :")?;
    assert!(shown.contains("<hidden>"), "{shown}");
    let line = shown.lines().find(|line| line.contains("83517246"));
    assert_eq!(line, None);
    Ok(())
}

/// NetworkManager waits for this script in the activation of br-ex.
const ACTIVATES: &str = "\
#!/bin/sh
[ \"$1\" = br-ex ] && [ ! -e /run/lab-killed ] || exit 0
: >/run/lab-activates
until [ -e /run/lab-killed ]; do sleep 0.05; done
";
/// Until the document has failed it does not come back: nmstate would go on with the new process.
const STAYS_AWAY: &str = "[Service]\nRestart=no\n";

#[tests::case]
fn networkmanager_killed_while_it_applies() -> Result<(), Error> {
    // The first boot has no document, so that the old network can be recorded.
    let node = holdable_node("")
        .file("/etc/NetworkManager/dispatcher.d/pre-up.d/50-lab", ACTIVATES, 0o755)
        .file("/etc/systemd/system/NetworkManager.service.d/50-lab.conf", STAYS_AWAY, 0o644);
    node.run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        inside.write(HOST_FILE, &Document::new().text())?;
        // nmstate is done: it would ask for the activation again for a minute. The verification has not begun: it needs no end of
        // the activation, and could be over before.
        let mark = hold(&inside, "apply")?;
        inside.wait_sh("test -e /run/lab-activates", SOON)?;
        inside.kill("NetworkManager.service")?;
        inside.write("/run/lab-killed", "")?;
        release(&inside)?;
        let fails = "the current state cannot be retrieved";
        inside.wait_message(&mark.entries(), ATTEMPT, fails)?;
        inside.sh("systemctl start NetworkManager.service")?;
        let it = outcome(&inside, Some(&mark))?;
        // A process that started in the middle has activated the document's profiles. It takes the activation down some time after
        // the roll back has removed them.
        picture_like(&inside, &before)?;
        failed(case, &it, 3, "NetworkManager does not answer on D-Bus", &before)
    })
}

/// Without its process its checkpoints are gone; the new process takes the devices over as they are.
#[tests::case]
fn networkmanager_killed_before_its_roll_back() -> Result<(), Error> {
    node("").run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        let document =
            wrong_gateway().replace("state: up\n  ipv4:", "state: up\n  mtu: 1300\n  ipv4:");
        assert_eq!(document.matches("mtu: 1300").count(), 1, "{document}");
        inside.write(HOST_FILE, &document)?;
        let mark = start(&inside)?;
        verifying(&inside, &mark)?;
        assert_eq!(inside.sh("cat /sys/class/net/eno1/mtu")?, "1300");
        inside.sh("systemctl kill --signal=KILL NetworkManager.service")?;
        let it = outcome(&inside, Some(&mark))?;
        assert_eq!(inside.sh("cat /sys/class/net/eno1/mtu")?, "1500", "{}", it.text());
        // The new process may still take the bridge's last activation down.
        picture_like(&inside, &before)?;
        failed(case, &it, 3, "gateway 192.0.2.254", &before)
    })
}

/// ovs-vswitchd hangs, so that the roll back takes br-ex out of the database alone, and is killed. Nothing holds the link of
/// br-ex any more, and NetworkManager waits for its end.
#[tests::case]
fn open_vswitch_that_hangs_in_the_roll_back() -> Result<(), Error> {
    node("").run(&Peer::new(), |case| {
        let (inside, _) = old_network(case)?;
        // Nothing else names the program that hangs: its process and Open vSwitch's database are there.
        inside.sh("kill -STOP $(pidof ovs-vswitchd)")?;
        let it = try_document(&inside, &Document::new().text())?;
        // Nothing was changed that would have to be rolled back.
        assert_eq!(it.exit, 1, "{}", it.text());
        assert!(it.text().contains("ovs-vswitchd has carried nothing out for"), "{}", it.text());
        inside.sh("systemctl stop dayone.service; kill -CONT $(pidof ovs-vswitchd)")?;

        inside.write(HOST_FILE, &wrong_gateway())?;
        let mark = start(&inside)?;
        verifying(&inside, &mark)?;
        inside.sh("kill -STOP $(pidof ovs-vswitchd)")?;
        outcome(&inside, Some(&mark))?.exits(3).says("gateway 192.0.2.254");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        inside.sh("systemctl stop dayone.service")?;
        crash_open_vswitch(&inside)?;
        inside.sh("ip link show dev br-ex")?;
        try_document(&inside, &Document::new().text())?.exits(0);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

/// NetworkManager waits for this script before eno1 is up.
const WAITS: &str = "#!/bin/sh
[ \"$DEVICE_IFACE\" = eno1 ] || exit 0
[ -e /run/lab-wait ] || exit 0
: >/run/lab-waits
until [ -e /run/lab-go ]; do sleep 0.05; done
";

/// The address and the route of a profile are there before it is up, and may go again.
#[tests::case]
fn roll_back_waits_for_the_old_profile() -> Result<(), Error> {
    let node = node("").file("/etc/NetworkManager/dispatcher.d/pre-up.d/50-lab", WAITS, 0o755);
    node.run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        inside.write(HOST_FILE, &wrong_gateway())?;
        let mark = start(&inside)?;
        verifying(&inside, &mark)?;
        inside.write("/run/lab-wait", "")?;
        inside.wait_sh(
            "test -e /run/lab-waits && ip -4 route show default dev eno1 | grep -q via",
            ATTEMPT,
        )?;
        // A proof that asks for the address and the gateway alone ends here.
        let early = inside.wait_journal(&mark.entries(), Duration::from_secs(2), |entry| {
            entry.field("DAYONE_EXIT").is_some()
        });
        assert!(early.is_err(), "it ended: {early:?}");
        inside.write("/run/lab-go", "")?;
        let it = outcome(&inside, Some(&mark))?;
        assert_eq!(inside.sh("nmcli -g GENERAL.STATE device show eno1")?.trim(), "100 (connected)");
        failed(case, &it, 3, "gateway 192.0.2.254", &before)?;
        card_that_is_gone_is_no_failure_of_the_roll_back(case)
    })
}

/// NetworkManager says that it could not roll the card back, and nothing returns its address.
fn card_that_is_gone_is_no_failure_of_the_roll_back(case: &mut Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.sh("systemctl stop dayone.service")?;
    case.plug(Nic::new("eno2", "52:54:00:00:00:02"))?;
    let add = "nmcli connection add type ethernet ifname eno2 con-name eno2 ip4 198.18.0.2/24";
    inside.wait_sh(&format!("{add} && nmcli connection up eno2"), SOON)?;
    inside.write("/etc/dayone/dayone.toml", &HASTE.replace("roll-back = 20", "roll-back = 5"))?;
    let mark = start(&inside)?;
    verifying(&inside, &mark)?;
    case.unplug("eno2");
    let it = outcome(&inside, Some(&mark))?.exits(3);
    assert!(
        it.text().contains("rolled back") && it.text().contains("192.0.2.254"),
        "{}",
        it.text()
    );
    for told in ["could not roll back", "since the card is gone: 198.18.0.2/24 on eno2"] {
        inside.wait_message(&mark.entries(), SOON, told)?;
    }
    assert_eq!(inside.read("/var/lib/dayone/transaction/journal.json")?, None);
    assert!(case.peer().pings(ADDRESS, SOON)?);
    Ok(())
}

#[tests::case]
fn host_name_of_a_failed_document_goes_again() -> Result<(), Error> {
    node("").run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        let names = "hostname; cat /etc/hostname";
        let named = inside.sh(names)?;
        assert!(named.starts_with("worker-0\nworker-0"), "{named}");
        let document =
            "hostname:\n  running: worker-9\n  config: worker-9\n".to_owned() + &wrong_gateway();
        inside.write(HOST_FILE, &document)?;
        // Proves that the attempt set the host name, and so that the roll back restored it.
        let seen =
            "until [ \"$(hostname) $(cat /etc/hostname)\" = 'worker-9 worker-9' ]; do :; done";
        let mut watch = inside
            .command("timeout")?
            .args(["60", "sh", "-c", seen])
            .spawn()
            .map_err(|source| Error::Spawn { program: "timeout".into(), source })?;
        let it = attempt(&inside)?;
        assert!(watch.wait().is_ok_and(|status| status.success()), "it was never worker-9");
        failed(case, &it, 3, "gateway 192.0.2.254", &before)?;
        assert_eq!(inside.sh(names)?, named);
        Ok(())
    })
}
