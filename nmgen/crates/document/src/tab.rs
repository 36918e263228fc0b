//! Tabs between a ':' and its value. YAML allows white space there (1.2, 6.2), and so does the parser of nmstate's tools; our
//! scanner refuses a tab before a letter or a '-'.

use std::ops::Range;

use saphyr_parser::{Event, Parser};

/// The text with a space in place of each tab that only separates a value from its key. Positions stay the same.
pub(super) fn as_spaces(text: &str) -> Option<String> {
    memchr::memmem::find(text.as_bytes(), b":\t")?;
    // A tab within a scalar is content. Where all tabs are spaces, the scanner finds the scalars at the same places.
    let scalars = scalars(&replaced(text, &[]));
    Some(replaced(text, &scalars))
}

/// The ranges of the scalars, in characters and in order, up to the first fault.
fn scalars(text: &str) -> Vec<Range<usize>> {
    let events = Parser::new_from_str(text).map_while(Result::ok);
    let scalar = |(event, span): (Event<'_>, saphyr_parser::Span)| match event {
        Event::Scalar(..) => Some(span.start.index()..span.end.index()),
        Event::Nothing
        | Event::StreamStart
        | Event::StreamEnd
        | Event::DocumentStart(_)
        | Event::DocumentEnd
        | Event::Alias(_)
        | Event::SequenceStart(..)
        | Event::SequenceEnd
        | Event::MappingStart(..)
        | Event::MappingEnd => None,
    };
    events.filter_map(scalar).collect()
}

/// Replaces the tabs behind each ':' outside of `kept`.
fn replaced(text: &str, kept: &[Range<usize>]) -> String {
    let mut kept = kept.iter().peekable();
    let mut is_behind_colon = false;
    let one = |(index, character): (usize, char)| {
        while kept.next_if(|range| range.end <= index).is_some() {}
        let is_kept = kept.peek().is_some_and(|range| range.contains(&index));
        is_behind_colon = character == ':' || is_behind_colon && character == '\t';
        if character == '\t' && is_behind_colon && !is_kept { ' ' } else { character }
    };
    text.chars().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::as_spaces;

    #[test]
    fn only_tabs_that_separate_are_replaced() {
        for (text, expected) in [
            ("a:\tb\n", "a: b\n"),
            ("a:\t\tb\n", "a:  b\n"),
            ("{a:\tb}\n", "{a: b}\n"),
            ("é: 1\na:\tb\n", "é: 1\na: b\n"),
            ("a:\t'b:\tc'\n", "a: 'b:\tc'\n"),
            ("a:\t\"b:\tc\"\n", "a: \"b:\tc\"\n"),
            ("a:\t|\n  b:\tc\nd:\te\n", "a: |\n  b:\tc\nd: e\n"),
            ("a: >-\n  b:\tc\n  d:\te\n", "a: >-\n  b:\tc\n  d:\te\n"),
            ("'a:\tb':\tc\n", "'a:\tb': c\n"),
        ] {
            assert_eq!(as_spaces(text).as_deref(), Some(expected));
        }
        assert_eq!(as_spaces("a: b\tc\n"), None);
    }
}
