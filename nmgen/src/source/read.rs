//! Reads one file within bounds and as UTF-8.

use std::fs::File;
use std::io::{self, Read};
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

/// The largest file that describes a fleet: a thousand hosts take two to four MiB.
pub const MAX_FLEET_BYTES: usize = 16 << 20;

/// The most hosts, and the most YAML documents of a file: ten times the largest cluster of OpenShift.
pub const MAX_HOSTS: usize = 20_000;

pub(crate) const DOCUMENT_SIZE: Rule = Rule::error("document-size");
pub(crate) const ENCODING: Rule = Rule::error("encoding");
pub(crate) const BYTE_ORDER_MARK: Rule = Rule::warning("byte-order-mark");
pub(crate) const RULES: &[Rule] = &[DOCUMENT_SIZE, ENCODING, BYTE_ORDER_MARK];

/// What a file may hold, and so how large it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// One document.
    Document,
    /// One document, or manifests of a fleet, as far as its beginning tells.
    Any,
}

/// Reads the file of one document; `None` when the diagnostics say why there is nothing to use.
pub(crate) fn document(
    path: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Source>, Error> {
    file(path, Content::Document, diagnostics)
}

/// Reads `path` (`-`: standard input); `None` when the diagnostics say why there is nothing to use.
pub(super) fn file(
    path: &str,
    content: Content,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Source>, Error> {
    let name = if path == "-" { "<stdin>" } else { path };
    let (bytes, limit) = bounded_bytes(path, content)
        .map_err(|source| Error::ReadFile { path: name.to_owned(), source })?;
    if bytes.len() > limit {
        diagnostics.push(match limit {
            MAX_DOCUMENT_BYTES => document_size(Place::file(name)),
            _ => fleet_size("the file is larger than 16 MiB", Place::file(name)),
        });
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

pub(super) fn document_size(place: Place) -> Diagnostic {
    Diagnostic::new(DOCUMENT_SIZE, "the document is larger than 1 MiB", place)
        .help("a document describes one node; split a fleet into one file a host")
}

fn fleet_size(message: &str, place: Place) -> Diagnostic {
    Diagnostic::new(DOCUMENT_SIZE, message, place)
        .help("split it: several files can be given together")
}

pub(crate) fn too_many(place: Place) -> Diagnostic {
    let message = format!("there are more than {MAX_HOSTS} hosts or documents");
    Diagnostic::new(DOCUMENT_SIZE, message, place)
}

/// For what is compressed, or stands in one place and is meant in many.
pub(super) fn unpacked_size(place: Place) -> Diagnostic {
    let message = "up to here the documents are larger than 16 MiB";
    Diagnostic::new(DOCUMENT_SIZE, message, place)
}

/// At most one byte more than the limit, which is returned too, so that a larger file is noticed and never
/// held in memory.
fn bounded_bytes(path: &str, content: Content) -> io::Result<(Vec<u8>, usize)> {
    let mut reader: Box<dyn Read> = match path {
        "-" => Box::new(io::stdin().lock()),
        path => Box::new(File::open(path)?),
    };
    let mut bytes = Vec::new();
    let mut fill = |bytes: &mut Vec<u8>, limit: usize| {
        let more = limit + 1 - bytes.len();
        reader.by_ref().take(more as u64).read_to_end(bytes)
    };
    fill(&mut bytes, MAX_DOCUMENT_BYTES)?;
    let is_full = bytes.len() > MAX_DOCUMENT_BYTES;
    if content == Content::Document || !is_full || !is_manifest(&bytes) {
        return Ok((bytes, MAX_DOCUMENT_BYTES));
    }
    fill(&mut bytes, MAX_FLEET_BYTES)?;
    Ok((bytes, MAX_FLEET_BYTES))
}

fn is_manifest(bytes: &[u8]) -> bool {
    const KEY: &[u8] = b"apiVersion";
    bytes.windows(KEY.len()).any(|window| window.eq_ignore_ascii_case(KEY))
}

fn decode(name: &str, bytes: Vec<u8>) -> Result<(String, bool), Box<Diagnostic>> {
    if is_utf16(&bytes) {
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

/// By its mark; without one, by every second byte of its first two characters.
fn is_utf16(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [a, 0, b, 0, ..] | [0, a, 0, b, ..] => *a != 0 && *b != 0,
        _ => false,
    }
}

fn not_utf8(name: &str, error: &std::string::FromUtf8Error) -> Diagnostic {
    let (at, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
    let place = Place { position: Some(excerpt(bytes, at)), ..Place::file(name) };
    encoding(bytes[at], place)
}

pub(super) fn encoding(byte: u8, place: Place) -> Diagnostic {
    Diagnostic::new(ENCODING, format!("byte 0x{byte:02x} is not UTF-8"), place)
        .help("if the file is Windows-1252: iconv -f WINDOWS-1252 -t UTF-8")
}

/// The line around a byte that no text can have.
pub(super) fn excerpt(bytes: &[u8], at: usize) -> Excerpt {
    let line_start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |i| i + 1);
    let line_end =
        bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |i| at + i);
    let start = Position {
        line: bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u32 + 1,
        column: String::from_utf8_lossy(&bytes[line_start..at]).chars().count() as u32 + 1,
    };
    let line = String::from_utf8_lossy(&bytes[line_start..line_end]).into_owned();
    Excerpt { start, width: 1, line: line.into(), skipped: 0 }
}
