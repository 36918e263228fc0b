//! The interfaces of a document, what stands on what, and what of it is a frame or a line.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use nmgen_core::interface;
use nmgen_core::show::label::{self, Routes};
use nmgen_core::stack::{self, Relation};
use nmgen_document::diagnostic::Severity;
use nmgen_document::format::printable;
use nmgen_document::{Document, Mac, Node};

/// One document.
pub(super) struct Stack {
    /// The host's name, or the file's.
    pub(super) title: String,
    /// The names of others that are like it.
    pub(super) others: Vec<String>,
    /// The stage, if another one is beside it.
    pub(super) stage: Option<&'static str>,
    /// Parts that belong to no interface: host name, name servers, further routes.
    pub(super) rest: Vec<String>,
    pub(super) bricks: Vec<Brick>,
}

/// An interface.
#[derive(Default)]
pub(super) struct Brick {
    pub(super) name: String,
    /// NMState's name of the type.
    pub(super) kind: String,
    /// Type, MAC address, MTU.
    pub(super) properties: Vec<String>,
    /// Addresses and routes.
    pub(super) details: Vec<Detail>,
    /// The numbers of the bricks that it stands on.
    pub(super) below: Vec<usize>,
    /// The controller that it is in a frame with.
    pub(super) frame: Option<usize>,
    /// The brick that a line leads down to; another one below it is a property.
    pub(super) base: Option<usize>,
    /// The document refers to it, and does not declare it.
    pub(super) is_ghost: bool,
    /// Its difference from the other stage, or from the other state.
    pub(super) mark: Option<Mark>,
    /// The gravest finding at it.
    pub(super) fault: Option<Severity>,
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
    /// The words of its difference and its fault, which are also the classes of its colours.
    pub(super) fn tag(&self) -> String {
        let fault = self.fault.map(|severity| match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        });
        let words: Vec<&str> = self.mark.map(Mark::word).into_iter().chain(fault).collect();
        words.join(" ")
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let details = self.details.iter().map(|detail| &*detail.text);
        [&*self.name].into_iter().chain(self.properties.iter().map(String::as_str)).chain(details)
    }
}

/// An address or a route.
pub(super) struct Detail {
    pub(super) text: String,
    /// The interface that has it in the other stage, after an arrow.
    pub(super) other: Option<String>,
}

impl Detail {
    pub(super) fn shown(&self) -> String {
        match &self.other {
            Some(other) => format!("{} {other}", self.text),
            None => self.text.clone(),
        }
    }
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
        let ports = connect(nodes, &mut bricks);
        give_frames(&ports, &mut bricks);
        give_bases(&mut bricks);
        let names: HashSet<_> = nodes.iter().filter_map(|node| node.text_at("name")).collect();
        let mut rest = label::host(root);
        rest.extend(label::other_routes(root, |name| names.contains(name)));
        let rest = rest.iter().map(|line| fit(line)).collect();
        Self { title: fit(title), others: Vec::new(), stage: None, rest, bricks }
    }

    /// All that the picture shows but names of hosts and addresses.
    pub(super) fn shape(&self) -> String {
        let mut shape = format!("{:?}\n", self.stage);
        let mut add = |text: &str| {
            shape.push_str(text);
            shape.push('\n');
        };
        self.rest.iter().for_each(|text| add(&masked(text)));
        for brick in &self.bricks {
            add(&format!(
                "{} {:?} {} {:?} {:?}",
                brick.name, brick.below, brick.is_ghost, brick.mark, brick.fault
            ));
            brick.properties.iter().for_each(|text| add(&masked(text)));
            for detail in &brick.details {
                add(&masked(&detail.text));
                detail.other.iter().for_each(|other| add(other));
            }
        }
        shape
    }

    /// Adds a stack of the same shape.
    pub(super) fn add(&mut self, other: Self) {
        self.others.push(other.title);
        self.rest
            .iter_mut()
            .zip(other.rest)
            .for_each(|(one, other)| mark_if_different(one, &other));
        for (one, other) in self.bricks.iter_mut().zip(other.bricks) {
            let properties = one.properties.iter_mut().zip(other.properties);
            properties.for_each(|(one, other)| mark_if_different(one, &other));
            let details = one.details.iter_mut().zip(other.details);
            details.for_each(|(one, other)| mark_if_different(&mut one.text, &other.text));
        }
    }
}

/// Follows the text of the first of several hosts if others have another one.
pub(super) const DIFFERS: &str = " \u{2026}";

