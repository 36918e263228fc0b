//! The differences of two documents, in their fields.

use std::fmt::Write;

use crate::document::{Node, Value};

/// One line a difference: `+ `, `- ` or `~ `, and the field. Interfaces are matched by name and type,
/// addresses by address, other items of lists by content. Order is ignored.
pub(crate) fn fields(before: &Node<'_>, after: &Node<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    node("", before, after, &mut lines);
    lines
}

fn node(path: &str, before: &Node<'_>, after: &Node<'_>, lines: &mut Vec<String>) {
    if before.means_the_same(after) {
        return;
    }
    match (&before.value, &after.value) {
        (Value::Mapping(_), Value::Mapping(_)) => mapping(path, before, after, lines),
        (Value::Sequence(_), Value::Sequence(_)) => sequence(path, before, after, lines),
        _ => lines.push(format!("~ {path}: {} -> {}", inline(before), inline(after))),
    }
}

fn mapping(path: &str, before: &Node<'_>, after: &Node<'_>, lines: &mut Vec<String>) {
    let at = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for entry in before.entries() {
        match after.entry(&entry.key) {
            Some(other) => node(&at(&entry.key), &entry.node, &other.node, lines),
            None => lines.push(format!("- {}: {}", at(&entry.key), inline(&entry.node))),
        }
    }
    for entry in after.entries().iter().filter(|entry| before.entry(&entry.key).is_none()) {
        lines.push(format!("+ {}: {}", at(&entry.key), inline(&entry.node)));
    }
}

fn sequence(path: &str, before: &Node<'_>, after: &Node<'_>, lines: &mut Vec<String>) {
    let mut left: Vec<&Node<'_>> = after.items().iter().collect();
    for item in before.items() {
        let found = match identity(item) {
            Some(identity) => left.iter().position(|other| self::identity(other) == Some(identity)),
            None => left.iter().position(|other| item.means_the_same(other)),
        };
        match found {
            Some(index) => {
                let name = identity(item).map_or(String::new(), |(name, _)| name.to_owned());
                node(&format!("{path}[{name}]"), item, left.remove(index), lines);
            }
            None => lines.push(format!("- {path}: {}", inline(item))),
        }
    }
    lines.extend(left.into_iter().map(|item| format!("+ {path}: {}", inline(item))));
}

/// The key that identifies an item of a list: an interface's name and type, a port's name, an
/// address.
fn identity<'n>(item: &'n Node<'_>) -> Option<(&'n str, Option<&'n str>)> {
    let name = item.text_at("name").or_else(|| item.text_at("ip"))?;
    Some((name, item.text_at("type")))
}

/// A value on one line.
fn inline(node: &Node<'_>) -> String {
    let mut text = String::new();
    write_inline(node, &mut text);
    text
}

fn write_inline(node: &Node<'_>, text: &mut String) {
    match &node.value {
        Value::Scalar { text: value, .. } => {
            let _ = write!(text, "{}", value.escape_debug());
        }
        Value::Sequence(items) => {
            text.push('[');
            for (position, item) in items.iter().enumerate() {
                text.push_str(if position > 0 { ", " } else { "" });
                write_inline(item, text);
            }
            text.push(']');
        }
        Value::Mapping(entries) => {
            text.push('{');
            for (position, entry) in entries.iter().enumerate() {
                let comma = if position > 0 { ", " } else { "" };
                let _ = write!(text, "{comma}{}: ", entry.key.escape_debug());
                write_inline(&entry.node, text);
            }
            text.push('}');
        }
    }
}
