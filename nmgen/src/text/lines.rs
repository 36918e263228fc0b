//! Finds a position's line in the file that the user wrote.

use std::sync::Arc;

use super::place::{Excerpt, Place};
use super::{Position, Source, Span};

/// Longer lines are cut: a fleet's manifests may be one line of JSON.
const MAX_LINE: usize = 400;
/// Bytes kept before the place.
const BEFORE: usize = 200;
/// Beyond this column multi-byte characters are not counted.
const MAX_COLUMN: usize = 10_000;

/// The start of each line of a text, and the text's place in its file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lines {
    source: Source,
    starts: Arc<[u32]>,
    is_ascii: bool,
    origin: Origin,
}

/// The relation of a text to its file.
#[derive(Debug, Clone, PartialEq)]
enum Origin {
    /// The whole file.
    File,
    /// Some of its lines, `lines` further down and `columns` further right.
    Part { file: Arc<Lines>, lines: u32, columns: u32 },
    /// The decoded value at a place.
    Decoded(Place),
}

impl Lines {
    pub(crate) fn new(source: &Source) -> Self {
        Self::of(source.clone(), Origin::File)
    }

    /// For a text within `file`: its first line is `lines` below the file's first, and each line is
    /// indented by `columns` characters.
    pub(crate) fn part(file: &Self, text: &str, lines: u32, columns: u32) -> Self {
        let source = Source { name: file.source.name.clone(), text: text.into() };
        Self::of(source, Origin::Part { file: Arc::new(file.clone()), lines, columns })
    }

    /// For a text decoded from the value at `place`.
    pub(crate) fn decoded(place: Place, text: &str) -> Self {
        let source = Source { name: place.file.clone(), text: text.into() };
        Self::of(source, Origin::Decoded(place))
    }

    fn of(source: Source, origin: Origin) -> Self {
        let (starts, is_ascii) = (starts(&source.text), source.text.is_ascii());
        Self { source, starts, is_ascii, origin }
    }

    /// The text; its name is the file's.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The place of `span`; its first line is underlined.
    pub(crate) fn place(&self, span: Span) -> Place {
        let span = Span { start: self.inside(span.start), ..span };
        match &self.origin {
            Origin::File => {}
            Origin::Part { file, lines, columns } => {
                let moved =
                    |at: Position| Position { line: at.line + lines, column: at.column + columns };
                return file.place(Span { start: moved(span.start), end: moved(span.end) });
            }
            Origin::Decoded(value) => {
                return Place { decoded: Some(self.excerpt(span)), ..value.clone() };
            }
        }
        let position = Some(self.excerpt(span));
        Place { file: self.source.name.clone(), position, decoded: None }
    }

    /// The position, or the end of its line or of the text: the parser counts a line break behind a last line that has none, and a
    /// part's last line may have no indentation to move it by.
    fn inside(&self, at: Position) -> Position {
        let last = self.starts.len() as u32;
        let line = self.line(at.line.min(last));
        let is_behind = at.line > last || at.column as usize > line.len() + 1;
        match is_behind {
            true => Position { line: at.line.min(last), column: line.chars().count() as u32 + 1 },
            false => at,
        }
    }

    fn excerpt(&self, span: Span) -> Excerpt {
        let column = span.start.column as usize - 1;
        let (line, skipped) = part(self.line(span.start.line), column, self.is_ascii);
        let length = line.chars().count() as u32 + skipped;
        let end = if span.end.line == span.start.line { span.end.column } else { length + 1 };
        let width = end.saturating_sub(span.start.column).max(1);
        Excerpt { start: span.start, width, line: line.into(), skipped }
    }

    /// The offset in bytes at which each line begins.
    pub(crate) fn starts(&self) -> impl Iterator<Item = usize> {
        self.starts.iter().map(|start| *start as usize)
    }

    /// A line by its number from 1, without its line break.
    pub(crate) fn line(&self, number: u32) -> &str {
        let index = number.saturating_sub(1) as usize;
        let end_of_text = self.source.text.len();
        let start_of = |index: usize| self.starts.get(index).map_or(end_of_text, |at| *at as usize);
        let (start, end) = (start_of(index), start_of(index + 1));
        self.source.text[start..end].trim_end_matches(['\n', '\r'])
    }
}

/// The part of a line to keep, and the number of characters before it.
fn part(line: &str, column: usize, is_ascii: bool) -> (&str, u32) {
    if line.len() <= MAX_LINE {
        return (line, 0);
    }
    let skipped = column.saturating_sub(BEFORE);
    let start = match is_ascii {
        true => skipped.min(line.len()),
        false if skipped > MAX_COLUMN => line.len(),
        false => line.char_indices().nth(skipped).map_or(line.len(), |(offset, _)| offset),
    };
    let length = line[start..].char_indices().nth(MAX_LINE).map(|(length, _)| length);
    let end = length.map_or(line.len(), |length| start + length);
    (&line[start..end], skipped as u32)
}

/// As 32 bits: no text is larger than a fleet's file.
fn starts(text: &str) -> Arc<[u32]> {
    let bytes = text.as_bytes();
    // YAML 1.2, 5.4: a lone carriage return is a line break too.
    let is_break = |at: &usize| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n');
    let breaks = memchr::memchr2_iter(b'\n', b'\r', bytes).filter(is_break);
    std::iter::once(0).chain(breaks.map(|at| at as u32 + 1)).collect()
}
