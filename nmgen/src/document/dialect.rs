//! Whether nmstate's own tools can read the text: their parser, `serde_yaml`, accepts less than ours.
//!
//! Nodes read the document with those tools. Both parsers agree on lines of plain and quoted words
//! (by a property test), which make up nearly all documents; the second parser runs only on other
//! text, since it costs as much as everything else.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde::de::IgnoredAny;

use crate::text::{Position, lines};

/// Line breaks of YAML 1.1, which nmstate's tools read. In YAML 1.2 and to our parser they are text: behind one in a comment would
/// be a part of the document that nobody has checked.
const FURTHER_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// A text that nmstate's tools cannot read, or read otherwise.
pub(super) struct Refusal {
    pub(super) message: String,
    pub(super) help: Option<&'static str>,
    pub(super) at: Position,
}

/// The refusal of a text that [`super::parse()`] accepts.
pub(super) fn refusal(text: &str) -> Option<Refusal> {
    if is_ordinary(text) {
        return None;
    }
    if let Some((offset, found)) = text.match_indices(FURTHER_BREAKS).next() {
        let code = found.chars().map(u32::from).next()?;
        let message =
            format!("U+{code:04X} is a line break to nmstate's tools, and text to others");
        let help = Some("remove it; in a value, write \"\\u2028\" within double quotes");
        return Some(Refusal { message, help, at: lines::position(text, offset)? });
    }
    if let Some(offset) = end_of_name(text) {
        let message =
            "the name of this anchor or alias ends here for nmstate's tools, and later for others";
        let help = Some("its name has letters, digits, '-' and '_'; write a space behind it");
        return Some(Refusal {
            message: message.to_owned(),
            help,
            at: lines::position(text, offset)?,
        });
    }
    let error = serde_yaml::from_str::<IgnoredAny>(text).err()?;
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    let message = error.to_string();
    // The diagnostic has its own place.
    let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
    let at = Position { line: line as u32, column: column as u32 };
    Some(Refusal { message, help: None, at })
}

/// The offset at which the name of an anchor or alias ends in YAML 1.1, and goes on in YAML 1.2.
fn end_of_name(text: &str) -> Option<usize> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut ends = text.match_indices(['&', '*']).filter_map(|(at, mark)| {
        let is_first = text[..at].ends_with([' ', '\t', '\n', '\r', '[', '{', ',']) || at == 0;
        let name = &text[at + mark.len()..];
        let rest = name.trim_start_matches(is_word);
        let is_name = is_first && rest.len() < name.len();
        (is_name && rest.starts_with(['?', ':', '%', '@', '`']))
            .then_some((at, text.len() - rest.len()))
    });
    let first = ends.next()?;
    let events: Vec<_> = Parser::new_from_str(text).map_while(Result::ok).collect();
    if !events.iter().any(|(event, _)| is_anchored(event)) {
        return None;
    }
    // Values and comments may have the same characters. The span of a scalar begins with its anchor.
    let scalars: Vec<_> = events.iter().filter_map(|(event, span)| inside(event, *span)).collect();
    let is_value = |at: usize| {
        let at = text[..at].chars().count();
        scalars.iter().any(|scalar| scalar.contains(&at))
    };
    let is_comment = |at: usize| {
        let start = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let mut marks = text[start..at].match_indices('#').map(|(mark, _)| start + mark);
        marks.any(|mark| (mark == start || text[..mark].ends_with([' ', '\t'])) && !is_value(mark))
    };
    let mut ends = std::iter::once(first).chain(ends);
    ends.find(|(at, _)| !is_value(*at) && !is_comment(*at)).map(|(_, end)| end)
}

/// The characters of a scalar that are not its anchor's first one.
fn inside(event: &Event<'_>, span: Span) -> Option<Range<usize>> {
    let Event::Scalar(value, style, ..) = event else { return None };
    let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
    let anchor = usize::from(!(is_block && value.starts_with(['&', '*'])));
    Some(span.start.index() + anchor..span.end.index())
}

fn is_anchored(event: &Event<'_>) -> bool {
    match event {
        Event::Alias(_) => true,
        Event::Scalar(_, _, anchor, _)
        | Event::SequenceStart(anchor, _)
        | Event::MappingStart(anchor, _) => *anchor != 0,
        Event::Nothing
        | Event::StreamStart
        | Event::StreamEnd
        | Event::DocumentStart(_)
        | Event::DocumentEnd
        | Event::SequenceEnd
        | Event::MappingEnd => false,
    }
}

/// True without directives, document markers, anchors, tags, block scalars, flow collections, escapes
/// and tabs.
pub(super) fn is_ordinary(text: &str) -> bool {
    let is_ordinary = |byte: u8| match byte {
        b'\n' | b' ' | b'\'' | b'"' => true,
        b'#'..=b'/' => !matches!(byte, b'%' | b'&' | b'*'),
        b'0'..=b':' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'=' => true,
        _ => false,
    };
    text.bytes().all(is_ordinary)
        && !text.lines().any(|line| line.starts_with("---") || line.starts_with("..."))
}

#[cfg(test)]
mod tests {
    use super::refusal;

    #[test]
    fn names_of_anchors_and_breaks_of_lines_are_the_same_in_both() {
        let place = |text| refusal(text).map(|it| (it.at.line, it.at.column));
        for (text, at) in [
            ("&i:", (1, 3)),
            ("a: &b 1\nc: *b:\n", (2, 6)),
            ("a: &b 1\r[{*b@: 2}]\n", (2, 5)),
            ("a: &b 1\nc: ['é #', *b:]\n", (2, 14)),
            ("# \u{2028}- a", (1, 3)),
            ("a: 'é\u{85}'\n", (1, 6)),
        ] {
            assert_eq!(place(text), Some(at), "{text:?}");
        }
        for text in [
            "a: &b 1\nc: *b\n",
            "{a: &b-_1 c, d: *b-_1, e: [*b-_1]}\n",
            "# *note: see &this:\na: \"*note: &b:\"\n",
            "a: &b 'R&D: x*y:'\n",
            "a: &b 1\n# *note: see &this:\nc: *b # *b:\nd: \"é *note: &b:\"\ne: |\n  &f: g\n",
        ] {
            assert_eq!(place(text), None, "{text:?}");
        }
    }
}
