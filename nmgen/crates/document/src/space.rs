//! Non-breaking spaces and tabs in place of YAML's spaces: invisible, and common in text copied from
//! web pages or written in some editors. The space behind a ':' or a '-' that is not there, and the ':' itself.

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

/// Returns the fault of the first key that begins with a non-breaking space, or with a '-' and no space.
pub(super) fn in_keys(text: &str, root: &Node<'_>, lines: &Lines) -> Option<Diagnostic> {
    // Most texts have none.
    let may_have = text.contains(SPACE) || text.lines().any(|line| dashed(line).is_some());
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
            let behind =
                dashed(&entry.key).map(|behind| no_space(entry.key_span.start, behind, lines));
            behind.or_else(|| key(&entry.node, lines))
        }),
    }
}

/// Returns what stands behind the '-' of a list's item without a space.
fn dashed(line: &str) -> Option<&str> {
    let behind = line.trim_start_matches(' ').strip_prefix('-')?;
    behind.starts_with(|c: char| c.is_ascii_alphanumeric()).then_some(behind)
}

fn no_space(at: Position, behind: &str, lines: &Lines) -> Diagnostic {
    let word = behind.split([':', ' ']).next().unwrap_or_default();
    let message = "there is no space behind '-'";
    Diagnostic::new(SYNTAX, message, lines.place(Span { start: at, end: at }))
        .help(format!("an item of a list begins with '-' and a space: write \"- {word}\""))
}

/// The diagnostic to show instead of a syntax error that such a space causes.
pub(super) fn instead_of(fault: &Diagnostic, lines: &Lines) -> Option<Diagnostic> {
    if fault.rule != SYNTAX {
        return None;
    }
    let line = fault.place.line()?;
    behind_dash(line, lines)
        .or_else(|| colon(fault, lines))
        .or_else(|| in_indentation(fault, lines))
}

/// A number of a line of the text, the line, and what stands in it behind indentation and '-'.
type Numbered<'t> = (u32, &'t str, &'t str);

/// Returns the last line with text above a line of the file.
fn last_above(fault_line: u32, lines: &Lines) -> Option<Numbered<'_>> {
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
    last
}

/// The parser takes `-name` for a word, and misses the ':' of a key or the list there or on the next line with text.
fn behind_dash(fault_line: u32, lines: &Lines) -> Option<Diagnostic> {
    let above = last_above(fault_line, lines).map(|(number, text, _)| (number, text));
    let at = last_above(fault_line + 1, lines).map(|(number, text, _)| (number, text));
    let (number, text) =
        [at, above].into_iter().flatten().find(|(_, text)| dashed(text).is_some())?;
    let column = text.find('-')? as u32 + 1;
    Some(no_space(Position { line: number, column }, dashed(text)?, lines))
}

/// The parser misses the ':' of a key, or the space behind it, only on the next line with text.
fn colon(fault: &Diagnostic, lines: &Lines) -> Option<Diagnostic> {
    if !fault.message.contains("simple key expect ':'") {
        return None;
    }
    let (number, text, item) = last_above(fault.place.line()?, lines)?;
    if !item.contains(':') && !text.trim_start().starts_with('-') {
        let word = item.split(" #").next().unwrap_or(item).trim_end();
        let before = text.chars().count() - item.chars().count();
        let start = Position { line: number, column: before as u32 + 1 };
        let end = Position { column: start.column + word.chars().count() as u32, ..start };
        let place = lines.place(Span { start, end });
        return Some(
            Diagnostic::new(SYNTAX, "this line has no ':', so it is no key", place)
                .help("write the ':' behind the key, or remove the line"),
        );
    }
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
