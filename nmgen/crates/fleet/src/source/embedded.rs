//! Documents as text in a value of another document, plain or encoded.

use nmgen_core::source::read_file;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::nested::{parse_text, unpacked_size};
use nmgen_document::size::{MAX_DOCUMENT_BYTES, MAX_FLEET_BYTES, document_size};
use nmgen_document::text::lines::{self, Lines};
use nmgen_document::text::{Position, Span};
use nmgen_document::{Document, Node, Value};

use super::encoding::{self, EncodingFault};

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
        None => Lines::decoded(outer.lines(), outer.place(node.span), text),
    };
    parse_text(text, lines.embedded()).map(Document::into_owned)
}

/// The place of the '>' behind a key whose text is folded.
pub(super) fn folded(outer: &Document<'_>, owner: &Node<'_>, key: &str) -> Option<Place> {
    let line = owner.entry(key)?.key_span.start.line;
    let text = outer.lines().line(line).trim_end_matches(['+', '-', ' ']);
    let before = text.strip_suffix('>').filter(|before| before.trim_end().ends_with(':'))?;
    let start = Position { line, column: before.chars().count() as u32 + 1 };
    Some(outer.place(Span { start, end: start }))
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
    decoded(outer, outer.place(node.span), bytes?)
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
    decoded(outer, outer.place(node.span), bytes)
}

fn decoded(outer: &Document<'_>, place: Place, bytes: Vec<u8>) -> Content<Document<'static>> {
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return Err(Diagnostics::from(document_size(place)));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let (at, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let place = Place { decoded: read_file::excerpt(bytes, at), ..place.clone() };
        Diagnostics::from(read_file::encoding(bytes[at], place))
    })?;
    parse_text(&text, Lines::decoded(outer.lines(), place, &text).embedded())
        .map(Document::into_owned)
}

