//! A bracket that is never closed: the parser goes on in the lines below it.

use super::fault::{SyntaxFault, indentation};
use crate::diagnostic::Diagnostic;

pub(super) fn hint(fault: &SyntaxFault<'_>) -> Option<Diagnostic> {
    let opening = open_before(fault)?;
    // In JSON, and in a list of several lines, brackets are open on purpose.
    let text = fault.rows.get(opening.row)?;
    let is_block = |text: &str| text.trim_start().starts_with("- ") || text.contains(':');
    let is_at_end = fault.row >= fault.rows.len() || fault.text().is_empty();
    let is_next = is_block(fault.text()) && indentation(fault.text()) <= indentation(text);
    if opening.row == fault.row || !(is_next || is_at_end) || opening.is_first_of_text {
        return None;
    }
    let close = if opening.bracket == '[' { ']' } else { '}' };
    let message = format!("this '{}' is never closed", opening.bracket);
    let found = fault.told(opening.row, opening.column, 1, &message);
    Some(found.help(format!("write '{close}' behind the last value of it")))
}

struct Opening {
    bracket: char,
    row: usize,
    column: usize,
    is_first_of_text: bool,
}

/// Returns the innermost bracket that is open before the fault.
fn open_before(fault: &SyntaxFault<'_>) -> Option<Opening> {
    let mut open: Vec<Opening> = Vec::new();
    for (row, text) in fault.rows.iter().take(fault.row).enumerate() {
        let (mut quote, mut before) = (None, ' ');
        for (column, character) in text.chars().enumerate() {
            // A quote within a word is an apostrophe.
            let begins = matches!(before, ' ' | '[' | '{' | ',' | ':');
            match (quote, character) {
                (None, '\'' | '"') if begins => quote = Some(character),
                (Some(mark), _) if mark == character => quote = None,
                (None, '#') if before == ' ' => break,
                (None, '[' | '{') if begins || !open.is_empty() => {
                    let is_first_of_text = row == 0 && column == 0;
                    open.push(Opening { bracket: character, row, column, is_first_of_text });
                }
                (None, ']' | '}') => drop(open.pop()),
                _ => {}
            }
            before = character;
        }
    }
    open.pop()
}