fn mark_if_different(text: &mut String, other: &str) {
    if text != other && !text.ends_with(DIFFERS) {
        text.push_str(DIFFERS);
    }
}

/// A text without a host's name, IP addresses and MAC addresses.
fn masked(text: &str) -> String {
    if text.starts_with("hostname ") {
        return "hostname".to_owned();
    }
    let word = |word: &str| {
        let (address, prefix) = word.split_once('/').unwrap_or((word, ""));
        match address.parse::<IpAddr>() {
            // The default route's networks.
            Ok(ip) if ip.is_unspecified() => word.to_owned(),
            Ok(IpAddr::V4(_)) => format!("IPv4/{prefix}"),
            Ok(IpAddr::V6(_)) => format!("IPv6/{prefix}"),
            Err(_) if Mac::parse(word).is_some() => "MAC".to_owned(),
            Err(_) => word.to_owned(),
        }
    };
    text.split([' ', ',']).map(word).collect::<Vec<_>>().join(" ")
}

fn brick(node: &Node<'_>, routes: &Routes<'_>) -> Brick {
    let detail = |text: &String| Detail { text: fit(text), other: None };
    Brick {
        name: fit(node.text_at("name").unwrap_or("?")),
        kind: node.text_at("type").unwrap_or("ethernet").to_owned(),
        properties: label::properties(node).iter().map(|text| fit(text)).collect(),
        details: label::details(node, routes).iter().map(detail).collect(),
        ..Brick::default()
    }
}

/// Fills in what stands on what; returns the controllers with their ports. An ovs-interface stands on the bridge that lists it.
fn connect(nodes: &[Node<'_>], bricks: &mut Vec<Brick>) -> Vec<(usize, usize)> {
    let mut ports = Vec::new();
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
            let below = &mut bricks[upper].below;
            if below.contains(&lower) {
                continue;
            }
            below.push(lower);
            if reference.role == Relation::Port && !stands_on_it {
                ports.push((upper, lower));
            }
        }
    }
    ports
}

/// Frames within frames; real ones have two (a bridge, a bond, its ports).
const MAX_NEST: usize = 4;
/// Interfaces on each other, each with a line; real ones are fewer.
const MAX_HEIGHT: usize = 12;

/// Gives a port that nothing else stands on a frame with its controller.
fn give_frames(ports: &[(usize, usize)], bricks: &mut [Brick]) {
    let mut uppers = vec![0; bricks.len()];
    bricks.iter().flat_map(|brick| &brick.below).for_each(|lower| uppers[*lower] += 1);
    for &(controller, port) in ports.iter().filter(|(_, port)| uppers[*port] == 1) {
        bricks[port].frame = Some(controller);
    }
    // In a circle there is no outermost frame.
    let is_deep = |index: &usize| {
        let outwards = std::iter::successors(Some(*index), |inner| bricks[*inner].frame);
        outwards.take(MAX_NEST + 2).count() > MAX_NEST + 1
    };
    let deep: Vec<usize> = (0..bricks.len()).filter(is_deep).collect();
    deep.into_iter().for_each(|index| bricks[index].frame = None);
}

/// The outermost brick whose frame this one is in.
pub(super) fn outermost(bricks: &[Brick], index: usize) -> usize {
    bricks[index].frame.map_or(index, |controller| outermost(bricks, controller))
}

/// Gives each outermost frame one base, below one of its bricks, and names all others.
fn give_bases(bricks: &mut [Brick]) {
    let mut bases: Vec<Option<usize>> = vec![None; bricks.len()];
    for index in 0..bricks.len() {
        for lower in bricks[index].below.clone() {
            if bricks[lower].frame == Some(index) {
                continue;
            }
            let (frame, base) = (outermost(bricks, index), outermost(bricks, lower));
            let mut downwards = std::iter::successors(Some(base), |upper| bases[*upper]);
            let is_circle = downwards.clone().any(|downward| downward == frame);
            if bases[frame].is_none() && !is_circle && downwards.nth(MAX_HEIGHT).is_none() {
                bases[frame] = Some(base);
                bricks[index].base = Some(lower);
            } else {
                let name = format!("on {}", bricks[lower].name);
                bricks[index].properties.push(name);
            }
        }
    }
}

fn ghost(name: &str) -> Brick {
    Brick {
        name: fit(name),
        properties: vec!["not in this document".to_owned()],
        is_ghost: true,
        ..Brick::default()
    }
}
