//! Non-breaking spaces as nmstatectl reads them: its command line puts ordinary ones in their place before it parses.

use nmgen_document::diagnostic::{Diagnostics, rules};
use nmgen_document::text::lines::{self, Lines};
use nmgen_document::text::{Source, Span};

rules! {
    warning NON_BREAKING_SPACE_REPLACED = "non-breaking-space-replaced";
}

const SPACE: char = '\u{a0}';

/// The source with ordinary spaces; lines and columns stay the same.
pub(super) fn replaced(source: Source, diagnostics: &mut Diagnostics) -> Source {
    // Most texts have none.
    let Some(first) = source.text.find(SPACE) else { return source };
    if let Some(at) = lines::position(&source.text, first) {
        let count = source.text.matches(SPACE).count();
        let message = match count {
            1 => "a non-breaking space (U+00A0) is read as a space".to_owned(),
            more => {
                format!("{more} non-breaking spaces (U+00A0) are read as spaces; this is the first")
            }
        };
        let place = Lines::new(&source).place(Span { start: at, end: at });
        let help = "replace them all, they look the same: other readers of YAML refuse the text, or take them for text";
        diagnostics.add(NON_BREAKING_SPACE_REPLACED, place, message, help);
    }
    Source { text: source.text.replace(SPACE, " ").into(), ..source }
}
