//! Lines of a shell around a document that was copied out of its command: `cat <<EOF`, and `EOF`.

use super::space::SYNTAX;
use crate::diagnostic::Diagnostic;
use crate::text::lines::Lines;
use crate::text::{Position, Span};

/// Words that end a here-document by custom.
const ENDS: &[&str] = &["EOF", "EOT", "END"];

/// Returns the diagnostic to show instead of the syntax error that such a line causes.
pub(super) fn instead_of(lines: &Lines) -> Option<Diagnostic> {
    let is_of_shell = |line: &str| begins(line) || ENDS.contains(&line.trim_end());
    let (number, line) = lines.numbered().find(|(_, line)| is_of_shell(line))?;
    let start = Position { line: number, column: 1 };
    let end = Position { line: number, column: line.trim_end().chars().count() as u32 + 1 };
    let message = "this line is a shell's: it begins or ends a here-document";
    let place = lines.place(Span { start, end });
    Some(Diagnostic::new(SYNTAX, message, place).help("keep only the lines between its two ends"))
}

/// Returns whether a line has the beginning of a here-document: `<<` and a word. YAML's merge key is `<<:`.
fn begins(line: &str) -> bool {
    let mut behind = line.split("<<").skip(1);
    let is_word = |rest: &str| {
        rest.trim_start_matches(['-', ' ', '\'', '"'])
            .starts_with(|c: char| c.is_ascii_alphabetic())
    };
    !line.trim_start().starts_with('#') && behind.any(is_word)
}
