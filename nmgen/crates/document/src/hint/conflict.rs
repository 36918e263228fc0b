//! Markers that git leaves in a file where two changes contradict each other.

use crate::diagnostic::{Diagnostic, rules};
use crate::text::lines::Lines;
use crate::text::{Position, Span};

rules! {
    error CONFLICT_MARKER = "conflict-marker";
}

/// The diagnostic to show instead of the syntax error that a marker causes.
pub(super) fn instead_of(lines: &Lines) -> Option<Diagnostic> {
    let is_marker = |line: &str| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
    let (number, line) = lines.numbered().find(|(_, line)| is_marker(line))?;
    let start = Position { line: number, column: 1 };
    let end = Position { line: number, column: line.trim_end().chars().count() as u32 + 1 };
    let message = "git left its marker of a conflict here";
    let help = "keep one of the two sides, and remove the lines of <, = and >";
    let place = lines.place(Span { start, end });
    Some(Diagnostic::new(CONFLICT_MARKER, message, place).help(help))
}
