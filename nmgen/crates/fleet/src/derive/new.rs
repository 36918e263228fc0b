//! New values of a derived document.

use std::borrow::Cow;

use nmgen_document::text::Span;
use nmgen_document::{Entry, Node, Value};

/// Text that needs no quotes.
pub(crate) fn word(text: impl Into<Cow<'static, str>>, span: Span) -> Node<'static> {
    Node { span, value: Value::Scalar { text: text.into(), plain: true } }
}

/// Text in quotes, which no reader takes for a number.
pub(crate) fn text(text: impl Into<Cow<'static, str>>, span: Span) -> Node<'static> {
    Node { span, value: Value::Scalar { text: text.into(), plain: false } }
}

pub(crate) fn entry(key: &'static str, node: Node<'static>) -> Entry<'static> {
    Entry { key: Cow::Borrowed(key), key_span: node.span, node }
}

pub(crate) fn mapping(entries: Vec<Entry<'static>>, span: Span) -> Node<'static> {
    Node { span, value: Value::Mapping(entries) }
}

pub(crate) fn list(items: Vec<Node<'static>>, span: Span) -> Node<'static> {
    Node { span, value: Value::Sequence(items) }
}

/// An interface that is up.
pub(crate) fn up(
    name: &str,
    kind: &'static str,
    span: Span,
    rest: impl IntoIterator<Item = Entry<'static>>,
) -> Node<'static> {
    let name = entry("name", name_node(name, span));
    let head = [name, entry("type", word(kind, span)), entry("state", word("up", span))];
    mapping(head.into_iter().chain(rest).collect(), span)
}

/// `enabled: false`.
pub(crate) fn disabled(span: Span) -> Node<'static> {
    mapping(vec![entry("enabled", word("false", span))], span)
}

/// `name: NAME`.
pub(crate) fn named(name: &str, span: Span) -> Node<'static> {
    mapping(vec![entry("name", name_node(name, span))], span)
}

/// An interface's name, quoted if YAML could take it for something else.
pub(crate) fn name_node(name: &str, span: Span) -> Node<'static> {
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.contains(|c: char| c.is_ascii_digit() || c == '-');
    let name = name.to_owned();
    if is_word { word(name, span) } else { text(name, span) }
}
