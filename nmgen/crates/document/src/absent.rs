//! A text without a YAML document: a file that was never filled in, a variable that is not set, standard input that is closed.

use crate::diagnostic::{Diagnostic, Place, rules};
use crate::text::{Source, lines};

rules! {
    error DOCUMENT_MISSING = "document-missing";
}

/// The fault of a text of white space and comments alone. `---` begins a document, though an empty one.
pub fn fault(source: &Source) -> Option<Diagnostic> {
    let is_nothing = |line: &str| line.is_empty() || line.starts_with('#');
    lines::split(&source.text).all(|line| is_nothing(line.trim())).then(|| {
        let place = Place::file(source.name.clone());
        Diagnostic::new(DOCUMENT_MISSING, "the document is empty", place)
            .help("is the variable set, and the file filled in? `interfaces: []` configures nothing on purpose")
    })
}
