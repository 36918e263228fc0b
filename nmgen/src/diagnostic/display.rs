//! Diagnostics as text for people.

use std::fmt::Write;

use super::finding::Diagnostic;
use super::rule::Severity;
use crate::format;
use crate::text::place::Place;

/// With or without colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// No escape sequences.
    Plain,
    /// For a terminal.
    Coloured,
}

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const BLUE: &str = "\x1b[1;34m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// A longer line is cut around the place, so that no input floods a console.
const MAX_LINE: usize = 160;

/// One diagnostic as text for standard error, ending in a line break.
pub fn render(diagnostic: &Diagnostic, style: Style) -> String {
    let colour = |code: &'static str| if style == Style::Coloured { code } else { "" };
    let (bold, blue, reset) = (colour(BOLD), colour(BLUE), colour(RESET));
    let severity = match diagnostic.rule.severity {
        Severity::Error => colour(RED),
        Severity::Warning => colour(YELLOW),
    };
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{severity}{}[{}]{reset}{bold}: {}{reset}",
        diagnostic.rule.severity,
        diagnostic.rule.name,
        printable(&diagnostic.message)
    );
    let place = &diagnostic.place;
    let file = printable(&place.file);
    let mut margin = 1;
    if let Some(position) = &place.position {
        let excerpt = place.decoded.as_ref().unwrap_or(position);
        let number = excerpt.start.line.to_string();
        margin = number.len();
        let space = " ".repeat(margin);
        let (line, column) =
            shown(&excerpt.line, (excerpt.start.column - 1 - excerpt.skipped) as usize);
        let blank: String =
            line.chars().take(column).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let width =
            (excerpt.width as usize).min(line.chars().count().saturating_sub(column)).max(1);
        let carets = "^".repeat(width);
        let line = printable(&line);
        let _ = writeln!(
            text,
            "{space}{blue}-->{reset} {file}:{}:{}{}",
            position.start.line,
            position.start.column,
            decoded(place)
        );
        let _ = writeln!(text, "{space} {blue}|{reset}");
        let _ = writeln!(text, "{blue}{number} |{reset} {line}");
        let _ = writeln!(text, "{space} {blue}|{reset} {blank}{severity}{carets}{reset}");
    } else {
        let _ = writeln!(text, " {blue}-->{reset} {file}");
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(text, "{} {blue}={reset} help: {}", " ".repeat(margin), printable(help));
    }
    text
}

/// The place within a decoded value, if any.
fn decoded(place: &Place) -> String {
    let start = place.decoded.as_ref().map(|excerpt| excerpt.start);
    start.map_or(String::new(), |at| format!(", decoded: {}:{}", at.line, at.column))
}

/// The part of the line around the column, and the column in that part; columns from 0.
fn shown(line: &str, column: usize) -> (String, usize) {
    let characters: Vec<char> = line.chars().collect();
    if characters.len() <= MAX_LINE {
        return (line.to_owned(), column);
    }
    let from = column.saturating_sub(MAX_LINE / 2).min(characters.len().saturating_sub(MAX_LINE));
    let to = (from + MAX_LINE).min(characters.len());
    (characters[from..to].iter().collect(), column - from)
}

/// Tabs stay, so that the carets below align.
fn printable(text: &str) -> String {
    text.split('\t').map(format::printable).collect::<Vec<_>>().join("\t")
}
