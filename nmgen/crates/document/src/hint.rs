//! Words for a syntax error as whoever made it knows it: the parser reports many a mistake on the next line, or as another one.

mod bracket;
pub(super) mod conflict;
mod fault;
mod foreign;
mod indentation;
mod line;
mod quote;

use self::fault::SyntaxFault;
use super::space::SYNTAX;
use super::template;
use super::tree::Node;
use crate::diagnostic::Diagnostic;
use crate::text::lines::Lines;

/// Returns the diagnostic to show instead of keys that are there twice, where they are items of a list.
pub(super) fn instead_of_duplicates(root: &Node<'_>, lines: &Lines) -> Option<Diagnostic> {
    line::dashed_key(root, lines)
}

/// What else may be wrong with a text beside its syntax.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Suspicion {
    /// It is no document at all.
    Text,
    /// It begins with the command that it was copied from.
    Command,
    Nothing,
}

/// Returns the diagnostic to show instead of the parser's.
pub(super) fn instead_of(
    fault: &Diagnostic,
    suspicion: Suspicion,
    lines: &Lines,
) -> Option<Diagnostic> {
    if let Some(found) = conflict::instead_of(lines) {
        return Some(found);
    }
    let is_text = suspicion == Suspicion::Text;
    if let Some(found) = is_text.then(|| template::instead_of(lines)).flatten() {
        return Some(found);
    }
    let is_syntax = fault.rule == SYNTAX;
    let fault = SyntaxFault::of(fault, lines)?;
    let foreign = match suspicion {
        Suspicion::Text => foreign::line(&fault),
        Suspicion::Command => foreign::command(&fault),
        Suspicion::Nothing => None,
    };
    let hints =
        [line::dash, line::colon, quote::hint, bracket::hint, line::several, indentation::hint];
    foreign.or_else(|| hints.iter().filter(|_| is_syntax).find_map(|hint| hint(&fault)))
}
