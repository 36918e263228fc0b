//! Mistakes within a line: the parser reports most of them on the next one.

use super::fault::{SyntaxFault, TAB, indentation};
use crate::diagnostic::Diagnostic;
use crate::space::{NON_BREAKING_SPACE, SPACE, SYNTAX};
use crate::text::Span;
use crate::text::lines::Lines;
use crate::tree::{Node, Value};

/// The full-width colon of Chinese and Japanese keyboards.
const WIDE_COLON: char = '\u{ff1a}';

/// The parser takes `-name` for a word, and misses the ':' of a key, or the list.
pub(super) fn dash(fault: &SyntaxFault<'_>) -> Option<Diagnostic> {
    let near = [Some((fault.row, fault.text())), fault.above(fault.row)];
    let (row, behind, text) =
        near.into_iter().flatten().find_map(|(row, text)| Some((row, behind_dash(text)?, text)))?;
    let (message, help) = without_space(behind);
    Some(fault.told(row, indentation(text), 0, message).help(help))
}

/// Returns what stands behind the '-' of a list's item without a space.
fn behind_dash(line: &str) -> Option<&str> {
    let behind = line.trim_start_matches(' ').strip_prefix('-')?;
    behind.starts_with(|c: char| c.is_ascii_alphanumeric()).then_some(behind)
}

/// Returns the message and the help about a '-' and what stands behind it.
fn without_space(behind: &str) -> (&'static str, String) {
    let word = behind.split([':', ' ']).next().unwrap_or_default();
    let help = format!("an item of a list begins with '-' and a space: write \"- {word}\"");
    ("there is no space behind '-'", help)
}

/// Returns the diagnostic about the first key that begins with '-', of a document that has the same one twice.
pub(super) fn dashed_key(node: &Node<'_>, lines: &Lines) -> Option<Diagnostic> {
    match &node.value {
        Value::Scalar { .. } => None,
        Value::Sequence(items) => items.iter().find_map(|item| dashed_key(item, lines)),
        Value::Mapping(entries) => entries.iter().find_map(|entry| {
            let Some(behind) = behind_dash(&entry.key) else {
                return dashed_key(&entry.node, lines);
            };
            let (start, (message, help)) = (entry.key_span.start, without_space(behind));
            let place = lines.place(Span { start, end: start });
            Some(Diagnostic::new(SYNTAX, message, place).help(help))
        }),
    }
}

/// The ':' of a key, or the space behind it, is not there.
pub(super) fn colon(fault: &SyntaxFault<'_>) -> Option<Diagnostic> {
    let is_about_key = fault.words.contains("simple key expect ':'");
    // A line without a ':' is a value that goes on in the next one, for the parser.
    let is_about_value = fault.words.contains("mapping values are not allowed");
    // Of a word with a comment behind it.
    let is_about_word = fault.words.contains("comment intercepting the multiline text");
    let own = is_about_word.then(|| (fault.row, fault.text()));
    let above = || fault.above(fault.row).filter(|_| is_about_key || is_about_value);
    let (row, text) = own.or_else(above)?;
    let item = text.trim_start_matches([' ', '-']);
    let before = text.chars().count() - item.chars().count();
    if let Some(at) = item.chars().position(|c| c == WIDE_COLON) {
        let message = "a full-width colon (U+FF1A) in place of ':'";
        return Some(fault.told(row, before + at, 1, message).help("write ':' and a space"));
    }
    if !item.contains(':') && !text.trim_start().starts_with('-') {
        let word = item.split(" #").next().unwrap_or(item).trim_end();
        let message = "this line has no ':', so it is no key";
        let help = "write the ':' behind the key, or '#' before a comment, or remove the line";
        return Some(fault.told(row, before, word.chars().count(), message).help(help));
    }
    if is_about_value {
        return None;
    }
    let (key, behind) = item.split_once(':')?;
    let is_word = key.starts_with(char::is_alphabetic) && key.len() < 100;
    let is_key = is_word && !key.contains([' ', '\'', '"']);
    let is_nothing = behind.is_empty() || behind.starts_with([' ', TAB]);
    let at = before + key.chars().count();
    match behind.starts_with(SPACE) {
        _ if !is_key || is_nothing => None,
        true => {
            let found = fault.told(row, at + 1, 0, "a non-breaking space (U+00A0) behind ':'");
            let help = "YAML needs an ordinary space there; replace them all, they look the same";
            Some(Diagnostic { rule: NON_BREAKING_SPACE, ..found }.help(help))
        }
        false => Some(
            fault
                .told(row, at, 0, "there is no space behind ':'")
                .help(format!("write \"{key}: \", with a space")),
        ),
    }
}

/// Several keys in a line, or a ':' behind the value.
pub(super) fn several(fault: &SyntaxFault<'_>) -> Option<Diagnostic> {
    let text = fault.text().trim_end();
    if !fault.words.contains("mapping values are not allowed") {
        return None;
    }
    let length = text.chars().count();
    if text.ends_with(':') && fault.column + 1 == length && text.contains(": ") {
        let message = "there is a second ':' in this line";
        let help = "remove it, or put the value into quotes";
        return Some(fault.told(fault.row, fault.column, 1, message).help(help));
    }
    let at = text.chars().position(|c| c == ';').filter(|at| *at < fault.column)?;
    let message = "';' separates no keys";
    let help = "write each key in a line of its own, or {name: eno1, type: ethernet} with commas";
    Some(fault.told(fault.row, at, 1, message).help(help))
}
