//! Bounds of the documents and bytes that a file expands to.

use crate::diagnostic::Diagnostic;
use crate::size::{DOCUMENT_SIZE, MAX_HOSTS};
use crate::text::place::Place;

/// The fault of a file with too many documents.
pub fn too_many(place: Place) -> Diagnostic {
    let message = format!("there are more than {MAX_HOSTS} hosts or documents");
    Diagnostic::new(DOCUMENT_SIZE, message, place)
}

/// For compressed values, and values repeated by aliases.
pub fn unpacked_size(place: Place) -> Diagnostic {
    let message = "the documents up to here exceed 32 MiB";
    Diagnostic::new(DOCUMENT_SIZE, message, place)
}
