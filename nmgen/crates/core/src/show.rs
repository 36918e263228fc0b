//! The stack of interfaces as a tree: interfaces with addresses at the top, NICs at the bottom.

pub mod label;

use std::collections::HashMap;

use nmgen_document::diagnostic::Style;
use nmgen_document::format::printable;
use nmgen_document::{Document, Node};

use self::label::Routes;

use crate::source::Host;
use crate::stack;

/// Deeper nesting is treated as a cycle.
const MAX_DEPTH: usize = 12;

/// Draws one document, without its secrets. Ends in a line break; lines have at most 80 columns.
pub fn tree(title: &str, document: &Document<'_>, style: Style) -> String {
    let root = &document.shown().root;
    let interfaces: Vec<&Node<'_>> =
        root.get("interfaces").map(|node| node.items().iter().collect()).unwrap_or_default();
    let mut drawing = Drawing {
        root,
        routes: Routes::of(root),
        by_name: by_name(&interfaces),
        is_drawn: vec![false; interfaces.len()],
        interfaces,
        style,
        text: String::new(),
    };
    drawing.title(title);
    drawing.interfaces();
    drawing.rest();
    drawing.text
}

/// A policy is known by its name, a lone document by its file's; a host of several clusters with its cluster's.
pub fn title(host: &Host, document: &Document<'_>) -> String {
    let of = host.cluster.as_deref().map_or_else(String::new, |cluster| format!("{cluster}: "));
    of + &match (host.name.as_deref(), host.policy.as_deref()) {
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
    routes: Routes<'a>,
    /// The indices of the interfaces with a name, in the document's order.
    by_name: HashMap<&'a str, Vec<usize>>,
    /// By index: drawn with its subtree.
    is_drawn: Vec<bool>,
}

fn by_name<'a>(interfaces: &[&'a Node<'_>]) -> HashMap<&'a str, Vec<usize>> {
    let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
    for (index, node) in interfaces.iter().enumerate() {
        if let Some(name) = node.text_at("name") {
            by_name.entry(name).or_default().push(index);
        }
    }
    by_name
}

impl<'a> Drawing<'a> {
    fn title(&mut self, name: &str) {
        self.line("", &label::bold(name, self.style));
    }

    fn interfaces(&mut self) {
        let is_below = self.below_another();
        let mut roots: Vec<usize> =
            (0..self.interfaces.len()).filter(|index| !is_below[*index]).collect();
        // In a cycle every interface is below another; it is shown nevertheless.
        if roots.is_empty() {
            roots = (0..self.interfaces.len()).collect();
        }
        let roots = self.grouped(roots);
        for (position, index) in roots.iter().enumerate() {
            self.interface(*index, "", position + 1 == roots.len(), 0);
        }
    }

    /// Interfaces that stand on one card or bond follow each other; apart from that the document's order.
    fn grouped(&self, roots: Vec<usize>) -> Vec<usize> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut by_lowest: HashMap<usize, usize> = HashMap::new();
        for root in roots {
            let group = *by_lowest.entry(self.lowest(root)).or_insert(groups.len());
            match groups.get_mut(group) {
                Some(members) => members.push(root),
                None => groups.push(vec![root]),
            }
        }
        groups.concat()
    }

    /// The first card under an interface, or itself.
    fn lowest(&self, mut index: usize) -> usize {
        for _ in 0..MAX_DEPTH {
            let node = self.interfaces[index];
            let below = stack::below(node);
            let mut below = below.iter().filter_map(|child| self.find(child.name, node));
            let is_port =
                |lower: &usize| self.interfaces[*lower].text_at("type") != Some("ovs-interface");
            match below.find(is_port) {
                Some(lower) => index = lower,
                None => break,
            }
        }
        index
    }

    /// By index: another interface refers to it.
    fn below_another(&self) -> Vec<bool> {
        let mut is_below = vec![false; self.interfaces.len()];
        for (upper, node) in self.interfaces.iter().enumerate() {
            for reference in stack::below(node) {
                for lower in self.by_name.get(reference.name).into_iter().flatten() {
                    let other = self.interfaces[*lower];
                    let is_of = |node: &Node<'_>, kind| node.text_at("type") == Some(kind);
                    // An ovs-interface is below the bridge of the same name, never above it.
                    let is_own_bridge = node.text_at("name") == Some(reference.name)
                        && (is_of(node, "ovs-interface") || is_of(other, "ovs-bridge"));
                    is_below[*lower] |= upper != *lower && !is_own_bridge;
                }
            }
        }
        is_below
    }

    fn interface(&mut self, index: usize, indent: &str, is_last: bool, depth: usize) {
        let node = self.interfaces[index];
        let (branch, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let again = self.is_drawn[index];
        let suffix = if again && !stack::below(node).is_empty() { "  (see above)" } else { "" };
        self.line(&format!("{indent}{branch}"), &(label::interface(node, self.style) + suffix));
        if again {
            return;
        }
        self.is_drawn[index] = true;
        let inner = format!("{indent}{below}");
        let children = stack::below(node);
        let bar = if children.is_empty() { "     " } else { "│    " };
        for detail in label::details(node, &self.routes) {
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
        let named = self.by_name.get(name).into_iter().flatten().copied();
        let is_other = |index: &usize| {
            let node = self.interfaces[*index];
            !std::ptr::eq(node, parent) && node.text_at("type") != Some("ovs-bridge")
        };
        named.filter(is_other).min()
    }

    /// Fields that belong to no interface of the document.
    fn rest(&mut self) {
        for line in label::host(self.root) {
            self.line("", &line);
        }
        for line in label::other_routes(self.root, |name| self.by_name.contains_key(name)) {
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
