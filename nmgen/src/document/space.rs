//! Non-breaking spaces and tabs in place of YAML's spaces: invisible, and common in text copied from
//! web pages or written in some editors.

use super::tree::{Node, Value};
use crate::diagnostic::{Diagnostic, rules};
use crate::text::lines::Lines;
use crate::text::place::Place;
use crate::text::{Position, Span};

rules! {
    pub(super) error SYNTAX = "syntax";
    error NON_BREAKING_SPACE = "non-breaking-space";
}

const SPACE: char = '\u{a0}';
const TAB: char = '\t';

/// The first key that begins with a non-breaking space.
pub(super) fn in_keys(text: &str, root: &Node<'_>, lines: &Lines) -> Option<Diagnostic> {
    // Most texts have none.
    text.contains(SPACE).then(|| key(root)).flatten().map(|span| diagnostic(span.start, lines))
}

fn key(node: &Node<'_>) -> Option<Span> {
    match &node.value {
        Value::Scalar { .. } => None,
        Value::Sequence(items) => items.iter().find_map(key),
        Value::Mapping(entries) => entries.iter().find_map(|entry| {
            // After the '-' of a list too: YAML takes it as part of the key.
            let is_indented = entry.key.trim_start_matches('-').starts_with(SPACE);
            if is_indented { Some(entry.key_span) } else { key(&entry.node) }
        }),
    }
}

/// The diagnostic to show instead of a syntax error that such a space causes.
pub(super) fn instead_of(text: &str, fault: &Diagnostic, lines: &Lines) -> Option<Diagnostic> {
    if fault.rule != SYNTAX || !text.contains([SPACE, TAB]) {
        return None;
    }
    // The parser reports wrong indentation on this line or the next one.
    let fault_line = line(&fault.place)?;
    (1..).zip(text.lines()).find_map(|(number, text)| {
        let mut indentation = text.chars().take_while(|c| c.is_whitespace() || *c == '-');
        let column = indentation.position(|c| matches!(c, SPACE | TAB))?;
        let is_tab = text.chars().nth(column) == Some(TAB);
        let start = Position { line: number, column: column as u32 + 1 };
        let found = if is_tab { tab(start, lines) } else { diagnostic(start, lines) };
        let at = line(&found.place)?;
        // A plain scalar continues until the tab, and the parser reports its line.
        let is_near = at == fault_line || at + 1 == fault_line || is_tab && at == fault_line + 1;
        is_near.then_some(found)
    })
}

fn line(place: &Place) -> Option<u32> {
    place.decoded.as_ref().or(place.position.as_ref()).map(|excerpt| excerpt.start.line)
}

fn tab(at: Position, lines: &Lines) -> Diagnostic {
    let message = "the indentation has a tab";
    Diagnostic::new(SYNTAX, message, lines.place(Span { start: at, end: at }))
        .help("YAML is indented with spaces only")
}

fn diagnostic(at: Position, lines: &Lines) -> Diagnostic {
    let message = "the indentation has a non-breaking space (U+00A0)";
    Diagnostic::new(NON_BREAKING_SPACE, message, lines.place(Span { start: at, end: at }))
        .help("YAML is indented with ordinary spaces only; replace them all, they look the same")
}
