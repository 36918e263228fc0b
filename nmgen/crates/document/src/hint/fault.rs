//! A fault of the parser's, and the rows of text around it.

use crate::diagnostic::Diagnostic;
use crate::space::SYNTAX;
use crate::text::lines::Lines;
use crate::text::{Position, Span};

pub(super) const TAB: char = '\t';

/// A fault that the parser found, and the text around it.
pub(super) struct SyntaxFault<'f> {
    pub(super) words: &'f str,
    pub(super) lines: &'f Lines,
    pub(super) rows: Vec<&'f str>,
    /// The index of its row, which may be behind the last one.
    pub(super) row: usize,
    /// The number of characters before it in its row.
    pub(super) column: usize,
}

impl<'f> SyntaxFault<'f> {
    pub(super) fn of(fault: &'f Diagnostic, lines: &'f Lines) -> Option<Self> {
        let line_of = |line| {
            let start = Position { line, column: 1 };
            let place = lines.place(Span { start, end: start });
            Some(place.decoded.or(place.position)?.start)
        };
        // Positions are those of the file; the text may be a part of it.
        let at = fault.place.decoded.as_ref().or(fault.place.position.as_ref())?.start;
        let row = at.line.checked_sub(line_of(1)?.line)?;
        let column = at.column.saturating_sub(line_of(row + 1)?.column) as usize;
        let rows = lines.numbered().map(|(_, row)| row).collect();
        Some(Self { words: &fault.message, lines, rows, row: row as usize, column })
    }

    /// Returns its row; empty behind the end.
    pub(super) fn text(&self) -> &'f str {
        self.rows.get(self.row).copied().unwrap_or_default()
    }

    /// Returns the last row with text above a row: its index and its text.
    pub(super) fn above(&self, row: usize) -> Option<(usize, &'f str)> {
        let rows = self.rows.iter().take(row).enumerate();
        let has_text = |row: &str| {
            let item = row.trim_start_matches([' ', '-']);
            !item.is_empty() && !item.starts_with('#')
        };
        rows.rev().map(|(index, row)| (index, *row)).find(|(_, row)| has_text(row))
    }

    /// Returns the diagnostic about these characters of a row.
    pub(super) fn told(
        &self,
        row: usize,
        column: usize,
        length: usize,
        message: &str,
    ) -> Diagnostic {
        let start = Position { line: row as u32 + 1, column: column as u32 + 1 };
        let end = Position { column: start.column + length as u32, ..start };
        Diagnostic::new(SYNTAX, message, self.lines.place(Span { start, end }))
    }
}

/// Returns the number of characters that indent a row.
pub(super) fn indentation(row: &str) -> usize {
    row.len() - row.trim_start_matches(' ').len()
}
