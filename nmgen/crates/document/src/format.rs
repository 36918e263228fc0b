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
/// which end a line in some viewers, and the controls of direction (Unicode, Bidi_Control), which show a text as another one. True
/// too for those that nothing shows (Default_Ignorable_Code_Point), by which two texts look like one.
pub fn is_control(character: char) -> bool {
    // Nearly every character of an output, which may have megabytes.
    if matches!(character, ' '..='~') {
        return false;
    }
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
                | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Text of others as every output shows it: no document, and no file's name, controls a terminal, a console or a log.
pub fn printable(text: &str) -> String {
    text.replace(is_control, "\u{fffd}")
}

/// [`printable`] for text of several lines, with tabs.
pub fn printable_lines(text: &str) -> String {
    text.replace(|c| is_control(c) && !matches!(c, '\n' | '\t'), "\u{fffd}")
}

/// [`printable_lines`] for a page that the program has coloured: sequences of colours stay.
pub fn printable_page(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (index, part) in text.split('\u{1b}').enumerate() {
        let colour = part.strip_prefix('[').and_then(|rest| rest.split_once('m'));
        let is_code = |code: &str| code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
        match (index, colour) {
            (0, _) => {}
            (_, Some((code, _))) if is_code(code) => shown.push('\u{1b}'),
            _ => shown.push('\u{fffd}'),
        }
        shown.push_str(&printable_lines(part));
    }
    shown
}

/// JSON with the same values, in which each such character is escaped.
pub fn printable_json(json: String) -> String {
    let is_unprintable = |character| is_control(character) && character != '\n';
    if !json.contains(is_unprintable) {
        return json;
    }
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match is_unprintable(character) {
            true => character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                // Writing to a string does not fail.
                let _ = write!(text, "\\u{unit:04x}");
            }),
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

#[cfg(test)]
mod tests {
    use super::{printable, printable_json, printable_lines, printable_page};

    #[test]
    fn what_nobody_sees_is_seen() {
        for hidden in [
            '\u{1b}',
            '\u{7f}',
            '\u{9b}',
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{180e}',
            '\u{200b}',
            '\u{200d}',
            '\u{202e}',
            '\u{2060}',
            '\u{2064}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            let text = format!("a{hidden}b\n");
            assert_eq!(printable(&text), "a\u{fffd}b\u{fffd}", "{hidden:?}");
            assert_eq!(printable_lines(&text), "a\u{fffd}b\n", "{hidden:?}");
            assert_eq!(printable_page(&text), "a\u{fffd}b\n", "{hidden:?}");
        }
        for shown in ["é", "\u{301}", "漢字", "🙂", " ", "\u{a0}", "\u{fffd}"] {
            assert_eq!(printable(shown), shown);
        }
        assert_eq!(
            printable_json("\"\u{200b}\u{e0041}\"\n".to_owned()),
            "\"\\u200b\\udb40\\udc41\"\n"
        );
    }

    #[test]
    fn colours_of_a_page_stay() {
        for (text, expected) in [
            ("\u{1b}[1;31ma\u{1b}[0m\n", "\u{1b}[1;31ma\u{1b}[0m\n"),
            ("\u{1b}[2Ja\u{1b}]0;m", "\u{fffd}[2Ja\u{fffd}]0;m"),
            ("a\u{1b}", "a\u{fffd}"),
            ("\u{1b}[1;\u{9b}m", "\u{fffd}[1;\u{fffd}m"),
            ("\u{1b}\u{1b}[m", "\u{fffd}\u{1b}[m"),
        ] {
            assert_eq!(printable_page(text), expected);
        }
    }
}
