//! Reads one file: bounded, and as UTF-8.

use std::io::{self, Read};
use std::path::Path;

use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Excerpt, Place, rules};
use nmgen_document::error::Error;
use nmgen_document::size::{MAX_DOCUMENT_BYTES, document_size, fleet_size};
use nmgen_document::text::lines::{self, Lines};
use nmgen_document::text::{Source, Span};

use super::bounded;

rules! {
    error ENCODING = "encoding";
    warning BYTE_ORDER_MARK = "byte-order-mark";
}

/// The size limit of a file, given its first [`MAX_DOCUMENT_BYTES`].
pub type Limit = fn(&[u8]) -> usize;

/// The mark of the byte order.
const MARK: char = '\u{feff}';

/// Reads a file of one document; `None` if it is unusable, which the diagnostics report.
pub fn document(path: &str, diagnostics: &mut Diagnostics) -> Result<Option<Source>, Error> {
    file(path, |_| MAX_DOCUMENT_BYTES, diagnostics)
}

/// Reads `path` (`-`: standard input); `None` if it is unusable, which the diagnostics report.
pub fn file(
    path: &str,
    limit: Limit,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Source>, Error> {
    let name = if path == "-" { "<stdin>" } else { path };
    let (bytes, limit) = bounded_bytes(path, limit)
        .map_err(|source| Error::ReadFile { path: name.to_owned(), source })?;
    if bytes.len() > limit {
        diagnostics.push(match limit {
            MAX_DOCUMENT_BYTES => document_size(Place::file(name)),
            _ => fleet_size("the file is larger than 32 MiB", Place::file(name)),
        });
        return Ok(None);
    }
    match decode(name, bytes) {
        Ok((text, had_mark)) => {
            if had_mark {
                let message = "the file begins with a byte-order mark";
                let help = "nmgen removes it; save the file as UTF-8 without it";
                diagnostics.add(BYTE_ORDER_MARK, Place::file(name), message, help);
            }
            Ok(Some(Source { name: name.into(), text: text.into() }))
        }
        Err(diagnostic) => {
            diagnostics.push(*diagnostic);
            Ok(None)
        }
    }
}

/// The bytes up to one beyond the limit, and the limit: so a larger file is detected without holding
/// it in memory.
fn bounded_bytes(path: &str, limit: Limit) -> io::Result<(Vec<u8>, usize)> {
    let mut reader: Box<dyn Read> = match path {
        "-" => Box::new(io::stdin().lock()),
        path => Box::new(bounded::open(Path::new(path))?),
    };
    let mut bytes = Vec::new();
    let mut fill = |bytes: &mut Vec<u8>, limit: usize| {
        let more = limit + 1 - bytes.len();
        reader.by_ref().take(more as u64).read_to_end(bytes)
    };
    fill(&mut bytes, MAX_DOCUMENT_BYTES)?;
    if bytes.len() <= MAX_DOCUMENT_BYTES {
        return Ok((bytes, MAX_DOCUMENT_BYTES));
    }
    let limit = limit(&bytes);
    fill(&mut bytes, limit)?;
    Ok((bytes, limit))
}

fn decode(name: &str, bytes: Vec<u8>) -> Result<(String, bool), Box<Diagnostic>> {
    if is_utf16(&bytes) {
        return Err(Box::new(
            Diagnostic::new(ENCODING, "the file is UTF-16, not UTF-8", Place::file(name))
                .help("convert it: iconv -f UTF-16 -t UTF-8"),
        ));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| Box::new(not_utf8(name, &error)))?;
    let had_mark = text.starts_with(MARK);
    // To nmstate's tools a second one is text: both are refused as the document's.
    if had_mark && !text[MARK.len_utf8()..].starts_with(MARK) {
        text.remove(0);
    }
    Ok((text, had_mark))
}

/// By the byte-order mark; without one, by NUL bytes in the first two characters.
fn is_utf16(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [a, 0, b, 0, ..] | [0, a, 0, b, ..] => *a != 0 && *b != 0,
        _ => false,
    }
}

fn not_utf8(name: &str, error: &std::string::FromUtf8Error) -> Diagnostic {
    let (at, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
    let place = Place { position: excerpt(bytes, at), ..Place::file(name) };
    encoding(bytes[at], place)
}

/// The fault of a byte that is not UTF-8.
pub fn encoding(byte: u8, place: Place) -> Diagnostic {
    Diagnostic::new(ENCODING, format!("byte 0x{byte:02x} is not UTF-8"), place)
        .help("if the file is Windows-1252: iconv -f WINDOWS-1252 -t UTF-8")
}

/// The line around an invalid byte.
pub fn excerpt(bytes: &[u8], at: usize) -> Option<Excerpt> {
    // Before that byte, the text is as it was.
    let text = String::from_utf8_lossy(bytes);
    let start = lines::position(&text, at)?;
    let source = Source { name: "".into(), text: text.into() };
    Lines::new(&source).place(Span { start, end: start }).position
}

#[cfg(test)]
mod tests {
    use super::{document, is_utf16};
    use nmgen_document::diagnostic::Diagnostics;
    use nmgen_document::size::MAX_DOCUMENT_BYTES;

    #[test]
    fn a_file_has_at_most_the_limit() -> Result<(), Box<dyn std::error::Error>> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("a.yml").display().to_string();
        for (size, is_read) in [(MAX_DOCUMENT_BYTES, true), (MAX_DOCUMENT_BYTES + 1, false)] {
            std::fs::write(&path, "#".repeat(size))?;
            let mut diagnostics = Diagnostics::default();
            let read = document(&path, &mut diagnostics)?;
            assert_eq!((read.is_some(), diagnostics.is_empty()), (is_read, is_read), "{size}");
        }
        Ok(())
    }

    #[test]
    fn utf_16_is_known_by_its_mark_or_by_every_second_byte() {
        for text in [&b"\xff\xfea\0"[..], b"\xfe\xff\0a", b"a\0b\0", b"\0a\0b"] {
            assert!(is_utf16(text), "{text:?}");
        }
        for text in [&b""[..], b"a", b"ab", b"abcd", b"a\0\0\0", b"\0\0\0a", b"\0\0b\0"] {
            assert!(!is_utf16(text), "{text:?}");
        }
    }
}
