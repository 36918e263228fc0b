//! A text without a YAML document: a file that was never filled in, a variable that is not set, standard input that is closed.

use crate::diagnostic::{Diagnostic, Place, rules};
use crate::text::{Source, lines};

rules! {
    error DOCUMENT_MISSING = "document-missing";
}

/// Values that programs write where there is none. nmstatectl refuses them.
const NULLS: &[&str] = &["null", "Null", "NULL", "~"];

/// The fault of a text of white space and comments alone, or of a written null. `---` begins a document, though an empty one.
pub fn fault(source: &Source) -> Option<Diagnostic> {
    let is_text = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let mut found = lines::split(&source.text).map(str::trim).filter(is_text);
    let is_absent = match (found.next(), found.next()) {
        (None, _) => true,
        (Some(line), None) | (Some("---"), Some(line)) => {
            NULLS.contains(&line.strip_prefix("---").unwrap_or(line).trim())
        }
        (Some(_), Some(_)) => false,
    };
    (is_absent && found.next().is_none()).then(|| {
        let place = Place::file(source.name.clone());
        Diagnostic::new(DOCUMENT_MISSING, "the document is empty", place)
            .help("is the variable set, and the file filled in? `interfaces: []` configures nothing on purpose")
    })
}
