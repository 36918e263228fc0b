//! Small formatting helpers, and text of others as it is shown. Knows no other module.

use std::borrow::Cow;
use std::fmt::Write;

/// An error with its causes, in one line, as it is shown.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let next = cause.to_string();
        // A transparent error has its cause's text.
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        source = cause.source();
    }
    printable(&text.trim_end().replace('\n', " "))
}

/// `1 profile`, `2 profiles`.
pub fn counted(count: usize, word: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {word}{plural}")
}

/// Bytes, such as a digest's, in lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// True for a character that controls what shows it: the control characters of C0 and C1, the separators of lines and paragraphs,
/// which end a line in some viewers, and the controls of direction (Unicode, Bidi_Control), which show a text as another one.
pub fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Text of others as every output shows it: no document, and no file's name, controls a terminal, a console or a log.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if is_control(c) { '\u{fffd}' } else { c }).collect()
}

/// [`printable`] for text of several lines, with tabs.
pub fn printable_lines(text: &str) -> String {
    let shown = |c| if is_control(c) && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

/// JSON with the same values, in which each such character is escaped.
pub fn printable_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match is_control(character) && character != '\n' {
            // All of them are below U+10000. Writing to a string does not fail.
            true => drop(write!(text, "\\u{:04x}", u32::from(character))),
            false => text.push(character),
        }
    }
    text
}

/// The longest prefix of at most `bytes` bytes, in whole characters.
pub fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// A text of at most about so many bytes: of a longer one the beginning and the end.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let start = cut(text, most / 3 * 2);
    let end = (text.len() - most / 3..=text.len()).find(|at| text.is_char_boundary(*at));
    Cow::Owned(format!("{start}…{}", &text[end.unwrap_or(text.len())..]))
}
