//! A part of a document as a document of its own.

use crate::document::parsed::Document;
use crate::document::tree::Node;
use crate::text::lines::Lines;

impl Document<'_> {
    /// The subtree as a document.
    pub(crate) fn part<'p>(&self, root: Node<'p>) -> Document<'p> {
        Document { lines: self.lines.clone(), is_part: true, root }
    }

    /// The lines of its places.
    pub(crate) fn lines(&self) -> &Lines {
        &self.lines
    }
}
