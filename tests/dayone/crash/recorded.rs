//! A run of the agent in a node, with the file operations of everything that works for it.

use tests::{
    crash::{Fault, operations::Recording, trace::Trace, tree::Tree},
    lab::{Error, Inside},
};

use super::recovery::PLACES;

/// Runs `dayone` under strace, and NetworkManager with it; nmstate is a part of the agent.
/// A faulty agent leaves the step `omitted` out.
pub(super) fn recorded(
    inside: &Inside,
    arguments: &[&str],
    omitted: Option<&str>,
    exit: i32,
) -> Result<Recording, Error> {
    let mut command = inside.command("dayone")?;
    command.args(arguments);
    command.envs(omitted.map(|step| ("DAYONE_OMIT", step)));
    let manager = inside.process("NetworkManager.service")?;
    let trace = Trace::attach(&command, &[manager]).map_err(|fault| faulty(&fault))?;
    let root = inside.root()?;
    let failed = |source| Error::File { operation: "read", path: root.clone(), source };
    let read = || Tree::read(&root, PLACES).map_err(failed);
    let start = read()?;
    let (code, calls) = trace.finish().map_err(|fault| faulty(&fault))?;
    let status = inside.read("/run/dayone/status.json")?.unwrap_or_default();
    assert_eq!(code, Some(exit), "dayone {arguments:?}: {status}");
    let recording = Recording::new(start, PLACES, &calls).map_err(|fault| faulty(&fault))?;
    // NetworkManager may go on, but not with these files.
    let is_settled = |path: &str| super::recovery::is_network(path) || path.contains("/dayone");
    let difference = read()?.only(is_settled).difference(&recording.end().only(is_settled));
    assert_eq!(difference, None, "the disk differs from the recorded operations");
    Ok(recording)
}

/// The recording's fault as the lab's.
pub(super) fn faulty(fault: &Fault) -> Error {
    Error::Output { program: "strace", problem: fault.to_string() }
}
