//! Whether nmstate's own tools can read the text: their parser, `serde_yaml`, accepts less than ours.
//!
//! Nodes read the document with those tools. Both parsers agree on lines of plain and quoted words
//! (by a property test), which make up nearly all documents; the second parser runs only on other
//! text, since it costs as much as everything else.

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
    let error = serde_yaml::from_str::<IgnoredAny>(text).err()?;
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    let message = error.to_string();
    // The diagnostic has its own place.
    let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
    let at = Position { line: line as u32, column: column as u32 };
    Some(Refusal { message, help: None, at })
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
