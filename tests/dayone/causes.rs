//! A node without a network: `dayone status` names the cause first, and the command that it prints mends it.

use std::time::Duration;

use tests::{
    dayone::{
        ADDRESS, DAY_ONE, Document, ENTRIES, HOST_FILE, MAC, SOON, USERSPACE, agent, outcome,
        unwrapped, with_bridge,
    },
    lab::{Case, Error, Inside, Nic, Node, Peer, Release},
};

const PROFILE: &str = "/etc/NetworkManager/system-connections/eno1.nmconnection";
const NETWORKING_OFF: &str = "NetworkManager's networking is off";
/// nodeip-configuration looks again after a pause, and the bridge comes after it.
const BOOT: Duration = Duration::from_secs(90);

/// The page of `dayone status` of a node whose kubelet waits, in one line.
fn page(inside: &Inside) -> Result<String, Error> {
    let status = inside.run(&["dayone", "status"])?.exits(3);
    assert!(status.stdout.starts_with("WAITING: kubelet does not start\n"), "{status}");
    Ok(unwrapped(&status.stdout))
}

/// Returns the first command that the page advises, once the page has these words first.
fn remedy(inside: &Inside, words: &str) -> Result<String, Error> {
    let text = page(inside)?;
    let reason = text.strip_prefix("WAITING: kubelet does not start ").unwrap_or_default();
    assert!(reason.starts_with(words), "{words} in {text}");
    let next = text.split("Next: `").nth(1).and_then(|next| next.split('`').next());
    assert!(next.is_some(), "{text}");
    Ok(next.unwrap_or_default().to_owned())
}

#[tests::case]
fn each_cause_comes_with_the_command_that_mends_it() -> Result<(), Error> {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).field(Release::V4_22);
    // A fresh node whose profile lacks the gateway: nodeip-configuration waits for a default route, and the bridge for it.
    let profile = DAY_ONE.replace(",192.0.2.1\n", "\n");
    assert_ne!(profile, DAY_ONE);
    let settings = format!("{USERSPACE}[timeout]\nbaseline = 1\nverify = 5\nprobe = 2\n");
    let node = with_bridge(agent(node)).keyfile("eno1", &profile);
    node.settings(&settings).run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        inside.wait_sh("test -S /run/dbus/system_bus_socket", BOOT)?;
        inside.wait_unit("nodeip-configuration.service", "activating", BOOT)?;
        inside.wait_sh("systemctl list-jobs | grep --quiet 'dayone-bridge.service .*waiting'", BOOT)?;
        inside.wait_sh("test -e /run/dayone/status.json && ip -4 address show dev eno1 | grep --quiet 192.0.2.10", BOOT)?;
        let no_gateway = "the profile eno1 has an address and no gateway";
        let add_gateway = remedy(&inside, no_gateway)?;
        let text = page(&inside)?;
        for words in ["dayone-bridge.service waits for its turn, after ", "nodeip-configuration.service"] {
            assert!(text.contains(words), "{words} in {text}");
        }

        // NetworkManager has let the profile go, as at each boot with MachineConfig's default mode.
        inside.sh(&format!("chmod 0644 {PROFILE}; nmcli connection reload"))?;
        let mode = remedy(&inside, &format!("NetworkManager ignores the profile {PROFILE}: its mode is 0644"))?;
        inside.sh(&mode)?;
        inside.wait_sh("nmcli -g NAME connection show | grep --quiet --line-regexp eno1", SOON)?;
        inside.sh(&format!("chown 1000 {PROFILE}; nmcli connection reload"))?;
        let owner = remedy(&inside, &format!("NetworkManager ignores the profile {PROFILE}: its owner is 1000"))?;
        inside.sh(&owner)?;
        inside.wait_sh("nmcli -g NAME connection show | grep --quiet --line-regexp eno1", SOON)?;

        inside.sh("nmcli device set eno1 managed no")?;
        let managed = remedy(&inside, "NetworkManager does not manage eno1")?;
        inside.sh(&managed)?;
        inside.wait_sh("nmcli -g GENERAL.STATE device show eno1 | grep --quiet '^100 '", SOON)?;

        inside.sh("nmcli networking off")?;
        let networking = remedy(&inside, NETWORKING_OFF)?;
        inside.sh(&networking)?;
        inside.sh("nmcli --wait 20 connection up eno1")?;

        another_machine_has_the_address(case)?;

        let inside = case.inside()?;
        inside.sh(&add_gateway.replace("ADDRESS", "192.0.2.1"))?;
        inside.wait_unit("kubelet.service", "active", BOOT)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        the_card_has_another_name(case)?;
        a_free_address_ends_a_pause(case)
    })
}

