//! Keys that begin with a non-breaking space, which is invisible and common in text copied from web pages.

use super::tree::{Node, Value};
use crate::diagnostic::{Diagnostic, rules};
use crate::text::lines::Lines;
use crate::text::{Position, Span};

rules! {
    pub(super) error SYNTAX = "syntax";
    pub(super) error NON_BREAKING_SPACE = "non-breaking-space";
}

pub(super) const SPACE: char = '\u{a0}';

/// Returns the fault of the first key that begins with a non-breaking space.
pub(super) fn in_keys(text: &str, root: &Node<'_>, lines: &Lines) -> Option<Diagnostic> {
    // Most texts have none.
    text.contains(SPACE).then(|| key(root)).flatten().map(|at| diagnostic(at, lines))
}

fn key(node: &Node<'_>) -> Option<Position> {
    match &node.value {
        Value::Scalar { .. } => None,
        Value::Sequence(items) => items.iter().find_map(key),
        Value::Mapping(entries) => entries.iter().find_map(|entry| {
            // After the '-' of a list too: YAML takes it as part of the key.
            let is_indented = entry.key.trim_start_matches('-').starts_with(SPACE);
            if is_indented { Some(entry.key_span.start) } else { key(&entry.node) }
        }),
    }
}

pub(super) fn diagnostic(at: Position, lines: &Lines) -> Diagnostic {
    let message = "the indentation has a non-breaking space (U+00A0)";
    Diagnostic::new(NON_BREAKING_SPACE, message, lines.place(Span { start: at, end: at }))
        .help("YAML is indented with ordinary spaces only; replace them all, they look the same")
}
