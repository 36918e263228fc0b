//! A YAML document as a tree in which every value knows where it stands.
//!
//! nmstate decides what a document means: it reads this tree by serde, so that what was checked is what
//! it gets.

mod deserialize;
mod dialect;
mod lines;
mod merge;
mod parse;
mod path;
mod render;
mod scalar;
mod space;
mod stream;

use std::borrow::Cow;

pub(crate) use self::lines::Lines;
pub(crate) use self::parse::{RULES, dialect_fault, parse, parse_text};
pub(crate) use self::path::{Path, Step};
pub(crate) use self::stream::parse_stream;
use crate::diagnostic::Place;
use crate::source::Source;

/// A position in a file: line and column from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

/// From the first character to the one behind the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first character.
    pub(crate) start: Position,
    /// Behind the last character.
    pub(crate) end: Position,
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node<'t> {
    /// Where it stands; of a block mapping or sequence only the start is meant.
    pub(crate) span: Span,
    /// What stands there.
    pub(crate) value: Value<'t>,
}

/// The three kinds of YAML values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'t> {
    /// A scalar, as it stands in the text after unquoting and unescaping.
    Scalar {
        /// The text.
        text: Cow<'t, str>,
        /// Neither quoted nor a block scalar: may mean null, a number or a boolean.
        plain: bool,
    },
    /// A list.
    Sequence(Vec<Node<'t>>),
    /// Keys and values in their order; no key occurs twice.
    Mapping(Vec<Entry<'t>>),
}

/// A key, its place and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry<'t> {
    /// The key.
    pub(crate) key: Cow<'t, str>,
    /// The key's place.
    pub(crate) key_span: Span,
    /// The value.
    pub(crate) node: Node<'t>,
}

impl<'t> Node<'t> {
    /// The same, independent of the text.
    pub(crate) fn into_owned(self) -> Node<'static> {
        let owned = |text: Cow<'t, str>| Cow::Owned(text.into_owned());
        let value = match self.value {
            Value::Scalar { text, plain } => Value::Scalar { text: owned(text), plain },
            Value::Sequence(items) => {
                Value::Sequence(items.into_iter().map(Node::into_owned).collect())
            }
            Value::Mapping(entries) => Value::Mapping(
                entries
                    .into_iter()
                    .map(|Entry { key, key_span, node }| Entry {
                        key: owned(key),
                        key_span,
                        node: node.into_owned(),
                    })
                    .collect(),
            ),
        };
        Node { span: self.span, value }
    }

    /// True when the two say the same, wherever they stand and in whatever order their keys are.
    pub(crate) fn means_the_same(&self, other: &Node<'_>) -> bool {
        match (&self.value, &other.value) {
            (Value::Scalar { text, .. }, Value::Scalar { text: other, .. }) => text == other,
            (Value::Sequence(items), Value::Sequence(others)) => {
                let pairs = items.iter().zip(others);
                items.len() == others.len() && pairs.into_iter().all(|(a, b)| a.means_the_same(b))
            }
            (Value::Mapping(entries), Value::Mapping(others)) => {
                let has_it = |entry: &Entry<'_>| {
                    other
                        .entry(&entry.key)
                        .is_some_and(|found| entry.node.means_the_same(&found.node))
                };
                entries.len() == others.len() && entries.iter().all(has_it)
            }
            _ => false,
        }
    }

    /// The entries of a mapping; none for anything else.
    pub(crate) fn entries(&self) -> &[Entry<'t>] {
        match &self.value {
            Value::Mapping(entries) => entries,
            Value::Scalar { .. } | Value::Sequence(_) => &[],
        }
    }

    /// The items of a sequence; none for anything else.
    pub(crate) fn items(&self) -> &[Node<'t>] {
        match &self.value {
            Value::Sequence(items) => items,
            Value::Scalar { .. } | Value::Mapping(_) => &[],
        }
    }

    /// The entry with this key.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry<'t>> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The value under this key, unless it is null.
    pub(crate) fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.entry(key).map(|entry| &entry.node).filter(|node| !node.is_null())
    }

    /// The value at the end of a chain of keys.
    pub(crate) fn at(&self, keys: &[&str]) -> Option<&Node<'t>> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// A scalar's text, quoted or not; `None` for null, lists and mappings.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } if !self.is_null() => Some(text),
            Value::Scalar { .. } | Value::Sequence(_) | Value::Mapping(_) => None,
        }
    }

    /// The text of the scalar under this key.
    pub(crate) fn text_at(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// A number as nmstate reads one: decimal or `0x` hexadecimal, quoted or not.
    pub(crate) fn number(&self) -> Option<u64> {
        let text = self.text()?;
        match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    }

    /// A boolean as nmstate reads one.
    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.text()?.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" | "y" => Some(true),
            "0" | "false" | "no" | "off" | "n" => Some(false),
            _ => None,
        }
    }

    /// True for YAML's null.
    pub(crate) fn is_null(&self) -> bool {
        match &self.value {
            Value::Scalar { text, plain: true } => {
                matches!(text.as_ref(), "" | "~" | "null" | "Null" | "NULL")
            }
            Value::Scalar { .. } | Value::Sequence(_) | Value::Mapping(_) => false,
        }
    }

    /// The same as [`Self::find`], to change the tree.
    pub(crate) fn find_mut(&mut self, path: &Path) -> Option<&mut Self> {
        path.steps().iter().try_fold(self, |node, step| match (&mut node.value, step) {
            (Value::Mapping(entries), Step::Key(key)) => {
                entries.iter_mut().find(|entry| entry.key == **key).map(|entry| &mut entry.node)
            }
            (Value::Sequence(items), Step::Index(index)) => items.get_mut(*index),
            _ => None,
        })
    }

    /// The value at the end of the path.
    pub(crate) fn find(&self, path: &Path) -> Option<&Node<'t>> {
        path.steps().iter().try_fold(self, |node, step| match step {
            Step::Key(key) => node.entry(key).map(|entry| &entry.node),
            Step::Index(index) => node.items().get(*index),
        })
    }
}

