//! The lines of a text, and a position's line in the file that the user wrote.

use std::ops::Range;
use std::sync::Arc;

pub(crate) use super::breaks::ends;
use super::breaks::without_break;
pub use super::breaks::{position, split};
use super::place::{Excerpt, Place};
use super::secret::{self, Secrets};
use super::{Position, Source, Span};
use crate::budget::Budget;

/// Longer lines are cut: a fleet's manifests may be one line of JSON.
const MAX_LINE: usize = 400;
/// Bytes kept before the place.
const BEFORE: usize = 200;
/// Beyond this column multi-byte characters are not counted.
const MAX_COLUMN: usize = 10_000;

/// The start of each line of a text, and the text's place in its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    source: Source,
    starts: Arc<[u32]>,
    is_ascii: bool,
    origin: Origin,
    secrets: Secrets,
    budget: Budget,
}

/// The relation of a text to its file.
#[derive(Debug, Clone, PartialEq)]
enum Origin {
    /// The whole file.
    File,
    /// Some of its lines, `lines` further down and `columns` further right.
    Part { file: Arc<Lines>, lines: u32, columns: u32 },
    /// The decoded value at a place.
    Decoded(Box<Place>),
}

impl Lines {
    /// For a text that is the whole file.
    pub fn new(source: &Source) -> Self {
        Self::of(source.clone(), Origin::File, Budget::of(&source.text))
    }

    /// For a text within `file`: its first line is `lines` below the file's first, and each line is
    /// indented by `columns` characters.
    pub fn part(file: &Self, text: &str, lines: u32, columns: u32) -> Self {
        let source = Source { name: file.source.name.clone(), text: text.into() };
        let origin = Origin::Part { file: Arc::new(file.clone()), lines, columns };
        Self::of(source, origin, file.budget.clone())
    }

    /// For a text decoded from the value at `place` in `file`.
    pub fn decoded(file: &Self, place: Place, text: &str) -> Self {
        let source = Source { name: place.file.clone(), text: text.into() };
        Self::of(source, Origin::Decoded(Box::new(place)), file.budget.clone())
    }

    fn of(source: Source, origin: Origin, budget: Budget) -> Self {
        let (starts, is_ascii) = (starts(&source.text), source.text.is_ascii());
        Self { source, starts, is_ascii, origin, secrets: Secrets::default(), budget }
    }

    /// The values so far of its file, and their bound.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Counts the text as one that is embedded in its file.
    #[must_use]
    pub fn embedded(self) -> Self {
        self.budget.embed(&self.source.text);
        self
    }

    /// The text; its name is the file's.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Each line with its number from 1.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, &str)> {
        (1..).zip(split(&self.source.text))
    }

    /// The place of `span`; its first line is underlined.
    pub fn place(&self, span: Span) -> Place {
        self.place_hiding(span, &[])
    }

    /// The place without these columns of its line, and without secrets.
    fn place_hiding(&self, span: Span, hidden: &[Range<u32>]) -> Place {
        let span = Span { start: self.inside(span.start), ..span };
        match &self.origin {
            Origin::File => {}
            Origin::Part { file, lines, columns } => {
                let moved =
                    |at: Position| Position { line: at.line + lines, column: at.column + columns };
                let own = self.of_the_part(span.start);
                let start = file.indented(moved(own));
                let secret = self.secrets.on_line(&self.source.text, own.line).iter();
                let secret = secret.chain(hidden).map(|range| {
                    range.start.saturating_add(*columns)..range.end.saturating_add(*columns)
                });
                let hidden: Vec<Range<u32>> = secret.collect();
                let place = file.place_hiding(Span { start, end: moved(span.end) }, &hidden);
                return Place { secrets: self.secrets.clone(), ..place };
            }
            Origin::Decoded(value) => {
                let decoded = Some(self.excerpt(span, hidden));
                return Place { decoded, secrets: self.secrets.clone(), ..Place::clone(value) };
            }
        }
        let position = Some(self.excerpt(span, hidden));
        let (file, secrets) = (self.source.name.clone(), self.secrets.clone());
        Place { file, position, decoded: None, secrets }
    }

    /// The position, or the end of the text: the parser counts a line break behind a last line that has none.
    fn inside(&self, at: Position) -> Position {
        let last = self.starts.len() as u32;
        if at.line > last { self.end_of(last) } else { at }
    }

    /// The position, or the end of the last line: what stands behind a part's final line break is no more of it.
    fn of_the_part(&self, at: Position) -> Position {
        let last = self.starts.len() as u32;
        let is_behind = at.line == last && last > 1 && self.line(last).is_empty();
        if is_behind { self.end_of(last - 1) } else { at }
    }

    /// The position, or the end of its line: an empty line may have less indentation than its part.
    fn indented(&self, at: Position) -> Position {
        let is_short = self.line(at.line).len() + 1 < at.column as usize;
        if is_short { self.end_of(at.line) } else { at }
    }

    fn end_of(&self, line: u32) -> Position {
        Position { line, column: self.line(line).chars().count() as u32 + 1 }
    }

    fn excerpt(&self, span: Span, hidden: &[Range<u32>]) -> Excerpt {
        let column = span.start.column as usize - 1;
        let (line, skipped) = part(self.line(span.start.line), column, self.is_ascii);
        let length = line.chars().count() as u32 + skipped;
        let end = if span.end.line == span.start.line { span.end.column } else { length + 1 };
        let width = end.saturating_sub(span.start.column).max(1);
        let secret = self.secrets.on_line(&self.source.text, span.start.line).iter();
        let first = skipped + 1;
        let shown = |range: &Range<u32>| {
            range.start.saturating_sub(first) as usize..range.end.saturating_sub(first) as usize
        };
        let mut hidden: Vec<Range<usize>> = secret.chain(hidden).map(shown).collect();
        for found in secret::in_words(line, false).values {
            // Where a value is known to end, its words do not count.
            if !hidden.iter().any(|known| known.start == found.start) {
                hidden.push(found);
            }
        }
        let start = (span.start.column - first) as usize;
        let marked = start..start + width as usize;
        let (line, marked) = match hidden.is_empty() {
            true => (line.to_owned(), marked),
            false => secret::hide(line, hidden, marked),
        };
        let marked = marked.start as u32..marked.end as u32;
        Excerpt { start: span.start, width, line: line.into(), skipped, marked }
    }

    /// The offset in bytes at which each line begins.
    pub fn starts(&self) -> impl Iterator<Item = usize> {
        self.starts.iter().map(|start| *start as usize)
    }

    /// A line by its number from 1, without its line break.
    pub fn line(&self, number: u32) -> &str {
        let index = number.saturating_sub(1) as usize;
        let end_of_text = self.source.text.len();
        let start_of = |index: usize| self.starts.get(index).map_or(end_of_text, |at| *at as usize);
        let (start, end) = (start_of(index), start_of(index + 1));
        without_break(&self.source.text[start..end])
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
    std::iter::once(0).chain(ends(text).map(|end| end as u32)).collect()
}

