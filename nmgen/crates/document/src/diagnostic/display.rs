//! Diagnostics as text for people.

use std::collections::HashMap;
use std::fmt::Write;

use super::finding::Diagnostic;
use super::rule::Severity;
use crate::format::{counted, printable, printable_lines};
use crate::text::place::Place;

/// With or without colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// No escape sequences.
    Plain,
    /// For a terminal.
    Coloured,
}

impl Style {
    /// Colours on a terminal, unless <https://no-color.org>'s variable is set.
    pub fn of_terminal(is_terminal: bool) -> Self {
        let is_wanted =
            is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if is_wanted { Self::Coloured } else { Self::Plain }
    }
}

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const BLUE: &str = "\x1b[1;34m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// A longer line is cut around the place, so that no input floods a console.
const MAX_LINE: usize = 160;

/// More findings with the same words are shown as one: a template's mistake is in all of its hosts.
const MOST_ALIKE: usize = 1;

/// All diagnostics as text for standard error, and their counts as the last line; nothing without any.
pub fn render_report(diagnostics: &[Diagnostic], style: Style) -> String {
    if diagnostics.is_empty() {
        return String::new();
    }
    let errors = diagnostics.iter().filter(|finding| finding.is_error()).count();
    let (errors, warnings) =
        (counted(errors, "error"), counted(diagnostics.len() - errors, "warning"));
    format!("{}{errors}, {warnings}\n", render_all(diagnostics, style))
}

/// All diagnostics, a blank line after each. Many with the same rule, message
/// and help are shown once, with their number and the place of the second.
fn render_all(diagnostics: &[Diagnostic], style: Style) -> String {
    let mut alike: HashMap<Words<'_>, Vec<&Diagnostic>> = HashMap::new();
    for diagnostic in diagnostics {
        alike.entry(words(diagnostic)).or_default().push(diagnostic);
    }
    let mut text = String::new();
    for diagnostic in diagnostics {
        let group = &alike[&words(diagnostic)];
        if group.len() <= MOST_ALIKE {
            text += &render(diagnostic, style);
            text.push('\n');
        } else if std::ptr::eq(group[0], diagnostic) {
            text += &render(diagnostic, style);
            let more = group.len() - 1;
            let _ = writeln!(
                text,
                "  = and {more} more of the same, the next in {}\n",
                short_place(group[1])
            );
        }
    }
    text
}

type Words<'d> = (&'static str, &'d str, Option<&'d str>);

fn words(diagnostic: &Diagnostic) -> Words<'_> {
    (diagnostic.rule.name, &diagnostic.message, diagnostic.help.as_deref())
}

/// Returns `FILE:LINE:COLUMN` of a finding.
pub fn short_place(diagnostic: &Diagnostic) -> String {
    let file = printable(&diagnostic.place.file);
    match &diagnostic.place.position {
        Some(at) => format!("{file}:{}:{}", at.start.line, at.start.column),
        None => file,
    }
}

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
        let (line, column) = shown(&excerpt.line, excerpt.marked.start as usize);
        let blank: String =
            line.chars().take(column).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let width = excerpt.marked.len().min(line.chars().count().saturating_sub(column)).max(1);
        let carets = "^".repeat(width);
        // Tabs stay, so that the carets below align.
        let line = printable_lines(&line);
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
