//! A part of a document as a document of its own.

use crate::parsed::Document;
use crate::text::lines::Lines;
use crate::tree::Node;

impl Document<'_> {
    /// The subtree as a document.
    pub fn part<'p>(&self, root: Node<'p>) -> Document<'p> {
        Document { lines: self.lines.clone(), is_part: true, root }
    }

    /// The lines of its places.
    pub fn lines(&self) -> &Lines {
        &self.lines
    }
}
