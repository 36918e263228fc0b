//! A parsed document: its tree, and the lines of its places.

use std::borrow::Cow;

use super::path::{Path, Step};
use super::render;
use super::tree::{Node, Value};
use crate::text::lines::Lines;
use crate::text::place::Place;
use crate::text::{Source, Span};

/// One parsed document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document<'t> {
    pub(super) lines: Lines,
    /// A part of another document is rendered when its text is needed.
    pub(super) is_part: bool,
    /// The root; a null scalar for an empty document.
    pub root: Node<'t>,
}

impl<'t> Document<'t> {
    /// A copy that doesn't borrow from the text.
    pub fn into_owned(self) -> Document<'static> {
        Document { lines: self.lines, is_part: self.is_part, root: self.root.into_owned() }
    }

    /// The document's text: the original, or rendered for a part of another document.
    pub fn text(&self) -> Cow<'_, str> {
        match self.is_part {
            true => Cow::Owned(render::render(&self.root)),
            false => Cow::Borrowed(&self.lines.source().text),
        }
    }

    /// The document as every output shows it: without secrets.
    #[must_use]
    pub fn shown(&self) -> Self {
        let Self { lines, is_part, root } = self.clone();
        Self { lines, is_part, root: root.without_secrets(false, false) }
    }

    /// The kernel interface with this name, and its index.
    pub fn interface(&self, name: &str) -> Option<(usize, &Node<'t>)> {
        let nodes = self.root.get("interfaces")?.items().iter().enumerate();
        let mut named = nodes.filter(|(_, node)| node.text_at("name") == Some(name));
        // An ovs-bridge may share another interface's name.
        named.find(|(_, node)| node.text_at("type") != Some("ovs-bridge"))
    }

    /// The text that contains the document; its name is the file's.
    pub fn source(&self) -> &Source {
        self.lines.source()
    }

    /// The place of a span, with its line.
    pub fn place(&self, span: Span) -> Place {
        self.lines.place(span)
    }

    /// The place to show for the value at `path`: a scalar itself, else the key.
    pub fn place_at(&self, path: &Path) -> Place {
        let scalar = |node: &Node<'_>| matches!(node.value, Value::Scalar { .. });
        match self.root.find(path) {
            Some(node) if scalar(node) && !node.is_null() => self.place(node.span),
            found => {
                self.place(self.key_span(path).or(found.map(|n| n.span)).unwrap_or(self.root.span))
            }
        }
    }

    /// The place of the key at the end of `path`.
    pub fn key_span(&self, path: &Path) -> Option<Span> {
        let (last, parent) = path.split_last()?;
        let parent = self.root.find(&parent)?;
        match last {
            Step::Key(key) => parent.entry(key).map(|entry| entry.key_span),
            Step::Index(index) => parent.items().get(*index).map(first_line),
        }
    }
}

/// An item of a list of mappings is shown at its first key.
fn first_line(node: &Node<'_>) -> Span {
    node.entries().first().map_or(node.span, |entry| entry.key_span)
}
