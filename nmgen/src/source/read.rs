//! Reads one file within bounds and as UTF-8.

use std::io::Read;
use std::sync::Arc;

use super::Source;
use crate::diagnostic::{Diagnostic, Excerpt, Place, Rule};
use crate::document::Position;
use crate::error::Error;

/// A document's text, shared by every diagnostic that quotes it.
pub type Text = Arc<str>;

/// The largest document: two hundred times what a large node needs, and small enough that a
/// pipeline can't be made to run out of memory.
pub const MAX_DOCUMENT_BYTES: usize = 1 << 20;

pub(crate) const DOCUMENT_SIZE: Rule = Rule::error("document-size");
pub(crate) const ENCODING: Rule = Rule::error("encoding");
pub(crate) const BYTE_ORDER_MARK: Rule = Rule::warning("byte-order-mark");
pub(crate) const RULES: &[Rule] = &[DOCUMENT_SIZE, ENCODING, BYTE_ORDER_MARK];

/// Reads `path` (`-`: standard input); `None` when the diagnostics say why there is nothing to use.
pub(super) fn file(path: &str, diagnostics: &mut Vec<Diagnostic>) -> Result<Option<Source>, Error> {
    let name = if path == "-" { "<stdin>" } else { path };
    let bytes =
        bounded_bytes(path).map_err(|source| Error::ReadFile { path: name.to_owned(), source })?;
    if bytes.len() > MAX_DOCUMENT_BYTES {
        diagnostics.push(
            Diagnostic::new(DOCUMENT_SIZE, "the document is larger than 1 MiB", Place::file(name))
                .help("a document describes one node; split a fleet into one file a host"),
        );
        return Ok(None);
    }
    match decode(name, bytes) {
        Ok((text, had_mark)) => {
            if had_mark {
                diagnostics.push(
                    Diagnostic::new(
                        BYTE_ORDER_MARK,
                        "the file begins with a byte-order mark",
                        Place::file(name),
                    )
                    .help("it is left out here; save the file as UTF-8 without it"),
                );
            }
            Ok(Some(Source { name: name.into(), text: text.into() }))
        }
        Err(diagnostic) => {
            diagnostics.push(*diagnostic);
            Ok(None)
        }
    }
}

/// At most one byte more than allowed, so that a larger file is noticed and never held in memory.
fn bounded_bytes(path: &str) -> std::io::Result<Vec<u8>> {
    let limit = MAX_DOCUMENT_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    if path == "-" {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn decode(name: &str, bytes: Vec<u8>) -> Result<(String, bool), Box<Diagnostic>> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Box::new(
            Diagnostic::new(ENCODING, "the file is UTF-16, not UTF-8", Place::file(name))
                .help("convert it: iconv -f UTF-16 -t UTF-8"),
        ));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| Box::new(not_utf8(name, &error)))?;
    let had_mark = text.starts_with('\u{feff}');
    if had_mark {
        text.remove(0);
    }
    Ok((text, had_mark))
}

fn not_utf8(name: &str, error: &std::string::FromUtf8Error) -> Diagnostic {
    let at = error.utf8_error().valid_up_to();
    let bytes = error.as_bytes();
    let line_start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |i| i + 1);
    let line_end =
        bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |i| at + i);
    let start = Position {
        line: bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u32 + 1,
        column: String::from_utf8_lossy(&bytes[line_start..at]).chars().count() as u32 + 1,
    };
    let line = String::from_utf8_lossy(&bytes[line_start..line_end]).into_owned();
    let place = Place {
        file: name.into(),
        position: Some(Excerpt { start, width: 1, line: line.into() }),
        decoded: None,
    };
    Diagnostic::new(ENCODING, format!("byte 0x{:02x} is not UTF-8", bytes[at]), place)
        .help("if the file is Windows-1252: iconv -f WINDOWS-1252 -t UTF-8")
}
