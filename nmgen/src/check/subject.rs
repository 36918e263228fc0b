//! What a check looks at, and where it puts what it finds.

use super::Purpose;
use crate::diagnostic::{Diagnostic, Rule};
use crate::document::{Document, Node, Path};

/// A document and its interfaces.
pub(crate) struct Subject<'a> {
    pub(crate) root: &'a Node<'a>,
    pub(crate) purpose: Purpose,
    /// Every item of `interfaces` that is a mapping with a name, in the document's order.
    pub(crate) interfaces: Vec<Interface<'a>>,
}

/// An interface of the document.
pub(crate) struct Interface<'a> {
    /// `interfaces[N]`.
    pub(crate) path: Path,
    pub(crate) node: &'a Node<'a>,
    pub(crate) name: &'a str,
    /// NMState's name of the type; `unknown` where the document has none.
    pub(crate) kind: &'a str,
    /// `up` where the document has none.
    pub(crate) state: &'a str,
}

impl Interface<'_> {
    /// True unless it is to be removed, taken down or left alone.
    pub(crate) fn is_up(&self) -> bool {
        self.state == "up"
    }

    pub(crate) fn is_absent(&self) -> bool {
        self.state == "absent"
    }
}

impl<'a> Subject<'a> {
    pub(crate) fn new(document: &'a Document<'_>, purpose: Purpose) -> Self {
        let root = &document.root;
        let list = Path::default().key("interfaces");
        let nodes = root.get("interfaces").map(Node::items).unwrap_or_default();
        let interfaces = nodes.iter().enumerate().filter_map(|(index, node)| {
            Some(Interface {
                path: list.index(index),
                node,
                name: node.text_at("name")?,
                kind: node.text_at("type").unwrap_or("unknown"),
                state: node.text_at("state").unwrap_or("up"),
            })
        });
        Self { root, purpose, interfaces: interfaces.collect() }
    }

    /// The first interface with this name.
    pub(crate) fn interface(&self, name: &str) -> Option<&Interface<'a>> {
        self.interfaces.iter().find(|interface| interface.name == name)
    }
}

/// Collects findings; the place is taken from the path.
pub(crate) struct Report<'a> {
    document: &'a Document<'a>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(document: &'a Document<'a>, diagnostics: &'a mut Vec<Diagnostic>) -> Self {
        Self { document, diagnostics }
    }

    /// A finding about the value at `path`.
    pub(crate) fn add(&mut self, rule: Rule, path: &Path, message: impl Into<String>, help: &str) {
        let place = self.document.place_at(path);
        self.diagnostics.push(Diagnostic::new(rule, message, place).help(help));
    }

    /// A finding about a key rather than its value.
    pub(crate) fn add_at_key(
        &mut self,
        rule: Rule,
        path: &Path,
        message: impl Into<String>,
        help: &str,
    ) {
        let place = self
            .document
            .key_span(path)
            .map_or_else(|| self.document.place_at(path), |span| self.document.place(span));
        self.diagnostics.push(Diagnostic::new(rule, message, place).help(help));
    }

    /// The line on which the value at `path` stands.
    pub(crate) fn line(&self, path: &Path) -> u32 {
        self.document.root.find(path).map_or(1, |node| node.span.start.line)
    }
}
