//! Renders a tree as YAML, for parts of other documents.

use std::fmt::Write;

use super::scalar::Scalar;
use super::tree::{Node, Value};
use super::yaml_1_1;

/// Block style, two spaces per level, in the tree's order. Plain scalars stay plain and quoted ones
/// quoted, so that every reader sees the same types. Ends in a line break.
pub(super) fn render(root: &Node<'_>) -> String {
    let mut text = String::new();
    match &root.value {
        Value::Scalar { .. } => line(&mut text, root),
        Value::Sequence(items) if !items.is_empty() => sequence(&mut text, items, 0),
        Value::Mapping(entries) if !entries.is_empty() => mapping(&mut text, root, 0),
        Value::Sequence(_) => text.push_str("[]\n"),
        Value::Mapping(_) => text.push_str("{}\n"),
    }
    text
}

fn line(text: &mut String, node: &Node<'_>) {
    if let Value::Scalar { text: value, plain } = &node.value {
        text.push_str(&scalar(value, *plain));
    }
    text.push('\n');
}

/// The first key continues the current line, which is indented by `level` steps.
fn mapping(text: &mut String, node: &Node<'_>, level: usize) {
    for (position, entry) in node.entries().iter().enumerate() {
        if position > 0 {
            indent(text, level);
        }
        // Quotes of a key make no difference.
        let _ = write!(text, "{}:", scalar(&entry.key, is_word(&entry.key)));
        value(text, &entry.node, level);
    }
}

fn sequence(text: &mut String, items: &[Node<'_>], level: usize) {
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            indent(text, level);
        }
        text.push_str("- ");
        match &item.value {
            Value::Mapping(entries) if !entries.is_empty() => mapping(text, item, level + 1),
            Value::Sequence(items) if !items.is_empty() => sequence(text, items, level + 1),
            Value::Mapping(_) => text.push_str("{}\n"),
            Value::Sequence(_) => text.push_str("[]\n"),
            Value::Scalar { .. } => line(text, item),
        }
    }
}

fn value(text: &mut String, node: &Node<'_>, level: usize) {
    match &node.value {
        Value::Scalar { text: value, plain: true } if value.is_empty() => text.push('\n'),
        Value::Scalar { .. } => {
            text.push(' ');
            line(text, node);
        }
        Value::Mapping(entries) if entries.is_empty() => text.push_str(" {}\n"),
        Value::Sequence(items) if items.is_empty() => text.push_str(" []\n"),
        Value::Mapping(_) => {
            text.push('\n');
            indent(text, level + 1);
            mapping(text, node, level + 1);
        }
        // A list is indented as far as its key.
        Value::Sequence(items) => {
            text.push('\n');
            indent(text, level);
            sequence(text, items, level);
        }
    }
}

fn indent(text: &mut String, level: usize) {
    text.extend(std::iter::repeat_n("  ", level));
}

/// A plain scalar stays plain if it has no special meaning, in YAML 1.1 neither, which Kubernetes' tools read; anything else is
/// written as JSON, which is YAML. Quotes stay.
fn scalar(value: &str, plain: bool) -> String {
    let is_same = || is_word(value) && yaml_1_1::reading(value).is_none();
    let stays = plain && (Scalar::plain(value) != Scalar::Text || is_same());
    if stays { value.to_owned() } else { quoted(value) }
}

/// As JSON, with escapes for the characters that YAML's readers refuse, or take for a line break.
fn quoted(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    for character in serde_json::Value::from(value).to_string().chars() {
        match character {
            '\u{7f}'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            _ => text.push(character),
        }
    }
    text
}

/// True for characters that have no meaning in YAML anywhere.
fn is_word(value: &str) -> bool {
    let is_ordinary =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-' | '+' | ':' | ' ');
    value.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
        && value.chars().all(is_ordinary)
        && !value.contains(": ")
        && !value.ends_with([':', ' '])
}
