//! A text that ends at a quote which is meant to be in it.

use super::fault::SyntaxFault;
use crate::diagnostic::Diagnostic;

pub(super) fn hint(fault: &SyntaxFault<'_>) -> Option<Diagnostic> {
    if !fault.words.contains("invalid trailing content") {
        return None;
    }
    let before: String = fault.text().chars().take(fault.column).collect();
    let help = match before.trim_end().chars().next_back()? {
        '\'' => "within '…' an apostrophe is written twice (''); within \"…\" as it is",
        '"' => "a quote is missing before it, or within \"…\" it lacks its \\",
        _ => return None,
    };
    let message = "the text ends at the quote before this";
    Some(fault.told(fault.row, fault.column, 0, message).help(help))
}
