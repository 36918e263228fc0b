//! The node whose transactions are recorded, and the states of all recordings.

use std::{fmt::Write as _, io::Write as _};

use tests::{
    crash::{campaign, operations::Recording},
    dayone::{HASTE, MAC, USERSPACE, settle, with_bridge, with_program},
    lab::{Case, Error, Inside, Nic, Node},
    program,
};

use super::{
    recorded::faulty,
    recovery::{Expected, Recovery},
};

/// Settings with which every change is rolled back.
pub(super) const REFUSED: &str = "[[probe.target]]\nname = \"discard\"\ntcp = \"192.0.2.1:9\"\n";

/// The agent's units.
const UNITS: [&str; 6] =
    ["dayone", "dayone-bridge", "dayone-health", "dayone-pending", "dayone-recover", "dayone-wait"];

/// A recording with its name and what it has to keep.
pub(super) type Named = (&'static str, Expected, Recording);

/// A node whose units do nothing: the agent is called by hand.
pub(super) fn node() -> Node {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).day_one();
    let node = with_bridge(with_program(node, program::dayone_fault_injection()))
        .settings(&format!("{HASTE}{USERSPACE}"))
        // Another node's.
        .file("/etc/nmstate/openshift/worker-1.yml", "", 0o644);
    UNITS.iter().fold(node, |node, unit| {
        let drop_in = format!("/etc/systemd/system/{unit}.service.d/50-lab.conf");
        node.file(&drop_in, "[Unit]\nConditionPathExists=/nonexistent\n", 0o644)
    })
}

/// Boots the node, on which the agent has never run.
pub(super) fn booted(case: &mut Case<'_>) -> Result<Inside, Error> {
    let inside = case.boot()?;
    settle(&inside)?;
    inside.sh("rm -rf /var/lib/dayone")?;
    Ok(inside)
}

/// Replaces the settings.
pub(super) fn set(inside: &Inside, settings: &str) -> Result<(), Error> {
    inside.write("/etc/dayone/dayone.toml", &format!("{HASTE}{USERSPACE}{settings}"))
}

/// Tries `number` states of all recordings together, or as many as `CRASH_STATES` says.
pub(super) fn hold(recordings: &[Named], number: usize) -> Result<(), Error> {
    let other = std::env::var("CRASH_STATES").ok().and_then(|text| text.parse().ok());
    let number = other.unwrap_or(number);
    let (mut text, mut states) = (String::new(), 0);
    // The last ones have the fewest: the first make up for them.
    for (index, (name, expected, recording)) in recordings.iter().rev().enumerate() {
        let each = number.saturating_sub(states) / (recordings.len() - index);
        let report = campaign::run(recording, each, || Recovery::new(expected))
            .map_err(|fault| faulty(&fault))?;
        states += report.states;
        let (operations, tried) = (recording.length(), report.states);
        let line = format_args!("{name}: {operations} operations, {tried} states\n");
        let _ = std::io::stderr().write_fmt(line);
        if !report.violations.is_empty() {
            let _ = writeln!(text, "{name}:\n{}", report.text());
        }
    }
    assert!(text.is_empty(), "{text}");
    assert!(states >= number, "only {states} states");
    Ok(())
}
