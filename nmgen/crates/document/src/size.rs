//! Bounds of documents and files.

use crate::diagnostic::{Diagnostic, rules};
use crate::text::place::Place;

/// The largest document: two hundred times a large node's, and small enough to protect a pipeline's
/// memory.
pub const MAX_DOCUMENT_BYTES: usize = 1 << 20;

/// The largest file of a fleet: ten thousand hosts take 14 to 30 MiB.
pub const MAX_FLEET_BYTES: usize = 32 << 20;

/// The most hosts, and the most YAML documents of a file: ten times OpenShift's largest cluster.
pub const MAX_HOSTS: usize = 20_000;

rules! {
    pub(super) error DOCUMENT_SIZE = "document-size";
}

/// The fault of a document that is too large.
pub fn document_size(place: Place) -> Diagnostic {
    Diagnostic::new(DOCUMENT_SIZE, "the document is larger than 1 MiB", place)
        .help("a document describes one node; split a fleet into one file a host")
}

/// The fault of a file of a fleet that is too large.
pub fn fleet_size(message: &str, place: Place) -> Diagnostic {
    Diagnostic::new(DOCUMENT_SIZE, message, place)
        .help("split it: several files can be given together")
}
