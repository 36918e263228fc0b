//! `make profile`: where the time goes from the agent's exec to READY, of a document and of an automatic br-ex, with a static
//! address. Recording costs time too: `make bench` has the figures without it.

#![allow(clippy::print_stdout, reason = "a program for people to read")]

use std::{
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tests::{
    dayone::{
        Document, HOST_FILE, MAC, SOON, bridge_outcome, mark, outcome, with_bridge, with_program,
    },
    lab::{Error, Inside, Lab, Nic, Node, Peer},
    profile::{self, Moment, Source},
    program, skip,
};

const RECORDERS: &[(&str, &str)] = &[
    ("dbus", "stdbuf -oL busctl monitor --json=short"),
    // `-ts` gives local time without its zone.
    (
        "kernel",
        "stdbuf -oL ip -o monitor link address route | while read -r it; do echo \"[$EPOCHREALTIME] $it\"; done",
    ),
    (
        "ovs",
        "stdbuf -oL ovsdb-client --format=csv --no-headings monitor Open_vSwitch Interface name,ofport | while read -r it; do echo \"[$EPOCHREALTIME] $it\"; done",
    ),
];

fn main() -> ExitCode {
    if skip::is_lab_off() {
        println!("profile: nothing is measured, LAB=off");
        return ExitCode::SUCCESS;
    }
    match Lab::open().and_then(|lab| document(&lab).and_then(|()| bridge(&lab))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("profile: {error:?}");
            ExitCode::FAILURE
        }
    }
}

fn document(lab: &Lab) -> Result<(), Error> {
    let dayone = program::dayone_of_node();
    let node = with_program(Node::new("worker-0").nic(Nic::new("eno1", MAC)), &dayone);
    lab.run(node.day_one(), &Peer::new(), |case| {
        let inside = case.boot()?;
        inside.sh("systemctl stop kubelet.service dayone.service")?;
        inside.write(HOST_FILE, &Document::new().text())?;
        println!("== a document with a static br-ex");
        record(&inside, || {
            let mark = mark(&inside)?;
            inside.sh("systemctl start dayone.service")?;
            outcome(&inside, Some(&mark))?.exits(0);
            Ok(())
        })
    })
}

fn bridge(lab: &Lab) -> Result<(), Error> {
    let dayone = program::dayone_of_node();
    let node = with_program(Node::new("worker-0").nic(Nic::new("eno1", MAC)), &dayone);
    let waits = "[Unit]\nConditionPathExists=/run/lab-bridge\n";
    let drop_in = "/etc/systemd/system/dayone-bridge.service.d/50-lab.conf";
    let node = with_bridge(node).day_one().file(drop_in, waits, 0o644);
    lab.run(node, &Peer::new(), |case| {
        let inside = case.boot()?;
        inside.sh("systemctl stop kubelet.service; touch /run/lab-bridge")?;
        println!("\n== an automatic br-ex");
        record(&inside, || {
            inside.sh("systemctl start dayone-bridge.service")?;
            bridge_outcome(&inside, None)?.exits(0);
            Ok(())
        })
    })
}

/// Prints what happened in `run`.
fn record(inside: &Inside, run: impl Fn() -> Result<(), Error>) -> Result<(), Error> {
    for (name, command) in RECORDERS {
        inside.sh(&format!(
            "systemd-run --quiet --expand-environment=no --unit=record-{name} bash -c '{command} >/root/{name}'"
        ))?;
    }
    // A monitor shows that it has begun by the first that it sees.
    inside.wait_sh("busctl list >/dev/null; test -s /root/dbus", SOON)?;
    let begin = now();
    run()?;
    let units: Vec<_> =
        RECORDERS.iter().map(|(name, _)| format!("record-{name}.service")).collect();
    inside.sh(&format!("systemctl stop {}", units.join(" ")))?;
    let read =
        |name: &str| Ok::<_, Error>(inside.read(&format!("/root/{name}"))?.unwrap_or_default());
    let mut events = profile::calls(&read("dbus")?, begin);
    events.extend(profile::journal(&inside.journal(&[])?));
    events.extend(profile::lines(&read("kernel")?, Source::Kernel));
    events.extend(profile::lines(&read("ovs")?, Source::OpenVswitch));
    println!("{}", profile::table(events, begin));
    Ok(())
}

fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Moment::try_from(since.as_micros()).unwrap_or_default()
}
