//! Templates of Helm, Jinja and Open Cluster Management in place of a rendered document.

use super::parsed::Document;
use super::tree::{Node, Value};
use crate::diagnostic::{Diagnostic, rules};
use crate::text::lines::Lines;
use crate::text::{Span, secret};

rules! {
    /// A template in place of a document.
    pub error TEMPLATE = "template";
}

const MARKS: &[&str] = &["{{", "{%"];

/// How a reference to a capture of nmstate's policies begins.
const CAPTURE: &str = "capture.";

/// The key of a value that is any text.
const FREE_TEXT: &str = "description";

/// The diagnostic to show instead of the syntax error that a template causes.
#[cfg(feature = "hints")]
pub(crate) fn instead_of(lines: &Lines) -> Option<Diagnostic> {
    lines.numbered().find_map(|(number, line)| {
        let line = line.split(" #").next().unwrap_or(line);
        let at = MARKS.iter().filter_map(|mark| line.find(mark)).min()?;
        let column = line[..at].chars().count() as u32 + 1;
        let start = crate::text::Position { line: number, column };
        let span = Span { start, end: start };
        let behind = line[at..].trim_start_matches(['{', ' ']);
        if behind.starts_with(CAPTURE) {
            let message = "a capture without quotes is a mapping to YAML";
            let place = lines.place(span);
            return Some(
                Diagnostic::new(TEMPLATE, message, place).help("write \"{{ capture… }}\""),
            );
        }
        Some(diagnostic(span, lines))
    })
}

/// Returns the fault of the first quoted value with a template, or that is a placeholder.
pub(crate) fn in_values(text: &str, root: &Node<'_>, lines: &Lines) -> Option<Diagnostic> {
    // Most texts have none.
    let may_have = text.contains(MARKS[0]) || text.contains(['$', '<']);
    may_have.then(|| value(root, false, lines)).flatten()
}

/// Returns the fault of the first value with a template, in a part of a document.
pub fn in_part(node: &Node<'_>, document: &Document<'_>) -> Option<Diagnostic> {
    value(node, false, document.lines())
}

fn value(node: &Node<'_>, is_secret: bool, lines: &Lines) -> Option<Diagnostic> {
    match &node.value {
        Value::Scalar { text, .. } if !is_secret && is_placeholder(text) => {
            let message = format!("{text} is a placeholder");
            let place = lines.place(node.span);
            Some(Diagnostic::new(TEMPLATE, message, place).help("write this node's own value"))
        }
        // A capture of nmstate's policies has the same braces.
        Value::Scalar { text, .. } => {
            let rest = || Some(text.split_once(MARKS[0])?.1);
            let is_one =
                |rest: &str| rest.contains("}}") && !rest.trim_start().starts_with(CAPTURE);
            let is_variable = !is_secret && is_variable(text);
            (is_variable || rest().is_some_and(is_one)).then(|| diagnostic(node.span, lines))
        }
        Value::Sequence(items) => items.iter().find_map(|item| value(item, is_secret, lines)),
        Value::Mapping(entries) => {
            let mut values = entries.iter().filter(|entry| entry.key != FREE_TEXT);
            values.find_map(|entry| value(&entry.node, secret::is_key(&entry.key), lines))
        }
    }
}

/// Returns whether a text is `${NAME}` or `$NAME`, which envsubst replaces, or `$(NAME)`, which kustomize does.
fn is_variable(text: &str) -> bool {
    let name = text.strip_prefix('$');
    name.is_some_and(|name| {
        is_name(name.trim_start_matches(['{', '(']).trim_end_matches(['}', ')']))
    })
}

/// Returns whether a text is `<NAME>`, which instructions have for their readers.
fn is_placeholder(text: &str) -> bool {
    let name = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    name.is_some_and(|name| name.starts_with(char::is_alphanumeric) && !name.contains(['<', '>']))
}

fn is_name(name: &str) -> bool {
    let is_of_it = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ');
    !name.is_empty() && name.bytes().all(is_of_it)
}

fn diagnostic(span: Span, lines: &Lines) -> Diagnostic {
    Diagnostic::new(TEMPLATE, "this is a template, not a document", lines.place(span))
        .help("render it first, with `helm template` for example; hub templates are rendered by the hub cluster")
}