/// NetworkManager does not use an address that another machine has, nor try again when that one has gone.
fn another_machine_has_the_address(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.sh("nmcli --wait 20 connection down eno1")?;
    case.peer().address("lan", ADDRESS.into(), 32, true)?;
    let text = page(&inside)?;
    let words = "another machine has 192.0.2.10 of eno1 too (with MAC ";
    assert!(text.contains(words), "{text}");
    inside.wait_message(&ENTRIES, 2 * SOON, &format!("asked again every 5 s: {words}"))?;
    case.peer().address("lan", ADDRESS.into(), 32, false)?;
    inside.wait_sh("ip -4 address show dev eno1 | grep --quiet 192.0.2.10", 2 * SOON)?;
    assert!(!page(&inside)?.contains(words));
    Ok(())
}

/// Names of cards change with the operating system. The address is another machine's from the start of this boot on: once that
/// machine has gone, kubelet follows without a command.
fn the_card_has_another_name(case: &mut Case<'_>) -> Result<(), Error> {
    case.shut_down()?;
    case.unplug("eno1");
    case.plug(Nic::new("eno1np0", MAC))?;
    case.peer().address("lan", ADDRESS.into(), 32, true)?;
    let inside = case.power_on()?;
    inside.wait_sh("test -S /run/dbus/system_bus_socket", BOOT)?;
    inside.wait_sh("systemctl list-jobs | grep --quiet 'dayone-bridge.service .*waiting'", BOOT)?;
    inside.wait_sh("test -e /run/dayone/status.json", BOOT)?;
    let words =
        "this node has no card eno1 (profile eno1); no profile names eno1np0 (52:54:00:00:00:01)";
    let rename = remedy(&inside, words)?;
    let renamed = inside.run(&["sh", "-c", &rename])?;
    assert!(!renamed.status.success(), "{renamed}");
    let words = "another machine has 192.0.2.10 of eno1np0 too (with MAC ";
    let text = page(&inside)?;
    assert!(text.contains(words), "{text}");
    inside.wait_message(&ENTRIES, 2 * SOON, &format!("asked again every 5 s: {words}"))?;
    case.peer().address("lan", ADDRESS.into(), 32, false)?;
    inside.wait_unit("kubelet.service", "active", BOOT)?;
    assert!(case.peer().pings(ADDRESS, SOON)?);
    Ok(())
}

/// The first boot with a document, while another machine has its address: no event of the network tells when that one has gone.
fn a_free_address_ends_a_pause(case: &mut Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.write(HOST_FILE, &Document::new().text().replace("eno1", "eno1np0"))?;
    // NetworkManager keeps this in a file.
    inside.sh("nmcli networking off")?;
    case.shut_down()?;
    case.peer().address("lan", ADDRESS.into(), 32, true)?;
    let inside = case.power_on()?;
    inside.wait_sh("systemctl show dayone.service", BOOT)?;
    let failed = outcome(&inside, None)?;
    assert!(failed.exit == 1 && failed.text().contains(NETWORKING_OFF), "{}", failed.text());
    networking_is_set_on(&inside)?;
    let told = "dayone status | tr --squeeze-repeats ' \n' ' ' | grep --quiet 'another machine has 192.0.2.10 of br-ex too (with MAC '";
    inside.wait_sh(told, 2 * BOOT)?;
    // It is given up by then, and no attempt is due for five minutes.
    inside.wait_message(&ENTRIES, 2 * BOOT, "failed 3 times and is not tried again")?;
    case.peer().address("lan", ADDRESS.into(), 32, false)?;
    inside.wait_unit("kubelet.service", "active", BOOT / 2)?;
    in_force(case, &inside)?;
    // The same with a document in force, whose network is waited for first.
    inside.sh("printf '[wait]\nnetwork = 3\n' >>/etc/dayone/dayone.toml; nmcli networking off")?;
    let inside = case.restart()?;
    inside.wait_sh("systemctl show dayone.service", BOOT)?;
    inside.wait_journal(&ENTRIES, BOOT, |entry| {
        entry.message().starts_with("activating the document's profiles: ")
    })?;
    networking_is_set_on(&inside)?;
    inside.wait_unit("kubelet.service", "active", BOOT)?;
    in_force(case, &inside)
}

fn in_force(case: &Case<'_>, inside: &Inside) -> Result<(), Error> {
    let status = inside.run(&["dayone", "status"])?;
    assert!(status.stdout.starts_with("IN FORCE: "), "{status}");
    assert!(case.peer().pings(ADDRESS, SOON)?);
    Ok(())
}

/// Names the cause first, has changed nothing, and the command mends it.
fn networking_is_set_on(inside: &Inside) -> Result<(), Error> {
    let networking = remedy(inside, NETWORKING_OFF)?;
    let told = inside.journal(&ENTRIES)?;
    for change in ["applying", "creating a checkpoint", "changes made since its commit are lost"] {
        let entry = told.iter().find(|entry| entry.message().contains(change));
        assert!(entry.is_none(), "{entry:?}");
    }
    inside.sh(&networking)?;
    Ok(())
}
