//! What the captures of a NetworkPolicy will not find.

use nmgen_document::Document;
use nmgen_document::diagnostic::Diagnostics;

use crate::source;

pub(super) fn check(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    let Some(captures) = document.root.get("capture") else { return };
    diagnostics.extend(source::of_captures(captures, |node| document.place(node.span)));
}
