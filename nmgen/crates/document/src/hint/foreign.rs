//! Lines that are no YAML: of a shell's command, of a page, of a diff, of another language.

use super::fault::SyntaxFault;
use crate::diagnostic::Diagnostic;

/// Words that end a here-document by custom.
const ENDS: &[&str] = &["EOF", "EOT", "END"];

const OF_COMMAND: (&str, &str) = (
    "this line is a shell's: it begins or ends a here-document",
    "keep only the lines between its two ends",
);
const OF_PAGE: (&str, &str) = (
    "this line is Markdown's: it begins or ends a block of code",
    "keep only the lines between its two ends",
);
const OF_DIFF: (&str, &str) =
    ("this line is a diff's", "remove the '+' in front of each line that is copied from it");
const END: (&str, &str) = (
    "\"...\" ends the document",
    "remove the line; what was left out of a text is a comment, with '#'",
);
const COMMENT: (&str, &str) = ("YAML has no comments of this form", "a comment begins with '#'");

/// Returns the diagnostic about the first such line.
pub(super) fn line(fault: &SyntaxFault<'_>) -> Option<Diagnostic> {
    let mut rows = fault.rows.iter().enumerate();
    let foreign = rows.find_map(|(row, text)| Some((row, of_line(text)?)));
    let (row, (message, help)) = foreign.or_else(|| comment(fault))?;
    Some(about(fault, row, message, help))
}

/// Returns the diagnostic about the command in front of a document, or about dots that end it.
pub(super) fn command(fault: &SyntaxFault<'_>) -> Option<Diagnostic> {
    let mut rows = fault.rows.iter().take(fault.row).enumerate();
    let foreign = rows.find_map(|(row, text)| match () {
        () if begins(text) => Some((row, OF_COMMAND)),
        () if text.trim_end() == "..." => Some((row, END)),
        () => None,
    });
    let (row, (message, help)) = foreign?;
    Some(about(fault, row, message, help))
}

fn about(fault: &SyntaxFault<'_>, row: usize, message: &str, help: &str) -> Diagnostic {
    let text = fault.rows.get(row).copied().unwrap_or_default().trim_end();
    fault.told(row, 0, text.chars().count(), message).help(help)
}

fn of_line(text: &str) -> Option<(&'static str, &'static str)> {
    let behind_plus = text.strip_prefix('+');
    let is_added = |rest: &str| rest.starts_with([' ', '+', '-']) || rest.contains(": ");
    match () {
        () if begins(text) || ENDS.contains(&text.trim_end()) => Some(OF_COMMAND),
        () if text.trim_start().starts_with("```") => Some(OF_PAGE),
        () if text.starts_with("@@ ") || behind_plus.is_some_and(is_added) => Some(OF_DIFF),
        () => None,
    }
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

/// A comment of C or of ini files, at the fault or above it: further away it may be text.
fn comment(fault: &SyntaxFault<'_>) -> Option<(usize, (&'static str, &'static str))> {
    let near = [Some((fault.row, fault.text())), fault.above(fault.row)];
    let is_comment = |text: &str| {
        let text = text.trim_start();
        text.starts_with("//") || text.starts_with("/*") || text.starts_with(';')
    };
    let (row, _) = near.into_iter().flatten().find(|(_, text)| is_comment(text))?;
    Some((row, COMMENT))
}
