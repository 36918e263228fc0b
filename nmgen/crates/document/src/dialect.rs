//! Whether nmstate's own tools, at the version of this workspace, can read the text: their parser, `serde_yaml`, accepts less than
//! ours. Releases after 2.2.62 have another one, `rmsd_yaml`.
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

/// The mark of the byte order. Our parser passes over each at the beginning of a text, libyaml over one.
const MARKS: &str = "\u{feff}\u{feff}";

/// A text that nmstate's tools cannot read, or read otherwise.
pub(super) struct DialectFault {
    pub(super) message: String,
    pub(super) help: Option<&'static str>,
    pub(super) at: Position,
}

/// The refusal of a text that [`super::parse()`] accepts.
pub(super) fn refusal(text: &str) -> Option<DialectFault> {
    if is_ordinary(text) {
        return None;
    }
    if text.starts_with(MARKS) {
        let message = "the second byte-order mark is text to nmstate's tools".to_owned();
        let help = Some("save the file as UTF-8 without a byte-order mark");
        return Some(DialectFault { message, help, at: Position { line: 1, column: 1 } });
    }
    if let Some((offset, found)) = text.match_indices(FURTHER_BREAKS).next() {
        let code = found.chars().map(u32::from).next()?;
        let message =
            format!("U+{code:04X} is a line break to nmstate's tools, and text to others");
        let help = Some("remove it; in a value, write \"\\u2028\" within double quotes");
        return Some(DialectFault { message, help, at: lines::position(text, offset)? });
    }
    if let Some(offset) = end_of_name(text) {
        let message =
            "the name of this anchor or alias ends here for nmstate's tools, and later for others";
        let help = Some("its name has letters, digits, '-' and '_'; write a space behind it");
        return Some(DialectFault {
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
    Some(DialectFault { message, help: None, at })
}

/// The refusal of a text whose last line has nothing but spaces and no line break, if they are a part of the block scalar above
/// in our parser: to libyaml the scalar has a line break less. `is_same` compares the document with that of another text.
pub(super) fn blank_end(text: &str, is_same: impl Fn(&str) -> bool) -> Option<DialectFault> {
    let before = text.trim_end_matches(' ');
    if before.len() == text.len() || !before.ends_with(['\n', '\r']) || is_same(before) {
        return None;
    }
    let message = "nmstate's tools read the spaces of the last line in another way".to_owned();
    let help = Some("remove them, or end the line with a line break");
    Some(DialectFault { message, help, at: lines::position(text, before.len())? })
}

/// The offset at which the name of an anchor or alias ends in YAML 1.1, and goes on in YAML 1.2.
fn end_of_name(text: &str) -> Option<usize> {
    let first = text.match_indices(['&', '*']).find_map(|(at, _)| end_of_name_at(text, at))?;
    // Our scanner reads some texts only with other indentation.
    let Ok(events) = Parser::new_from_str(text).collect::<Result<Vec<_>, _>>() else {
        return Some(first);
    };
    if !events.iter().any(|(event, _)| is_anchored(event)) {
        return None;
    }
    // Values and comments may have the same characters. One pass: both may have a megabyte of them.
    let mut scalars = events.iter().filter_map(|(event, span)| inside(event, *span)).peekable();
    let (mut is_comment, mut before) = (false, '\n');
    for (index, (at, character)) in text.char_indices().enumerate() {
        while scalars.next_if(|scalar| scalar.end <= index).is_some() {}
        let is_value = scalars.peek().is_some_and(|scalar| scalar.contains(&index));
        match character {
            '\n' | '\r' => is_comment = false,
            '#' if !is_value && matches!(before, ' ' | '\t' | '\n' | '\r') => is_comment = true,
            '&' | '*' if !is_value && !is_comment => {
                if let Some(end) = end_of_name_at(text, at) {
                    return Some(end);
                }
            }
            _ => {}
        }
        before = character;
    }
    None
}

/// The end of the name behind what may be the mark of an anchor or alias, at this offset.
fn end_of_name_at(text: &str, mark: usize) -> Option<usize> {
    let is_first = mark == 0 || text[..mark].ends_with([' ', '\t', '\n', '\r', '[', '{', ',']);
    let name = &text[mark + 1..];
    let rest =
        name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let is_name = is_first && rest.len() < name.len();
    (is_name && rest.starts_with(['?', ':', '%', '@', '`'])).then_some(text.len() - rest.len())
}

/// The characters of a scalar that are not its anchor's first one: a scalar's span begins with its anchor.
fn inside(event: &Event<'_>, span: Span) -> Option<Range<usize>> {
    let Event::Scalar(value, style, ..) = event else { return None };
    let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
    let anchor = usize::from(!(is_block && value.starts_with(['&', '*'])));
    Some(span.start.index() + anchor..span.end.index())
}

fn is_anchored(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::Alias(_)
            | Event::Scalar(_, _, 1.., _)
            | Event::SequenceStart(1.., _)
            | Event::MappingStart(1.., _)
    )
}

/// True without directives, document markers, anchors, tags, block scalars, flow collections, escapes
/// and tabs.
pub(super) fn is_ordinary(text: &str) -> bool {
    text.bytes().all(|byte| match byte {
        b'\n' | b' ' | b'\'' | b'"' => true,
        b'#'..=b'/' => !matches!(byte, b'%' | b'&' | b'*'),
        b'0'..=b':' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'=' => true,
        _ => false,
    }) && !text.lines().any(|line| line.starts_with("---") || line.starts_with("..."))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use nix::time::{ClockId, clock_gettime};

    use super::refusal;
    use crate::text::Source;

    /// The time on a processor of the fastest of several runs: that of a busy host's clock has no bound.
    fn cost(text: &str) -> nix::Result<Duration> {
        let now = || clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from);
        let mut fastest = Duration::MAX;
        for _ in 0..3 {
            let start = now()?;
            assert!(refusal(text).is_none());
            fastest = fastest.min(now()? - start);
        }
        Ok(fastest)
    }

    #[test]
    fn the_time_for_marks_in_a_comment_grows_with_the_text() -> nix::Result<()> {
        let text = |marks| format!("a: &b 1\n# {}\n", "*a: ".repeat(marks));
        let (quarter, whole) = (cost(&text(64 * 1024))?, cost(&text(256 * 1024))?);
        // Sixteen times if each mark took a pass of its own.
        assert!(whole < quarter * 10, "{quarter:?} {whole:?}");
        Ok(())
    }

    #[test]
    fn texts_that_the_two_parsers_read_otherwise_are_refused() {
        let is_read =
            |text: &str| crate::parse(&Source { name: "test".into(), text: text.into() }).is_ok();
        for text in ["a: |\n  b\n  ", "a: >-\n  b\r    ", "- |+\n b\n\n ", "\u{feff}\u{feff}a: b\n"]
        {
            assert!(!is_read(text), "{text:?}");
        }
        for text in ["a: |\n  b\n ", "a: |\n  b\n  \n", "a: |\n  b\nc: d\n  ", "\u{feff}a: b\n"] {
            assert!(is_read(text), "{text:?}");
        }
    }

    #[test]
    fn names_of_anchors_and_breaks_of_lines_are_the_same_in_both() {
        let place = |text| refusal(text).map(|refusal| (refusal.at.line, refusal.at.column));
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
