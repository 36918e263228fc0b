//! The input of a check, and its report.

use std::collections::HashMap;

use nmgen_document::diagnostic::{Diagnostics, Rule, Severity};
use nmgen_document::spelling::is_alike;
use nmgen_document::{Document, Node, Path};

use super::purpose::Purpose;
use crate::stack::{self, Reference, Relation};

/// A document and its interfaces.
pub(super) struct Subject<'a> {
    pub root: &'a Node<'a>,
    /// The names of cards that the source lists beside the document.
    cards: &'a [&'a str],
    pub purpose: Purpose,
    /// Each item of `interfaces` that is a mapping with a name, in the document's order.
    pub interfaces: Vec<Interface<'a>>,
    /// References from interfaces that are up, each with the index of its interface.
    pub references: Vec<(usize, Reference<'a>)>,
    /// Kernel interfaces by name, profile name and alternative names, as nmstate finds them.
    by_name: HashMap<&'a str, usize>,
    /// The first controller that lists a port.
    controllers: HashMap<&'a str, usize>,
}

pub(super) struct Interface<'a> {
    /// `interfaces[N]`.
    pub path: Path,
    pub node: &'a Node<'a>,
    pub name: &'a str,
    /// NMState's name of the type; `unknown` if missing.
    pub kind: &'a str,
    /// `up` if missing.
    pub state: &'a str,
}

impl<'a> Interface<'a> {
    /// False for `state` absent, down or ignore.
    pub(super) fn is_up(&self) -> bool {
        self.state == "up"
    }

    pub(super) fn is_absent(&self) -> bool {
        self.state == "absent"
    }

    /// False for interfaces in a database or a daemon only, which may share another interface's name.
    pub(super) fn in_kernel(&self) -> bool {
        !matches!(self.kind, "ovs-bridge" | "ipsec")
    }

    /// True for a physical network card, as far as the document says.
    pub(super) fn is_hardware(&self) -> bool {
        matches!(self.kind, "ethernet" | "infiniband" | "unknown")
    }

    /// The path of a value below the interface.
    pub(super) fn path_to(&self, keys: &[&str]) -> Path {
        keys.iter().fold(self.path.clone(), |path, key| path.key(key))
    }

    /// The first present section of these, with its name, since NMState has aliases.
    pub(super) fn section(&self, keys: &[&'static str]) -> Option<(&'static str, &'a Node<'a>)> {
        keys.iter().find_map(|key| Some((*key, self.node.get(key)?)))
    }
}

impl<'a> Subject<'a> {
    pub(super) fn new(document: &'a Document<'_>, cards: &'a [&'a str], purpose: Purpose) -> Self {
        let root = &document.root;
        let list = Path::default().key("interfaces");
        let nodes = root.items_at(&["interfaces"]);
        let interfaces = nodes.iter().enumerate().filter_map(|(index, node)| {
            Some(Interface {
                path: list.index(index),
                node,
                name: node.text_at("name")?,
                kind: node.text_at("type").unwrap_or("unknown"),
                state: node.text_at("state").unwrap_or("up"),
            })
        });
        let interfaces: Vec<Interface<'a>> = interfaces.collect();
        let references: Vec<(usize, Reference<'a>)> = interfaces
            .iter()
            .enumerate()
            .filter(|(_, interface)| interface.is_up())
            .flat_map(|(index, interface)| {
                stack::below(interface.node).into_iter().map(move |reference| (index, reference))
            })
            .collect();
        let by_name = by_name(&interfaces);
        let controllers = controllers(&interfaces, &references);
        Self { root, cards, purpose, interfaces, references, by_name, controllers }
    }

    /// The declared interface that a misspelt name is meant as.
    pub(super) fn meant(&self, name: &str) -> Option<&'a str> {
        let mut names = self
            .interfaces
            .iter()
            .filter(|interface| interface.in_kernel())
            .map(|interface| interface.name);
        names.find(|own| is_alike(name, own))
    }

    /// Whether the source lists a card of this name beside the document.
    pub(super) fn has_card(&self, name: &str) -> bool {
        self.cards.contains(&name)
    }

    /// Whether this document or its source names any card.
    pub(super) fn declares_cards(&self) -> bool {
        !self.cards.is_empty()
            || self.interfaces.iter().any(|interface| interface.kind == "ethernet")
    }

