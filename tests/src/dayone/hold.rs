//! The agent held after a phase, so that a case acts at that moment, whatever the speed of the host.

use super::{ATTEMPT, ENTRIES, Mark, start, with_program};
use crate::{
    lab::{Entry, Inside, Node, Result},
    program,
};

/// The environment of the agent that is started next.
const ENVIRONMENT: &str = "/etc/dayone/hold";
/// A held agent goes on when this file is there.
const RELEASED: &str = "/run/lab-released";

/// Adds an agent that can be held after a phase, and kubelet's stand-in.
#[must_use]
pub fn with_holdable_agent(node: Node) -> Node {
    with_program(node, program::dayone_fault_injection()).file(
        "/etc/systemd/system/dayone.service.d/hold.conf",
        &format!("[Service]\nEnvironmentFile=-{ENVIRONMENT}\n"),
        0o644,
    )
}

/// The environment of an agent that waits for [`release`] after `phase`.
fn held_after(phase: &str) -> String {
    format!("DAYONE_HOLD_AT={phase}\nDAYONE_HOLD_UNTIL={RELEASED}\n")
}

/// Has the agent of a node's boots do the work of `phase` and wait for [`release`]: [`wait_held`].
#[must_use]
pub fn held_at_boot(node: Node, phase: &str) -> Node {
    node.file(ENVIRONMENT, &held_after(phase), 0o644)
}

/// Returns when the agent of this boot waits.
///
/// # Errors
/// The lab's, and if it does not come as far.
pub fn wait_held(inside: &Inside) -> Result<()> {
    let is_held = |entry: &Entry| entry.field("DAYONE_HELD").is_some();
    inside.wait_journal(&ENTRIES, ATTEMPT, is_held)?;
    Ok(())
}

/// Starts the agent, and returns when it has done the work of `phase` and waits for [`release`].
///
/// # Errors
/// The lab's, and if it does not come as far.
pub fn hold(inside: &Inside, phase: &str) -> Result<Mark> {
    hold_with(inside, &held_after(phase))
}

/// Starts the agent with this environment, which no later start has, and returns when it waits.
///
/// # Errors
/// The lab's, and if it does not come as far.
pub fn hold_with(inside: &Inside, environment: &str) -> Result<Mark> {
    inside.sh(&format!("rm -f {RELEASED}"))?;
    inside.write(ENVIRONMENT, environment)?;
    let mark = start(inside)?;
    inside.wait_journal(&mark.entries(), ATTEMPT, |entry| entry.field("DAYONE_HELD").is_some())?;
    inside.sh(&format!("rm {ENVIRONMENT}"))?;
    Ok(mark)
}

/// Has the held agent go on.
///
/// # Errors
/// The lab's.
pub fn release(inside: &Inside) -> Result<()> {
    inside.write(RELEASED, "")
}