/// One parsed document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document<'t> {
    lines: Lines,
    is_part: bool,
    /// Its root; a null scalar when the document is empty.
    pub(crate) root: Node<'t>,
}

impl<'t> Document<'t> {
    /// The same, independent of the text.
    pub(crate) fn into_owned(self) -> Document<'static> {
        Document { lines: self.lines, is_part: self.is_part, root: self.root.into_owned() }
    }

    /// The same with its merge keys resolved: not for NMState, which has none.
    pub(crate) fn merged(mut self) -> Self {
        merge::merge(&mut self.root);
        self
    }

    /// A part of it as a document of its own.
    pub(crate) fn part(&self, root: Node<'t>) -> Self {
        Self { lines: self.lines.clone(), is_part: true, root }
    }

    /// The document's text: as it was written, or, of a part of another document, written anew.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self.is_part {
            true => Cow::Owned(render::render(&self.root)),
            false => Cow::Borrowed(&self.lines.source().text),
        }
    }

    pub(crate) fn lines(&self) -> &Lines {
        &self.lines
    }

    /// The text that it was read from, or of which it is a part; its name is the file's.
    pub(crate) fn source(&self) -> &Source {
        self.lines.source()
    }

    /// The place of a span, with the line that it stands on.
    pub(crate) fn place(&self, span: Span) -> Place {
        self.lines.place(span)
    }

    /// The place to show for the value at `path`: the value itself where it is a scalar, else its key.
    pub(crate) fn place_at(&self, path: &Path) -> Place {
        let scalar = |node: &Node<'_>| matches!(node.value, Value::Scalar { .. });
        match self.root.find(path) {
            Some(node) if scalar(node) && !node.is_null() => self.place(node.span),
            found => {
                self.place(self.key_span(path).or(found.map(|n| n.span)).unwrap_or(self.root.span))
            }
        }
    }

    /// The place of the key at the end of `path`.
    pub(crate) fn key_span(&self, path: &Path) -> Option<Span> {
        let (last, parent) = path.split_last()?;
        let parent = self.root.find(&parent)?;
        match last {
            Step::Key(key) => parent.entry(key).map(|entry| entry.key_span),
            Step::Index(index) => parent.items().get(*index).map(first_line),
        }
    }
}

/// An item of a list of mappings is shown by its first key.
fn first_line(node: &Node<'_>) -> Span {
    node.entries().first().map_or(node.span, |entry| entry.key_span)
}
