//! Commands of a guide for the node, followed as they stand there.

use super::ATTEMPT;
use crate::{
    guide::{blocks, section},
    lab::{Case, Inside, Result},
};

/// A command, and the lines of its output; `…` stands for any.
#[derive(Debug)]
pub struct Shown {
    /// The command.
    pub command: String,
    /// The output; empty if the guide shows none.
    pub output: Vec<String>,
}

/// The commands of a section, in order.
pub fn commands(guide: &str, heading: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    for block in blocks(section(guide, heading)).filter(|block| block.is_of_node()) {
        for line in block.text.lines() {
            // The output of `dayone diff` is a comment.
            match (line.strip_prefix("# "), shown.last_mut()) {
                (Some(command), _) if command != "no difference" => {
                    let command = command.to_owned();
                    shown.push(Shown { command, output: Vec::new() });
                }
                (_, Some(last)) => last.output.push(line.to_owned()),
                (_, None) => {}
            }
        }
    }
    shown
}

/// Whether the output has the lines in this order, with any others where the guide has `…`.
fn matches(output: &str, expected: &[String]) -> bool {
    let mut lines = output.lines();
    let mut any = false;
    for line in expected {
        if line == "…" {
            any = true;
        } else if any {
            any = false;
            if !lines.any(|it| it == line) {
                return false;
            }
        } else if lines.next() != Some(line) {
            return false;
        }
    }
    true
}

/// Runs a section's commands; `dayone status` exits with `status`, the others with 0. `booted` waits for the end of each boot.
///
/// # Panics
/// If a command ends or prints otherwise than the guide says, or the section has none.
pub fn follow(
    case: &mut Case<'_>,
    guide: &str,
    heading: &str,
    status: i32,
    booted: impl Fn(&Case<'_>) -> Result<()>,
) -> Result<()> {
    for shown in some(guide, heading) {
        if shown.command == "systemctl reboot" {
            case.reboot()?;
            booted(case)?;
            continue;
        }
        ran(&case.inside()?, &shown, status)?;
    }
    Ok(())
}

/// Runs a section's commands, of which none is a reboot, as [`follow`] does.
///
/// # Panics
/// If a command ends or prints otherwise than the guide says, or the section has none.
pub fn follow_inside(inside: &Inside, guide: &str, heading: &str, status: i32) -> Result<()> {
    some(guide, heading).iter().try_for_each(|shown| ran(inside, shown, status))
}

fn some(guide: &str, heading: &str) -> Vec<Shown> {
    let commands = commands(guide, heading);
    assert!(!commands.is_empty(), "the guide has no commands in {heading:?}");
    commands
}

fn ran(inside: &Inside, Shown { command, output }: &Shown, status: i32) -> Result<()> {
    let done = inside.run_within(&["sh", "-c", command], ATTEMPT)?;
    let expected = if command == "dayone status" { status } else { 0 };
    assert_eq!(done.status.code(), Some(expected), "{command}: {done}");
    assert!(output.is_empty() || matches(&done.stdout, output), "{command}: {done}");
    Ok(())
}
