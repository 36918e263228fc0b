//! Finds the line that a position stands on.

use super::Span;
use crate::diagnostic::{Excerpt, Place};
use crate::source::Source;

/// Where each line of a source begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lines<'t> {
    source: &'t Source,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(source: &'t Source) -> Self {
        let bytes = source.text.as_bytes();
        let mut starts = vec![0];
        for (index, byte) in bytes.iter().enumerate() {
            // YAML 1.2, 5.4: a lone carriage return is a line break too.
            let is_break =
                *byte == b'\n' || (*byte == b'\r' && bytes.get(index + 1) != Some(&b'\n'));
            if is_break {
                starts.push(index + 1);
            }
        }
        Self { source, starts }
    }

    pub(crate) fn source(&self) -> &'t Source {
        self.source
    }

    /// The place of `span`; the part on its first line is underlined.
    pub(crate) fn place(&self, span: Span) -> Place {
        let line = self.line(span.start.line);
        let length = line.chars().count() as u32;
        let end = if span.end.line == span.start.line { span.end.column } else { length + 1 };
        let width = end.saturating_sub(span.start.column).max(1);
        Place {
            file: self.source.name.clone(),
            position: Some(Excerpt { start: span.start, width, line: line.into() }),
        }
    }

    fn line(&self, number: u32) -> &'t str {
        let index = number.saturating_sub(1) as usize;
        let start = self.starts.get(index).copied().unwrap_or(self.source.text.len());
        let end = self.starts.get(index + 1).copied().unwrap_or(self.source.text.len());
        self.source.text[start..end].trim_end_matches(['\n', '\r'])
    }
}
