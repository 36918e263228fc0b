//! Documents as text in a value of another document, plain or encoded.

use super::encoding;
use super::encoding::Fault;
use crate::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use crate::document::nested::{parse_text, unpacked_size};
use crate::document::size::{MAX_DOCUMENT_BYTES, MAX_FLEET_BYTES, document_size};
use crate::document::{Document, Node, Value};
use crate::source::read_file;
use crate::text::lines::{self, Lines};
use crate::text::{Position, Span};

rules! {
    error COMPRESSION = "compression";
}

/// A value's document, or the faults of the value.
type Content<T> = Result<T, Diagnostics>;

/// The document in a string. In a block scalar, positions are those of the file.
///
/// # Errors
/// The document's faults as YAML.
pub(super) fn text(
    outer: &Document<'_>,
    node: &Node<'_>,
    text: &str,
) -> Content<Document<'static>> {
    if text.len() > MAX_DOCUMENT_BYTES {
        return Err(Diagnostics::from(document_size(outer.place(node.span))));
    }
    let lines = match shift(outer, node, text) {
        Some((lines, columns)) => Lines::part(outer.lines(), text, lines, columns),
        None => Lines::decoded(outer.place(node.span), text),
    };
    parse_text(text, lines).map(Document::into_owned)
}

/// The document in a base64 value.
///
/// # Errors
/// Faults of the encoding, or of the document as YAML.
pub(super) fn base64(
    outer: &Document<'_>,
    node: &Node<'_>,
    text: &str,
) -> Content<Document<'static>> {
    let bytes = encoding::base64(text)
        .map_err(|fault| Diagnostics::from(diagnostic(outer, node, text, &fault)));
    decoded(outer.place(node.span), bytes?)
}

/// The document in a `data:` URL, as in Ignition. Decompressed bytes are added to `unpacked`.
///
/// # Errors
/// Faults of the encoding, the compression, or of the document as YAML.
pub(super) fn data_url(
    outer: &Document<'_>,
    node: &Node<'_>,
    url: &str,
    compression: Option<&Node<'_>>,
    unpacked: &mut usize,
) -> Content<Document<'static>> {
    let bytes = encoding::data_url(url)
        .map_err(|fault| Diagnostics::from(diagnostic(outer, node, url, &fault)));
    let bytes = match compression.and_then(Node::text) {
        None | Some("") => bytes?,
        // Reported already.
        Some("gzip") if *unpacked > MAX_FLEET_BYTES => return Err(Diagnostics::default()),
        Some("gzip") => {
            let bytes = encoding::gunzip(&bytes?, MAX_DOCUMENT_BYTES).map_err(|error| {
                let message = format!("the URL's data is not gzip: {error}");
                Diagnostics::from(Diagnostic::new(COMPRESSION, message, outer.place(node.span)))
            })?;
            *unpacked += bytes.len();
            if *unpacked > MAX_FLEET_BYTES {
                return Err(Diagnostics::from(unpacked_size(outer.place(node.span))));
            }
            bytes
        }
        Some(other) => {
            let message = format!("Ignition has no compression \"{}\"", other.escape_debug());
            let place = outer.place(compression.unwrap_or(node).span);
            return Err(Diagnostics::from(
                Diagnostic::new(COMPRESSION, message, place).help("use gzip, or none"),
            ));
        }
    };
    decoded(outer.place(node.span), bytes)
}

fn decoded(place: Place, bytes: Vec<u8>) -> Content<Document<'static>> {
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return Err(Diagnostics::from(document_size(place)));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let (at, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let place = Place { decoded: read_file::excerpt(bytes, at), ..place.clone() };
        Diagnostics::from(read_file::encoding(bytes[at], place))
    })?;
    parse_text(&text, Lines::decoded(place, &text)).map(Document::into_owned)
}

/// A fault in a value's text, placed at its character if the file shows it.
fn diagnostic(outer: &Document<'_>, node: &Node<'_>, text: &str, fault: &Fault) -> Diagnostic {
    let place = at(outer, node, text, fault.offset)
        .map_or_else(|| outer.place(node.span), |start| outer.place(Span { start, end: start }));
    let diagnostic = Diagnostic::new(fault.rule, fault.message.clone(), place);
    match fault.help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// The position of a byte of the value's text.
fn at(outer: &Document<'_>, node: &Node<'_>, text: &str, offset: usize) -> Option<Position> {
    if let Some((lines, columns)) = shift(outer, node, text) {
        let Position { line, column } = lines::position(text, offset)?;
        return Some(Position { line: line + lines, column: column + columns });
    }
    let before = text.get(..offset)?;
    let Position { line, column } = node.span.start;
    let skipped = column as usize - 1;
    let found = outer.lines().line(line);
    let (start, _) = found.char_indices().nth(skipped)?;
    let rest = &found[start..];
    let quote = usize::from(rest.starts_with(['"', '\'']));
    let stands_as_is = rest.get(quote..)?.starts_with(text);
    let column = column + quote as u32 + before.chars().count() as u32;
    stands_as_is.then_some(Position { line, column })
}

/// The lines and columns from the start of the file to the start of a block scalar, whose lines stand
/// in the file unchanged, with equal indentation.
fn shift(outer: &Document<'_>, node: &Node<'_>, text: &str) -> Option<(u32, u32)> {
    if !matches!(node.value, Value::Scalar { plain: false, .. }) {
        return None;
    }
    let first = lines::split(text).position(|line| !line.trim().is_empty())?;
    let inner = lines::split(text).nth(first)?;
    // The span begins at the indicator or at the first line of text.
    let header = node.span.start.line;
    let (lines, indent) = (header..=header + 1).find_map(|line| {
        let number = line + first as u32;
        let found = outer.lines().line(number);
        let indent = found.len().checked_sub(inner.len())?;
        let is_same = found.ends_with(inner) && found[..indent].trim().is_empty() && indent > 0;
        is_same.then_some((number - 1 - first as u32, indent))
    })?;
    // A folded scalar has other lines than the file.
    let is_same = (1..).zip(lines::split(text)).all(|(number, inner)| {
        let found = outer.lines().line(number + lines);
        found.get(indent..).map_or(inner.is_empty(), |found| found == inner)
    });
    is_same.then_some((lines, indent as u32))
}
