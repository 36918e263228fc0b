//! An interface of Open vSwitch that NetworkManager leaves in the middle at a boot: in "prepare" or without any activation, as
//! 1.46 and 1.48 may, or in its deactivation, which a full disk has had any version do. The node has no network, and all profiles
//! and the port are there.

#![allow(clippy::print_stdout, reason = "a measure for whoever reads the run")]

use std::{
    net::Ipv4Addr,
    time::{Duration, Instant},
};

use tests::{
    dayone::{
        ADDRESS, HOST_FILE, Outcome, SOON, at_pre_down, hang, mark, outcome, unhang, unwrapped,
    },
    lab::{Case, Error, Inside},
};

const CHANGED: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 11);
/// The agent's own patience, its reaction and a busy host; without either it waits a minute.
const QUICK: Duration = Duration::from_secs(15);

/// A node whose document is in force: unchanged, changed, and gone.
///
/// # Panics
/// If it has no network in the end.
pub(crate) fn interface_that_hangs_is_activated(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.sh("rm --force /etc/dayone/dayone.toml")?;
    let it = started(&inside, "")?;
    is_told(case, &it)?;
    inside.sh("systemctl stop dayone.service; nmcli connection down br-ex-if")?;
    let port = "nmcli --get-values DEVICE,TYPE,STATE device | grep -x br-ex:ovs-port:connected";
    inside.sh(port)?;
    is_told(case, &starts(&inside, "down")?)?;

    started(&inside, "sed -i s/192.0.2.10$/192.0.2.11/")?.says("the network is in force");
    assert!(case.peer().pings(CHANGED, SOON)?);

    started(&inside, "rm")?.says("was removed; its network stays");
    assert!(case.peer().pings(CHANGED, SOON)?);
    Ok(())
}

/// The unchanged document is in force, and the status tells what it took.
fn is_told(case: &Case<'_>, it: &Outcome) -> Result<(), Error> {
    assert!(it.text().contains("in force already"), "{}", it.text());
    assert!(case.peer().pings(ADDRESS, SOON)?);
    let status = case.inside()?.run(&["dayone", "status"])?.exits(0);
    let told = "NetworkManager did not end the activation of br-ex";
    assert!(unwrapped(&status.stdout).contains(told), "{status}");
    Ok(())
}

/// A node whose document is in force, and is changed: activations would wait behind the deactivation.
///
/// # Panics
/// If it has no network in the end.
pub(crate) fn deactivation_without_an_end_is_ended(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.write("/etc/dayone/dayone.toml", "[wait]\nnetwork = 2\n")?;
    for (change, text) in [
        (":", "in force already"),
        (
            "echo '    search: [example.org]' >/tmp/search; sed -i '/^    - 192.0.2.1$/r /tmp/search'",
            "the network is in force",
        ),
    ] {
        let hold = at_pre_down(&inside, "br-ex", "exec sleep 1000")?;
        inside.sh("systemctl stop dayone.service; nmcli --wait 0 connection up br-ex-if")?;
        let all = "nmcli --get-values DEVICE,TYPE,STATE device";
        inside.wait_sh(&format!("{all} | grep -x br-ex:ovs-interface:deactivating"), SOON)?;
        let mark = mark(&inside)?;
        let start = Instant::now();
        let begin = "systemctl start --no-block dayone.service";
        inside.sh(&format!("rm {hold}; {change} {HOST_FILE}; {begin}"))?;
        let it = outcome(&inside, Some(&mark))?;
        println!("a deactivation that hangs, '{text}': {:.1?}", start.elapsed());
        assert_eq!(it.exit, 0, "{}", it.text());
        assert!(it.text().contains(text), "{}", it.text());
        assert!(case.peer().pings(ADDRESS, SOON)?);
    }
    Ok(())
}

/// Has br-ex hang, changes the document, and starts the agent.
fn started(inside: &Inside, change: &str) -> Result<Outcome, Error> {
    inside.sh("systemctl stop dayone.service")?;
    hang(inside)?;
    if !change.is_empty() {
        inside.sh(&format!("{change} {HOST_FILE}"))?;
    }
    let it = starts(inside, change)?;
    unhang(inside)?;
    Ok(it)
}

/// Starts the agent, and checks that its attempt succeeds as quickly as it may.
fn starts(inside: &Inside, change: &str) -> Result<Outcome, Error> {
    let mark = mark(inside)?;
    let start = Instant::now();
    inside.sh("systemctl start --no-block dayone.service")?;
    let it = outcome(inside, Some(&mark))?;
    let took = start.elapsed();
    println!("an interface that hangs, '{change}': {took:.1?}");
    assert_eq!(it.exit, 0, "{}", it.text());
    assert!(took < QUICK, "{took:?}");
    Ok(it)
}
