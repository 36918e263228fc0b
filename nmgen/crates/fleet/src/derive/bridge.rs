//! The bridge: the uplink as its port, and the interface with the uplink's addresses.

use nmgen_core::interface::kind;
use nmgen_core::stack::{self, Relation};
use nmgen_document::text::Span;
use nmgen_document::{Entry, Node, Path, Value};

use super::interfaces::{Index, Interfaces, is_automatic};
use super::new::{disabled, entry, list, mapping, name_node, named, up, word};
use super::wanted::Wanted;

/// Keys that move from the uplink to the bridge's interface: they concern addresses.
const MOVED: &[&str] = &["wait-ip", "mptcp", "ipv4", "ipv6"];
const FAMILIES: &[&str] = &["ipv4", "ipv6"];
/// Real stacks are shallower; a cycle is not.
const MAX_DEPTH: usize = 12;

/// The interfaces that take the place of one.
pub(super) type Replacements = Vec<(Index, Vec<Node<'static>>)>;

/// The uplink as a port, the bridge and its interface; none if there is no interface with this index.
pub(super) fn build(
    interfaces: &Interfaces<'_>,
    index: Index,
    wanted: &Wanted<'_>,
) -> Replacements {
    let Some(uplink) = interfaces.all.get(index) else { return Vec::new() };
    let span = name_span(uplink);
    let name = uplink.text_at("name").unwrap_or_default();
    let mac = mac_source(&[uplink], &[], name, span);
    let bridge = bridge(named(name, span), span, wanted);
    vec![(
        index,
        vec![port(uplink, span), bridge, interface(interfaces, index, uplink, mac, wanted)],
    )]
}

/// The place of new values: the interface's name.
pub(super) fn name_span(node: &Node<'_>) -> Span {
    node.get("name").map_or(node.span, |name| name.span)
}

/// Puts the new interfaces into the places of others.
pub(super) fn put(root: &mut Node<'static>, mut replacements: Replacements) {
    replacements.sort_by_key(|(index, _)| std::cmp::Reverse(*index));
    let list = root.find_mut(&Path::default().key("interfaces")).map(|node| &mut node.value);
    if let Some(Value::Sequence(items)) = list {
        for (index, new) in replacements {
            items.splice(index..=index, new);
        }
    }
}

/// The uplink without addresses.
fn port(uplink: &Node<'static>, span: Span) -> Node<'static> {
    let kept = uplink.entries().iter().filter(|entry| !MOVED.contains(&&*entry.key));
    let off = FAMILIES.iter().map(|family| entry(family, disabled(span)));
    mapping(kept.cloned().chain(off).collect(), uplink.span)
}

/// Without multicast snooping, which OpenShift's example has and configure-ovs has not: in the userspace
/// datapath of Open vSwitch 3.5 it keeps the node from finding its IPv6 gateway (the lab's case
/// `ipv6_alone_moves_to_the_bridge`).
pub(super) fn bridge(uplink: Node<'static>, span: Span, wanted: &Wanted<'_>) -> Node<'static> {
    let ports = entry("port", list(vec![uplink, named(wanted.name, span)], span));
    up(wanted.name, "ovs-bridge", span, [entry("bridge", mapping(vec![ports], span))])
}

/// The bridge's interface, with what moves from the uplink.
pub(super) fn interface(
    interfaces: &Interfaces<'_>,
    index: Index,
    uplink: &Node<'static>,
    mac: Entry<'static>,
    wanted: &Wanted<'_>,
) -> Node<'static> {
    let span = name_span(uplink);
    let mut entries = vec![mac];
    entries.extend(mtu(interfaces, index, 0).map(|mtu| entry("mtu", mtu)));
    let moved = |key: &str| uplink.entries().iter().find(|entry| entry.key == *key).cloned();
    for key in MOVED {
        match moved(key).filter(|entry| !entry.node.is_null()) {
            Some(moved) if FAMILIES.contains(key) => entries.push(family(uplink, moved, wanted)),
            Some(moved) => entries.push(moved),
            None if FAMILIES.contains(key) => entries.push(entry(key, disabled(span))),
            None => {}
        }
    }
    up(wanted.name, "ovs-interface", span, entries)
}

/// The MAC address of the first interface that has one in the document, else that of the interface `from`: nmstate copies the
/// permanent address of a NIC, so that a configured one has to be repeated. Nothing is copied from interfaces that are `gone`.
pub(super) fn mac_source(
    stack: &[&Node<'static>],
    gone: &[&str],
    from: &str,
    span: Span,
) -> Entry<'static> {
    let found = stack.iter().find_map(|node| {
        let of = |key: &str| node.entries().iter().find(|entry| entry.key == *key).cloned();
        let own =
            of("mac-address").filter(|entry| entry.node.text().is_some_and(|mac| !mac.is_empty()));
        let is_there = |entry: &Entry<'_>| {
            !entry.node.is_null() && !entry.node.text().is_some_and(|name| gone.contains(&name))
        };
        own.or_else(|| of("copy-mac-from").filter(is_there))
    });
    found.unwrap_or_else(|| entry("copy-mac-from", name_node(from, span)))
}

/// A family's section; automatic routes get the bridge's metric, unless they have one.
fn family(
    uplink: &Node<'static>,
    mut moved: Entry<'static>,
    wanted: &Wanted<'_>,
) -> Entry<'static> {
    if is_automatic(uplink, &moved.key)
        && moved.node.get("auto-route-metric").is_none()
        && let Value::Mapping(entries) = &mut moved.node.value
    {
        entries.retain(|entry| entry.key != "auto-route-metric");
        entries.push(entry("auto-route-metric", word(wanted.metric.to_string(), moved.key_span)));
    }
    moved
}

/// The MTU: its own, else that of the interface below, which the kernel and NetworkManager take.
fn mtu(interfaces: &Interfaces<'_>, index: Index, depth: usize) -> Option<Node<'static>> {
    let node = interfaces.all.get(index)?;
    if let Some(own) = node.get("mtu") {
        return Some(own.clone());
    }
    if depth >= MAX_DEPTH {
        return None;
    }
    match kind(node) {
        "vlan" | "mac-vlan" => mtu(interfaces, interfaces.base(index)?, depth + 1),
        // A bridge has the smallest of its ports.
        "linux-bridge" => {
            let ports = stack::below(node).into_iter().filter(|below| below.role == Relation::Port);
            let of = |name| mtu(interfaces, interfaces.find(name)?, depth + 1);
            let all: Option<Vec<Node<'static>>> = ports.map(|port| of(port.name)).collect();
            all?.into_iter().min_by_key(|mtu| mtu.number())
        }
        _ => None,
    }
}
