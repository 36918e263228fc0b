//! Bounds of documents and files.

use crate::diagnostic::{Diagnostic, rules};
use crate::parsed::Document;
use crate::text::place::Place;

/// The largest document: two hundred times a large node's, and small enough to protect a pipeline's
/// memory.
pub const MAX_DOCUMENT_BYTES: usize = 1 << 20;

/// The most interfaces of a document: a real host has tens, and one with a thousand containers, whose state somebody captured, a
/// thousand. nmstate's conversion takes 24 KiB of memory for each. `nmgen boot` takes 90 MB for so many interfaces with all the
/// values that there may be, and 112 MB for 28,000 addresses of one interface, as many as 1 MiB has.
pub const MAX_INTERFACES: usize = 1_500;

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

/// The fault of a document with too many interfaces, a policy's too.
pub fn too_many_interfaces(document: &Document<'_>) -> Option<Diagnostic> {
    let lists: [&[&str]; 3] =
        [&["interfaces"], &["desiredState", "interfaces"], &["desired", "interfaces"]];
    let list = lists.iter().filter_map(|keys| document.root.at(keys));
    let surplus = list.filter_map(|list| list.items().get(MAX_INTERFACES)).next()?;
    let message = format!("the document has more than {MAX_INTERFACES} interfaces");
    let place = document.place(surplus.span);
    Some(Diagnostic::new(DOCUMENT_SIZE, message, place).help("a document describes one node"))
}

/// The fault of a file of a fleet that is too large.
pub fn fleet_size(message: &str, place: Place) -> Diagnostic {
    Diagnostic::new(DOCUMENT_SIZE, message, place)
        .help("split it: several files can be given together")
}
