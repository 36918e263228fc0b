//! Whether nmstate's own tools read the text too: their parser, `serde_yaml`, takes less than ours.
//!
//! The document goes to nodes where they read it. Both parsers agree on plain and quoted words in lines
//! (a property test says so), which is what nearly all documents are made of; only of other text the
//! second parser is asked, since that costs as much as everything else.

use serde::de::IgnoredAny;

/// Why nmstate's tools would not read a text that [`super::parse()`] has read, and the line and column
/// from 1.
pub(super) fn refusal(text: &str) -> Option<(String, usize, usize)> {
    if is_ordinary(text) {
        return None;
    }
    let error = serde_yaml::from_str::<IgnoredAny>(text).err()?;
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    let message = error.to_string();
    // The place is shown by the diagnostic.
    let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
    Some((message, line, column))
}

/// No directives, document markers, anchors, tags, block scalars, flow collections, escapes, tabs.
fn is_ordinary(text: &str) -> bool {
    let is_ordinary = |byte: u8| match byte {
        b'\n' | b' ' | b'\'' | b'"' => true,
        b'#'..=b'/' => !matches!(byte, b'%' | b'&' | b'*'),
        b'0'..=b':' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'=' => true,
        _ => false,
    };
    text.bytes().all(is_ordinary)
        && !text.lines().any(|line| line.starts_with("---") || line.starts_with("..."))
}
