//! Documents that stand as text in a value of another document.

use crate::diagnostic::{Diagnostic, Place};
use crate::document::{self, Document, Lines, Node, Value};

/// The document in a string, of which positions are the file's own where it is a block scalar.
///
/// # Errors
/// What is wrong with it as YAML.
pub(super) fn text(
    outer: &Document<'_>,
    node: &Node<'_>,
    text: &str,
) -> Result<Document<'static>, Vec<Diagnostic>> {
    let lines = match shift(outer, node, text) {
        Some((lines, columns)) => Lines::part(outer.lines(), text, lines, columns),
        None => Lines::decoded(outer.place(node.span), text),
    };
    document::parse_text(text, lines).map(Document::into_owned)
}

/// The document that a value holds in encoded form.
///
/// # Errors
/// What is wrong with it as YAML.
pub(super) fn decoded(place: Place, text: &str) -> Result<Document<'static>, Vec<Diagnostic>> {
    document::parse_text(text, Lines::decoded(place, text)).map(Document::into_owned)
}

/// How far down and right of the file's first character a block scalar begins: its lines stand in the file
/// as they are, each with the same indentation.
fn shift(outer: &Document<'_>, node: &Node<'_>, text: &str) -> Option<(u32, u32)> {
    if !matches!(node.value, Value::Scalar { plain: false, .. }) {
        return None;
    }
    let first = text.lines().position(|line| !line.trim().is_empty())?;
    let inner = text.lines().nth(first)?;
    // The span begins at the indicator or at the first line of text.
    let header = node.span.start.line;
    (header..=header + 1).find_map(|line| {
        let number = line + first as u32;
        let found = outer.lines().line(number);
        let indent = found.len().checked_sub(inner.len())?;
        let is_same = found.ends_with(inner) && found[..indent].trim().is_empty() && indent > 0;
        is_same.then_some((number - 1 - first as u32, indent as u32))
    })
}
