//! Non-breaking spaces and tabs in an indentation.

use super::fault::{SyntaxFault, TAB};
use crate::diagnostic::Diagnostic;
use crate::space::{self, SPACE};
use crate::text::Position;

/// The parser reports wrong indentation on its line or the next one.
pub(super) fn hint(fault: &SyntaxFault<'_>) -> Option<Diagnostic> {
    fault.rows.iter().enumerate().find_map(|(row, text)| {
        let mut indentation = text.chars().take_while(|c| c.is_whitespace() || *c == '-');
        let column = indentation.position(|c| matches!(c, SPACE | TAB))?;
        let is_tab = text.chars().nth(column) == Some(TAB);
        // A plain scalar continues until the tab, and the parser reports its line.
        let is_near = row == fault.row || row + 1 == fault.row || is_tab && row == fault.row + 1;
        let at = Position { line: row as u32 + 1, column: column as u32 + 1 };
        let found = match is_tab {
            true => fault
                .told(row, column, 0, "the indentation has a tab")
                .help("YAML is indented with spaces only"),
            false => space::diagnostic(at, fault.lines),
        };
        is_near.then_some(found)
    })
}
