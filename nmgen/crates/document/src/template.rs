//! Templates of Helm, Jinja and Open Cluster Management in place of a rendered document.

use super::parsed::Document;
use super::tree::{Node, Value};
use crate::diagnostic::{Diagnostic, rules};
use crate::text::lines::Lines;
use crate::text::{Position, Span, secret};

rules! {
    /// A template in place of a document.
    pub error TEMPLATE = "template";
}

const MARKS: &[&str] = &["{{", "{%"];

/// The key of a value that is any text.
const FREE_TEXT: &str = "description";

/// The diagnostic to show instead of the syntax error that a template causes.
pub(crate) fn instead_of(lines: &Lines) -> Option<Diagnostic> {
    lines.numbered().find_map(|(number, line)| {
        let line = line.split(" #").next().unwrap_or(line);
        let at = MARKS.iter().filter_map(|mark| line.find(mark)).min()?;
        let column = line[..at].chars().count() as u32 + 1;
        let start = Position { line: number, column };
        Some(diagnostic(Span { start, end: start }, lines))
    })
}

/// Returns the fault of the first quoted value with a template, or of the first placeholder.
pub(crate) fn in_values(text: &str, root: &Node<'_>, lines: &Lines) -> Option<Diagnostic> {
    // Most texts have none.
    let may_have = text.contains(MARKS[0]) || text.contains("${");
    let template = may_have.then(|| value(root)).flatten().map(|span| diagnostic(span, lines));
    template.or_else(|| text.contains('<').then(|| placeholder(root, lines)).flatten())
}

/// Returns the fault of the first `<name of a value>`, which instructions have for the reader to replace.
fn placeholder(node: &Node<'_>, lines: &Lines) -> Option<Diagnostic> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '.' | '_');
    match &node.value {
        Value::Scalar { text, .. } => {
            let name = text.strip_prefix('<')?.strip_suffix('>')?;
            let is_one = !name.is_empty() && name.chars().all(is_word);
            let message = format!("\"{text}\" is a placeholder");
            is_one.then(|| {
                Diagnostic::new(TEMPLATE, message, lines.place(node.span))
                    .help("write the value of this node in its place")
            })
        }
        Value::Sequence(items) => items.iter().find_map(|item| placeholder(item, lines)),
        Value::Mapping(entries) => {
            let is_free = |key: &str| key == FREE_TEXT || secret::is_key(key);
            let mut values = entries.iter().filter(|entry| !is_free(&entry.key));
            values.find_map(|entry| placeholder(&entry.node, lines))
        }
    }
}

fn value(node: &Node<'_>) -> Option<Span> {
    match &node.value {
        Value::Scalar { text, .. } if is_variable(text) => Some(node.span),
        // A capture of nmstate's policies has the same braces.
        Value::Scalar { text, .. } => text
            .split_once(MARKS[0])
            .filter(|(_, rest)| rest.contains("}}") && !rest.trim_start().starts_with("capture."))
            .map(|_| node.span),
        Value::Sequence(items) => items.iter().find_map(value),
        Value::Mapping(entries) => {
            let mut values = entries.iter().filter(|entry| entry.key != FREE_TEXT);
            values.find_map(|entry| value(&entry.node))
        }
    }
}

/// True for `${NAME}`, which envsubst replaces.
fn is_variable(text: &str) -> bool {
    let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_word))
}

/// The first value with a template, in a part of a document.
pub fn in_part(node: &Node<'_>, document: &Document<'_>) -> Option<Diagnostic> {
    value(node).map(|span| diagnostic(span, document.lines()))
}

fn diagnostic(span: Span, lines: &Lines) -> Diagnostic {
    Diagnostic::new(TEMPLATE, "this is a template, not a document", lines.place(span))
        .help("render it first, with `helm template` for example; hub templates are rendered by the hub cluster")
}
