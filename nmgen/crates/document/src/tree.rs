//! The tree: values with positions.

use std::borrow::Cow;

use super::path::{Path, Step};
use crate::mac::Mac;
use crate::text::{Span, secret};

/// A value and its span.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'t> {
    /// Its span; of a block mapping or sequence only the start is used.
    pub span: Span,
    /// The value.
    pub value: Value<'t>,
}

/// The three kinds of YAML values.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'t> {
    /// A scalar, unquoted and unescaped.
    Scalar {
        /// The text.
        text: Cow<'t, str>,
        /// Neither quoted nor a block scalar: may be null, a number or a boolean.
        plain: bool,
    },
    /// A list.
    Sequence(Vec<Node<'t>>),
    /// Keys and values in the document's order; keys are unique.
    Mapping(Vec<Entry<'t>>),
}

/// A key, its span and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'t> {
    /// The key.
    pub key: Cow<'t, str>,
    /// The key's span.
    pub key_span: Span,
    /// The value.
    pub node: Node<'t>,
}

impl<'t> Entry<'t> {
    /// Returns the key with another value, without a copy of its own.
    #[must_use]
    pub fn with(&self, node: Node<'t>) -> Self {
        Self { key: self.key.clone(), key_span: self.key_span, node }
    }
}

impl<'t> Node<'t> {
    /// A copy that doesn't borrow from the text.
    pub fn into_owned(self) -> Node<'static> {
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

    /// The value with [`secret::HIDDEN`] in place of every secret, or of every scalar; in a section that has secrets, unknown keys
    /// have some.
    pub fn without_secrets(self, is_secret: bool, is_section: bool) -> Self {
        let value = match self.value {
            Value::Scalar { .. } if is_secret => {
                Value::Scalar { text: Cow::Borrowed(secret::HIDDEN), plain: false }
            }
            Value::Scalar { text, plain } => {
                Value::Scalar { text: secret::shown_value(text), plain }
            }
            Value::Sequence(items) => Value::Sequence(
                items.into_iter().map(|item| item.without_secrets(is_secret, false)).collect(),
            ),
            Value::Mapping(entries) => {
                let hidden = |Entry { key, key_span, node }: Entry<'t>| {
                    let is_unknown = is_section && !secret::is_harmless(&key);
                    let is_key = secret::is_key(&key)
                        && !node.text().is_some_and(|text| secret::is_public(&key, text));
                    let is_secret = is_secret || is_unknown || is_key;
                    let node = node.without_secrets(is_secret, secret::is_section(&key));
                    Entry { key: secret::shown_key(&key).into(), key_span, node }
                };
                Value::Mapping(entries.into_iter().map(hidden).collect())
            }
        };
        Self { span: self.span, value }
    }

    /// The value, moved out of its place, which keeps its span.
    pub fn take(&mut self) -> Self {
        let nothing = Value::Scalar { text: Cow::Borrowed(""), plain: true };
        Self { span: self.span, value: std::mem::replace(&mut self.value, nothing) }
    }

    /// True for equal content, regardless of positions and the order of keys.
    pub fn means_the_same(&self, other: &Node<'_>) -> bool {
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

    /// A mapping's entries; none for other values.
    pub fn entries(&self) -> &[Entry<'t>] {
        match &self.value {
            Value::Mapping(entries) => entries,
            Value::Scalar { .. } | Value::Sequence(_) => &[],
        }
    }

    /// A sequence's items; none for other values.
    pub fn items(&self) -> &[Node<'t>] {
        match &self.value {
            Value::Sequence(items) => items,
            Value::Scalar { .. } | Value::Mapping(_) => &[],
        }
    }

    /// The values of a mapping or the items of a list.
    pub fn below(&self) -> impl Iterator<Item = &Node<'t>> {
        self.entries().iter().map(|entry| &entry.node).chain(self.items())
    }

    /// The entry with this key.
    pub fn entry(&self, key: &str) -> Option<&Entry<'t>> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The value under this key, unless it is null.
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.entry(key).map(|entry| &entry.node).filter(|node| !node.is_null())
    }

    /// The value at the end of a chain of keys.
    pub fn at(&self, keys: &[&str]) -> Option<&Node<'t>> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The items of the list at the end of a chain of keys; none for other values.
    pub fn items_at(&self, keys: &[&str]) -> &[Node<'t>] {
        self.at(keys).map(Node::items).unwrap_or_default()
    }

    /// The number at the end of a chain of keys.
    pub fn number_at(&self, keys: &[&str]) -> Option<u64> {
        self.at(keys)?.number()
    }

    /// True for a boolean at the end of a chain of keys that is set.
    pub fn is_on(&self, keys: &[&str]) -> bool {
        self.at(keys).and_then(Node::boolean) == Some(true)
    }

    /// A scalar's text; `None` for null, lists and mappings.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } if !self.is_null() => Some(text),
            Value::Scalar { .. } | Value::Sequence(_) | Value::Mapping(_) => None,
        }
    }

    /// The text of the scalar under this key.
    pub fn text_at(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// The MAC address under this key, if valid.
    pub fn mac_at(&self, key: &str) -> Option<Mac> {
        self.text_at(key).and_then(Mac::parse)
    }

    /// A number as nmstate accepts it: decimal or `0x` hexadecimal, quoted or not.
    pub fn number(&self) -> Option<u64> {
        let text = self.text()?;
        match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    }

    /// A boolean as nmstate accepts it.
    pub fn boolean(&self) -> Option<bool> {
        match self.text()?.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" | "y" => Some(true),
            "0" | "false" | "no" | "off" | "n" => Some(false),
            _ => None,
        }
    }

    /// True for YAML's null.
    pub fn is_null(&self) -> bool {
        match &self.value {
            Value::Scalar { text, plain: true } => {
                matches!(text.as_ref(), "" | "~" | "null" | "Null" | "NULL")
            }
            Value::Scalar { .. } | Value::Sequence(_) | Value::Mapping(_) => false,
        }
    }

    /// Like [`Self::find`], mutable.
    pub fn find_mut(&mut self, path: &Path) -> Option<&mut Self> {
        path.steps().iter().try_fold(self, |node, step| match (&mut node.value, step) {
            (Value::Mapping(entries), Step::Key(key)) => {
                entries.iter_mut().find(|entry| entry.key == **key).map(|entry| &mut entry.node)
            }
            (Value::Sequence(items), Step::Index(index)) => items.get_mut(*index),
            _ => None,
        })
    }

    /// Like [`Self::items_at`], mutable.
    pub fn items_mut_at(&mut self, keys: &[&str]) -> &mut [Self] {
        let path = keys.iter().fold(Path::default(), |path, key| path.key(key));
        match self.find_mut(&path).map(|node| &mut node.value) {
            Some(Value::Sequence(items)) => items,
            _ => &mut [],
        }
    }

    /// The value at the end of the path.
    pub fn find(&self, path: &Path) -> Option<&Node<'t>> {
        path.steps().iter().try_fold(self, |node, step| match step {
            Step::Key(key) => node.entry(key).map(|entry| &entry.node),
            Step::Index(index) => node.items().get(*index),
        })
    }
}
