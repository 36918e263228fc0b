//! Whether nmstate's own tools can read the text: their parser, `serde_yaml`, accepts less than ours.
//!
//! Nodes read the document with those tools. Both parsers agree on lines of plain and quoted words
//! (by a property test), which make up nearly all documents; the second parser runs only on other
//! text, since it costs as much as everything else.

use serde::de::IgnoredAny;

/// The error of nmstate's tools on a text that [`super::parse()`] accepts, with line and column from
/// 1.
pub(super) fn refusal(text: &str) -> Option<(String, usize, usize)> {
    if is_ordinary(text) {
        return None;
    }
    let error = serde_yaml::from_str::<IgnoredAny>(text).err()?;
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    let message = error.to_string();
    // The diagnostic has its own place.
    let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
    Some((message, line, column))
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