#[cfg(test)]
mod tests {
    use saphyr_parser::{Event, Parser};

    use super::{Lines, Position, Source, Span, position, split};

    /// Every line break, alone and in a row.
    const BREAKS: [&str; 7] = ["\n", "\r", "\r\n", "\n\n", "\r\r", "\n\r", "\r\r\n"];

    fn at(line: u32, column: u32) -> Position {
        Position { line, column }
    }

    fn lines(text: &str) -> Lines {
        Lines::new(&Source { name: "test".into(), text: text.into() })
    }

    fn placed(lines: &Lines, start: Position) -> Option<(Position, String)> {
        let excerpt = lines.place(Span { start, end: start }).position?;
        Some((excerpt.start, excerpt.line.to_string()))
    }

    #[test]
    fn a_carriage_return_ends_a_line() {
        let text = "a\r\nb\rc\n\r\nd";
        let all = ["a", "b", "c", "", "d"];
        assert_eq!(split(text).collect::<Vec<_>>(), all);
        assert_eq!((1..=5).map(|line| lines(text).line(line).to_owned()).collect::<Vec<_>>(), all);
        assert_eq!(lines(text).numbered().last(), Some((5, "d")));
        assert_eq!(split("a\n").collect::<Vec<_>>(), ["a"]);
        assert_eq!(split("").count(), 0);
        // These are line breaks of YAML 1.1 alone.
        assert_eq!(split("a\u{85}b\u{2028}c\u{2029}d").count(), 1);
    }

    #[test]
    fn both_parsers_count_the_same_lines() {
        for (first, second) in BREAKS.iter().flat_map(|a| BREAKS.map(|b| (a, b))) {
            let text = format!("# é{first}- é: b{second}  c: 'd{first}    e'{second}- f{first}");
            let events: Result<Vec<_>, _> = Parser::new_from_str(&text).collect();
            let scalars =
                events.iter().flatten().filter(|event| matches!(event.0, Event::Scalar(..)));
            assert_eq!(scalars.clone().count(), 5, "{text:?}");
            for (_, span) in scalars {
                let found = at(span.start.line() as u32, span.start.col() as u32 + 1);
                let offset = text.char_indices().nth(span.start.index()).map(|(offset, _)| offset);
                assert_eq!(
                    offset.and_then(|offset| position(&text, offset)),
                    Some(found),
                    "{text:?}"
                );
            }
            let error = serde_yaml::from_str::<serde_yaml::Value>(&format!("{text}}}"));
            let place = error.err().and_then(|error| error.location());
            let place = place.map(|place| at(place.line() as u32, place.column() as u32));
            assert_eq!(place, position(&text, text.len()), "{text:?}");
        }
    }

    #[test]
    fn a_place_is_in_the_text() {
        let whole = lines("a: |\n  {b\n\n  c\nd: e\n");
        assert_eq!(placed(&whole, at(5, 4)), Some((at(5, 4), "d: e".to_owned())));
        // The parser counts a line break behind the last line.
        assert_eq!(placed(&lines("é: ["), at(2, 1)), Some((at(1, 5), "é: [".to_owned())));
        let part = Lines::part(&whole, "{b\n\nc\n", 1, 2);
        assert_eq!(placed(&part, at(1, 2)), Some((at(2, 4), "  {b".to_owned())));
        assert_eq!(placed(&part, at(2, 1)), Some((at(3, 1), String::new())));
        for behind in [at(4, 1), at(5, 1)] {
            assert_eq!(placed(&part, behind), Some((at(4, 4), "  c".to_owned())));
        }
    }
}
