//! The stack of interfaces as a tree: interfaces with addresses at the top, NICs at the bottom.

pub mod label;

use nmgen_document::diagnostic::Style;
use nmgen_document::format::printable;
use nmgen_document::{Document, Node};

use crate::source::Host;
use crate::stack;

/// Deeper nesting is treated as a cycle.
const MAX_DEPTH: usize = 12;

/// Draws one document. Ends in a line break; lines have at most 80 columns.
pub fn tree(title: &str, document: &Document<'_>, style: Style) -> String {
    let root = &document.root;
    let interfaces: Vec<&Node<'_>> =
        root.get("interfaces").map(|node| node.items().iter().collect()).unwrap_or_default();
    let mut drawing = Drawing { root, interfaces, style, text: String::new(), drawn: Vec::new() };
    drawing.title(title);
    drawing.interfaces();
    drawing.rest();
    drawing.text
}

/// A policy is known by its name, a lone document by its file's.
pub fn title(host: &Host, document: &Document<'_>) -> String {
    match (host.name.as_deref(), host.policy.as_deref()) {
        (Some(name), None) => name.to_owned(),
        (Some(name), Some(policy)) => format!("{name}, policy {policy}"),
        (None, Some(policy)) => format!("policy {policy}"),
        (None, None) => document.source().name.to_string(),
    }
}

struct Drawing<'a> {
    root: &'a Node<'a>,
    interfaces: Vec<&'a Node<'a>>,
    style: Style,
    text: String,
    /// Indices of interfaces that have been drawn with their subtree.
    drawn: Vec<usize>,
}

impl<'a> Drawing<'a> {
    fn title(&mut self, name: &str) {
        self.line("", &label::bold(name, self.style));
    }

    fn interfaces(&mut self) {
        let mut roots: Vec<usize> =
            (0..self.interfaces.len()).filter(|index| !self.is_below_another(*index)).collect();
        // In a cycle every interface is below another; it is shown nevertheless.
        if roots.is_empty() {
            roots = (0..self.interfaces.len()).collect();
        }
        for (position, index) in roots.iter().enumerate() {
            self.interface(*index, "", position + 1 == roots.len(), 0);
        }
    }

    fn is_below_another(&self, index: usize) -> bool {
        let Some(name) = self.interfaces[index].text_at("name") else { return false };
        let own_bridge = |other: &Node<'_>| other.text_at("name") == Some(name);
        self.interfaces.iter().enumerate().any(|(other, node)| {
            other != index
                && stack::below(node).iter().any(|reference| reference.name == name)
                // An ovs-interface is below the bridge of the same name, never above it.
                && !(own_bridge(node) && node.text_at("type") == Some("ovs-interface"))
                && !(own_bridge(node) && self.interfaces[index].text_at("type") == Some("ovs-bridge"))
        })
    }

    fn interface(&mut self, index: usize, indent: &str, is_last: bool, depth: usize) {
        let node = self.interfaces[index];
        let (branch, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let again = self.drawn.contains(&index);
        let suffix = if again && !stack::below(node).is_empty() { "  (see above)" } else { "" };
        self.line(&format!("{indent}{branch}"), &(label::interface(node, self.style) + suffix));
        if again {
            return;
        }
        self.drawn.push(index);
        let inner = format!("{indent}{below}");
        let children = stack::below(node);
        let bar = if children.is_empty() { "     " } else { "│    " };
        for detail in label::details(node, self.root) {
            self.line(&format!("{inner}{bar}"), &detail);
        }
        if depth >= MAX_DEPTH {
            return;
        }
        for (position, child) in children.iter().enumerate() {
            let is_last = position + 1 == children.len();
            match self.find(child.name, node) {
                Some(index) => self.interface(index, &inner, is_last, depth + 1),
                None => {
                    let branch = if is_last { "└─ " } else { "├─ " };
                    let text = format!("{}  (not in this document)", printable(child.name));
                    self.line(&format!("{inner}{branch}"), &text);
                }
            }
        }
    }

    /// The interface that a port or base name refers to: never the listing bridge itself.
    fn find(&self, name: &str, parent: &Node<'_>) -> Option<usize> {
        let named = |node: &Node<'_>| node.text_at("name") == Some(name);
        self.interfaces.iter().position(|node| {
            named(node)
                && !std::ptr::eq(*node, parent)
                && node.text_at("type") != Some("ovs-bridge")
        })
    }

    /// Fields that belong to no interface of the document.
    fn rest(&mut self) {
        for line in label::host(self.root) {
            self.line("", &line);
        }
        let named =
            |name: &str| self.interfaces.iter().any(|node| node.text_at("name") == Some(name));
        for line in label::other_routes(self.root, named) {
            self.line("", &line);
        }
    }

    fn line(&mut self, indent: &str, text: &str) {
        let width = 80usize.saturating_sub(indent.chars().count());
        self.text.push_str(indent);
        self.text.push_str(&label::fit(text, width));
        self.text.push('\n');
    }
}
