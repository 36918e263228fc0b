//! Keys that begin with a non-breaking space, which is invisible and common in text copied from web pages, or with a '-' that lacks
//! its space.

use super::tree::{Node, Value};
use crate::diagnostic::{Diagnostic, rules};
use crate::text::lines::Lines;
use crate::text::{Position, Span};

rules! {
    pub(super) error SYNTAX = "syntax";
    pub(super) error NON_BREAKING_SPACE = "non-breaking-space";
}

pub(super) const SPACE: char = '\u{a0}';

/// Returns the fault of the first key that begins with a non-breaking space, or with a '-' and no space.
pub(super) fn in_keys(text: &str, root: &Node<'_>, lines: &Lines) -> Option<Diagnostic> {
    // Most texts have none.
    let may_have = text.contains(SPACE) || text.lines().any(|line| behind_dash(line).is_some());
    may_have.then(|| key(root, lines)).flatten()
}

fn key(node: &Node<'_>, lines: &Lines) -> Option<Diagnostic> {
    match &node.value {
        Value::Scalar { .. } => None,
        Value::Sequence(items) => items.iter().find_map(|item| key(item, lines)),
        Value::Mapping(entries) => entries.iter().find_map(|entry| {
            // After the '-' of a list too: YAML takes it as part of the key.
            if entry.key.trim_start_matches('-').starts_with(SPACE) {
                return Some(diagnostic(entry.key_span.start, lines));
            }
            let Some(behind) = behind_dash(&entry.key) else { return key(&entry.node, lines) };
            let (start, (message, help)) = (entry.key_span.start, without_space(behind));
            let place = lines.place(Span { start, end: start });
            Some(Diagnostic::new(SYNTAX, message, place).help(help))
        }),
    }
}

/// Returns what stands behind the '-' of a list's item without a space.
pub(super) fn behind_dash(line: &str) -> Option<&str> {
    let behind = line.trim_start_matches(' ').strip_prefix('-')?;
    behind.starts_with(|c: char| c.is_ascii_alphanumeric()).then_some(behind)
}

/// Returns the message and the help about a '-' and what stands behind it.
pub(super) fn without_space(behind: &str) -> (&'static str, String) {
    let word = behind.split([':', ' ']).next().unwrap_or_default();
    let help = format!("an item of a list begins with '-' and a space: write \"- {word}\"");
    ("there is no space behind '-'", help)
}

pub(super) fn diagnostic(at: Position, lines: &Lines) -> Diagnostic {
    let message = "the indentation has a non-breaking space (U+00A0)";
    Diagnostic::new(NON_BREAKING_SPACE, message, lines.place(Span { start: at, end: at }))
        .help("YAML is indented with ordinary spaces only; replace them all, they look the same")
}