/// A fault in a value's text, placed at its character if the file shows it.
fn diagnostic(
    outer: &Document<'_>,
    node: &Node<'_>,
    text: &str,
    fault: &EncodingFault,
) -> Diagnostic {
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

/// How often [`shift`] compares each line, on average.
const LOOKS: u32 = 4;

/// The lines and columns from the start of the file to the start of a block scalar, whose lines stand
/// in the file unchanged, with equal indentation.
fn shift(outer: &Document<'_>, node: &Node<'_>, text: &str) -> Option<(u32, u32)> {
    if !matches!(node.value, Value::Scalar { plain: false, .. }) {
        return None;
    }
    let first = lines::split(text).position(|line| !line.trim().is_empty())?;
    let inner = lines::split(text).nth(first)?;
    let blank = first as u32;
    let span = node.span.start.line..=node.span.end.line;
    // Many places of a folded scalar may look like its beginning for long.
    let mut left = LOOKS * (1 + span.end() - span.start());
    // The span begins at an anchor, at the indicator or at a line of text.
    span.into_iter().find_map(|number| {
        let lines = number.checked_sub(blank + 1)?;
        let before = outer.lines().line(number).strip_suffix(inner)?;
        let is_indented = before.bytes().all(|byte| byte == b' ');
        let indent = before.len();
        // A folded scalar has other lines than the file.
        let is_same = (1..).zip(lines::split(text)).all(|(number, inner)| {
            let Some(fewer) = left.checked_sub(1) else { return false };
            left = fewer;
            let found = outer.lines().line(number + lines);
            found.get(indent..).map_or(inner.is_empty(), |found| found == inner)
        });
        (is_indented && is_same).then_some((lines, indent as u32))
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;
    use nmgen_document::text::Source;

    /// The rules of the faults, for a value of `a` in a document.
    fn found<T>(read: impl FnOnce(&Document<'_>, &Node<'_>) -> Content<T>) -> Vec<&'static str> {
        let source = Source { name: "".into(), text: "a: gzip".into() };
        let outer = nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
        let Some(node) = outer.root.get("a") else { unreachable!("a key") };
        let found = read(&outer, node).err();
        found.iter().flat_map(|faults| faults.iter()).map(|fault| fault.rule.name).collect()
    }

    #[test]
    fn a_document_in_a_value_has_the_bound_of_a_file() {
        for (size, expected) in
            [(MAX_DOCUMENT_BYTES, vec![]), (MAX_DOCUMENT_BYTES + 1, vec!["document-size"])]
        {
            let comment = "#".repeat(size);
            assert_eq!(found(|outer, node| text(outer, node, &comment)), expected);
            let encoded = STANDARD.encode(&comment);
            assert_eq!(found(|outer, node| base64(outer, node, &encoded)), expected);
        }
    }

    #[test]
    fn embedded_documents_have_the_values_of_their_file_together() {
        let entries: String = (0..98).map(|number| format!("k{number}: 1, ")).collect();
        let bomb = format!("a: &a {{{entries}}}\nb: [{}]\n", "*a, ".repeat(1_000));
        let encoded = STANDARD.encode(&bomb);
        let told = found(|outer, node| {
            text(outer, node, &bomb)?;
            base64(outer, node, &encoded)?;
            base64(outer, node, &encoded)
        });
        assert_eq!(told, ["alias-expansion"]);
        let told = found(|outer, node| base64(outer, node, &encoded));
        assert!(told.is_empty(), "{told:?}");
    }

    #[test]
    fn what_all_values_unpack_to_is_bounded() {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let packed = packer.write_all(b"# a comment\n").and_then(|()| packer.finish());
        let packed = packed.unwrap_or_else(|packed| unreachable!("{packed}"));
        let url = format!("data:;base64,{}", STANDARD.encode(packed));
        let size = b"# a comment\n".len();
        for (before, expected, after) in [
            (0, vec![], size),
            (MAX_FLEET_BYTES - size, vec![], MAX_FLEET_BYTES),
            (MAX_FLEET_BYTES - size + 1, vec!["document-size"], MAX_FLEET_BYTES + 1),
            (MAX_FLEET_BYTES, vec!["document-size"], MAX_FLEET_BYTES + size),
            // Told already.
            (MAX_FLEET_BYTES + 1, vec![], MAX_FLEET_BYTES + 1),
        ] {
            let mut unpacked = before;
            let told = found(|outer, node| data_url(outer, node, &url, Some(node), &mut unpacked));
            assert_eq!((told, unpacked), (expected, after), "{before}");
        }
    }

    #[test]
    fn a_fault_is_at_its_line_of_the_file_where_the_value_stands_there() {
        for (file, line, is_decoded) in [
            ("a: |\n  b: 1\n  b: 2\n", 3, false),
            ("a: |\n\n  b: 1\n  b: 2\n", 4, false),
            ("a: |-\n  b: 1\n\n  b: 2\nc: d\n", 4, false),
            ("e:\n  a: |\n     b: 1\n     b: 2\n", 4, false),
            ("a: &a |\n\n\n  b: 1\n  b: 2\n", 5, false),
            ("a: &a\n  # a comment\n  |\n  b: 1\n  b: 2\n", 5, false),
            ("a: !!str |2\n\n  b: 1\n  b: 2\n", 4, false),
            // The line of the key looks as the value's first one does.
            ("e:\n  a: |\n    a: |\n      text\n    a: b\n", 5, false),
            // Lines of the value that are not lines of the file.
            ("a: >\n  b: 1\n\n  b: 2\n", 2, true),
            ("a: \"b: 1\\nb: 2\"\n", 1, true),
        ] {
            let source = Source { name: "".into(), text: file.into() };
            let outer = nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
            let node = outer.root.get("a").or_else(|| outer.root.at(&["e", "a"]));
            let Some(node) = node else { unreachable!("a key") };
            let inner = text(&outer, node, node.text().unwrap_or_default());
            let Err(faults) = inner else { unreachable!("{file}") };
            let place = &faults[0].place;
            let at = place.position.as_ref().map(|at| at.start.line);
            assert_eq!((at, place.decoded.is_some()), (Some(line), is_decoded), "{file}");
        }
    }

    /// Lines with more indentation are not folded.
    #[test]
    fn the_search_for_the_lines_of_a_folded_text_is_bounded() {
        let file = format!("a: >2\n{}  b: 1\n  c\n", "   # a comment\n".repeat(200_000));
        let source = Source { name: "".into(), text: file.into() };
        let outer = nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
        let Some(node) = outer.root.get("a") else { unreachable!("a key") };
        assert_eq!(shift(&outer, node, node.text().unwrap_or_default()), None);
    }

    #[test]
    fn a_byte_that_is_no_text_is_shown_decoded() {
        let source = Source { name: "".into(), text: "a: gzip".into() };
        let outer = nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
        let found = base64(&outer, &outer.root, &STANDARD.encode(b"b: \xff\n"));
        let Err(faults) = found else { unreachable!("a fault") };
        let decoded = faults[0].place.decoded.as_ref();
        assert_eq!(decoded.map(|at| (at.start.line, at.start.column)), Some((1, 4)));
    }
}
