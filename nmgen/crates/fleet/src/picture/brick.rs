//! The interfaces of a document and what stands on what.

use std::collections::{HashMap, HashSet};

use nmgen_core::interface;
use nmgen_core::show::label::{self, Routes};
use nmgen_core::stack::{self, Role};
use nmgen_document::format::printable;
use nmgen_document::{Document, Node};

/// One document.
pub(super) struct Stack {
    /// The host's name, or the file's.
    pub(super) title: String,
    /// The stage, if another one is beside it.
    pub(super) stage: Option<&'static str>,
    /// Parts that belong to no interface: host name, name servers, further routes.
    pub(super) rest: Vec<String>,
    pub(super) bricks: Vec<Brick>,
}

/// An interface.
pub(super) struct Brick {
    pub(super) name: String,
    /// NMState's name of the type.
    pub(super) kind: String,
    /// Type, MAC address, MTU.
    pub(super) properties: Vec<String>,
    /// Addresses and routes.
    pub(super) details: Vec<Detail>,
    /// The indices of the bricks that it stands on.
    pub(super) below: Vec<usize>,
    /// Its own ports among them.
    pub(super) ports: Vec<usize>,
    /// The document refers to it, and does not declare it.
    pub(super) is_ghost: bool,
    /// Its difference from the other stage, or from the other state.
    pub(super) mark: Option<Mark>,
}

/// A difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Only here.
    New,
    /// Only here, and not in the state that follows.
    Gone,
    /// Both have it, with other properties, addresses, routes or lower interfaces.
    Changed,
}

impl Mark {
    /// As it is written, and the class of its colour.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
            Self::Changed => "changed",
        }
    }
}

impl Brick {
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let details = self.details.iter().map(|detail| &*detail.text);
        [&*self.name].into_iter().chain(self.properties.iter().map(String::as_str)).chain(details)
    }
}

/// An address or a route.
pub(super) struct Detail {
    pub(super) text: String,
    /// The interface that has it in the other stage.
    pub(super) other: Option<String>,
}

/// Longer words are cut; a file with longer ones is not meant for a picture.
const MAX_WIDTH: usize = 48;

pub(super) fn fit(text: &str) -> String {
    label::fit(&printable(text), MAX_WIDTH)
}

impl Stack {
    pub(super) fn of(title: &str, document: &Document<'_>) -> Self {
        let root = &document.root;
        let nodes = interface::all(root);
        let routes = Routes::of(root);
        let mut bricks: Vec<Brick> = nodes.iter().map(|node| brick(node, &routes)).collect();
        connect(nodes, &mut bricks);
        let names: HashSet<_> = nodes.iter().filter_map(|node| node.text_at("name")).collect();
        let named = |name: &str| names.contains(name);
        let mut rest = label::host(root);
        rest.extend(label::other_routes(root, named));
        let rest = rest.iter().map(|line| fit(line)).collect();
        Self { title: fit(title), stage: None, rest, bricks }
    }
}

fn brick(node: &Node<'_>, routes: &Routes<'_>) -> Brick {
    let detail = |text: &String| Detail { text: fit(text), other: None };
    Brick {
        name: fit(node.text_at("name").unwrap_or("?")),
        kind: node.text_at("type").unwrap_or("ethernet").to_owned(),
        properties: label::properties(node).iter().map(|text| fit(text)).collect(),
        details: label::details(node, routes).iter().map(detail).collect(),
        below: Vec::new(),
        ports: Vec::new(),
        is_ghost: false,
        mark: None,
    }
}

/// Fills in what stands on what. An ovs-interface stands on the bridge that lists it.
fn connect(nodes: &[Node<'_>], bricks: &mut Vec<Brick>) {
    let is_bridge = |node: &Node<'_>| node.text_at("type") == Some("ovs-bridge");
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (index, node) in nodes.iter().enumerate().filter(|(_, node)| !is_bridge(node)) {
        if let Some(name) = node.text_at("name") {
            by_name.entry(name).or_insert(index);
        }
    }
    let mut ghosts: HashMap<&str, usize> = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        for reference in stack::below(node) {
            let other = by_name.get(reference.name).copied().filter(|other| *other != index);
            let other = other.unwrap_or_else(|| {
                *ghosts.entry(reference.name).or_insert_with(|| {
                    bricks.push(ghost(reference.name));
                    bricks.len() - 1
                })
            });
            let stands_on_it = is_bridge(node) && bricks[other].kind == "ovs-interface";
            let (upper, lower) = if stands_on_it { (other, index) } else { (index, other) };
            let upper = &mut bricks[upper];
            if upper.below.contains(&lower) {
                continue;
            }
            upper.below.push(lower);
            if reference.role == Role::Port && !stands_on_it {
                upper.ports.push(lower);
            }
        }
    }
}

fn ghost(name: &str) -> Brick {
    Brick {
        name: fit(name),
        kind: String::new(),
        properties: vec!["not in this document".to_owned()],
        details: Vec::new(),
        below: Vec::new(),
        ports: Vec::new(),
        is_ghost: true,
        mark: None,
    }
}
