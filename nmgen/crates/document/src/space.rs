//! Non-breaking spaces and tabs in place of YAML's spaces: invisible, and common in text copied from
//! web pages or written in some editors. The space behind a ':' that is not there.

use super::tree::{Node, Value};
use crate::diagnostic::{Diagnostic, rules};
use crate::text::lines::Lines;
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
pub(super) fn instead_of(fault: &Diagnostic, lines: &Lines) -> Option<Diagnostic> {
    if fault.rule != SYNTAX {
        return None;
    }
    behind_colon(fault, lines).or_else(|| in_indentation(fault, lines))
}

/// The parser misses the ':' of a key only on the next line with text.
fn behind_colon(fault: &Diagnostic, lines: &Lines) -> Option<Diagnostic> {
    if !fault.message.contains("simple key expect ':'") {
        return None;
    }
    let fault_line = fault.place.line()?;
    let mut last = None;
    for (number, text) in lines.numbered() {
        let start = Position { line: number, column: 1 };
        if lines.place(Span { start, end: start }).line().is_none_or(|line| line >= fault_line) {
            break;
        }
        let item = text.trim_start_matches([' ', '-']);
        if !item.is_empty() && !item.starts_with('#') {
            last = Some((number, text, item));
        }
    }
    let (number, text, item) = last?;
    let (key, behind) = item.split_once(':')?;
    let is_word = key.starts_with(char::is_alphabetic) && key.len() < 100;
    let is_key = is_word && !key.contains([' ', '\'', '"']);
    let is_nothing = behind.is_empty() || behind.starts_with([' ', TAB]);
    let column = (text.len() - item.len() + key.chars().count() + 1) as u32;
    let at = |column| {
        let start = Position { line: number, column };
        lines.place(Span { start, end: start })
    };
    match behind.starts_with(SPACE) {
        _ if !is_key || is_nothing => None,
        true => Some(
            Diagnostic::new(
                NON_BREAKING_SPACE,
                "a non-breaking space (U+00A0) behind ':'",
                at(column + 1),
            )
            .help("YAML needs an ordinary space there; replace them all, they look the same"),
        ),
        false => Some(
            Diagnostic::new(SYNTAX, "there is no space behind ':'", at(column))
                .help(format!("write \"{key}: \", with a space")),
        ),
    }
}

fn in_indentation(fault: &Diagnostic, lines: &Lines) -> Option<Diagnostic> {
    if !lines.source().text.contains([SPACE, TAB]) {
        return None;
    }
    // The parser reports wrong indentation on this line or the next one.
    let fault_line = fault.place.line()?;
    lines.numbered().find_map(|(number, text)| {
        let mut indentation = text.chars().take_while(|c| c.is_whitespace() || *c == '-');
        let column = indentation.position(|c| matches!(c, SPACE | TAB))?;
        let is_tab = text.chars().nth(column) == Some(TAB);
        let start = Position { line: number, column: column as u32 + 1 };
        let found = if is_tab { tab(start, lines) } else { diagnostic(start, lines) };
        let at = found.place.line()?;
        // A plain scalar continues until the tab, and the parser reports its line.
        let is_near = at == fault_line || at + 1 == fault_line || is_tab && at == fault_line + 1;
        is_near.then_some(found)
    })
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