    pub(super) fn is_offline(&self) -> bool {
        self.purpose != Purpose::Apply
    }

    /// The interface of the kernel with this name, profile name or alternative name.
    pub(super) fn interface(&self, name: &str) -> Option<&Interface<'a>> {
        self.by_name.get(name).map(|index| &self.interfaces[*index])
    }

    /// The interface that a reference names.
    pub(super) fn referenced(&self, reference: &Reference<'_>) -> Option<&Interface<'a>> {
        self.interface(reference.name)
    }

    /// Its index in [`Self::interfaces`].
    pub(super) fn referenced_index(&self, reference: &Reference<'_>) -> Option<usize> {
        self.by_name.get(reference.name).copied()
    }

    /// Returns the index of the controller of each port.
    pub(super) fn controllers(&self) -> impl Iterator<Item = usize> {
        self.controllers.values().copied()
    }

    /// The controller that this interface belongs to.
    pub(super) fn controller_of(&self, name: &str) -> Option<&Interface<'a>> {
        self.controllers.get(name).map(|index| &self.interfaces[*index])
    }

    /// Downgraded to a warning on a node.
    pub(super) fn unless_on_node(&self, rule: Rule) -> Rule {
        if self.is_offline() { rule } else { Rule { severity: Severity::Warning, ..rule } }
    }
}

fn by_name<'a>(interfaces: &[Interface<'a>]) -> HashMap<&'a str, usize> {
    let mut by_name = HashMap::with_capacity(interfaces.len());
    let in_kernel = || interfaces.iter().enumerate().filter(|(_, i)| i.in_kernel());
    for (index, interface) in in_kernel() {
        by_name.entry(interface.name).or_insert(index);
    }
    for (index, interface) in in_kernel() {
        if let Some(name) = interface.node.text_at("profile-name") {
            by_name.entry(name).or_insert(index);
        }
        let alt_names = interface.node.items_at(&["alt-names"]);
        for name in alt_names.iter().filter_map(|entry| entry.text_at("name")) {
            by_name.entry(name).or_insert(index);
        }
    }
    by_name
}

fn controllers<'a>(
    interfaces: &[Interface<'a>],
    references: &[(usize, Reference<'a>)],
) -> HashMap<&'a str, usize> {
    let mut controllers = HashMap::new();
    for (index, reference) in references {
        if reference.role == Relation::Port {
            controllers.entry(reference.name).or_insert(*index);
        }
    }
    let mut by_name = HashMap::new();
    for (index, interface) in interfaces.iter().enumerate() {
        if interface.is_up() && stack::is_controller(interface.kind) {
            by_name.entry(interface.name).or_insert(index);
        }
    }
    for interface in interfaces {
        let controller = interface.node.text_at("controller").and_then(|name| by_name.get(name));
        if let Some(index) = controller {
            controllers.entry(interface.name).or_insert(*index);
        }
    }
    controllers
}

/// Collects findings; the path gives the place.
pub(super) struct Report<'a> {
    document: &'a Document<'a>,
    diagnostics: &'a mut Diagnostics,
    /// Paths of unusable values, so that nmstate's words on them are not reported again.
    pub(super) faults: Vec<Path>,
}

impl<'a> Report<'a> {
    pub(super) fn new(document: &'a Document<'a>, diagnostics: &'a mut Diagnostics) -> Self {
        Self { document, diagnostics, faults: Vec::new() }
    }

    /// A finding about the value at `path`.
    pub(super) fn add(&mut self, rule: Rule, path: &Path, message: impl Into<String>, help: &str) {
        if rule.severity == Severity::Error {
            self.faults.push(path.clone());
        }
        let place = self.document.place_at(path);
        self.diagnostics.add(rule, place, message, help);
    }

    /// A finding about a key rather than its value: the key itself, or something missing below it.
    pub(super) fn add_at_key(
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
        self.diagnostics.add(rule, place, message, help);
    }

    /// The line of the value at `path`.
    pub(super) fn line(&self, path: &Path) -> u32 {
        let value = self.document.root.find(path).map(|node| node.span.start.line);
        let key = self.document.key_span(path).map(|span| span.start.line);
        key.or(value).unwrap_or(1)
    }
}
