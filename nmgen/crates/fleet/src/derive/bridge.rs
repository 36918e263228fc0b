//! The bridge: the uplink as its port, and the interface with the uplink's addresses.

use nmgen_core::stack::{self, Role};
use nmgen_document::text::Span;
use nmgen_document::{Entry, Node, Path, Value};

use super::interfaces::{Index, Interfaces, is_automatic, kind};
use super::new::{disabled, entry, list, mapping, name_node, named, word};
use super::wanted::Wanted;

/// Keys that move from the uplink to the bridge's interface: they concern addresses.
const MOVED: &[&str] = &["wait-ip", "mptcp", "ipv4", "ipv6"];
const FAMILIES: &[&str] = &["ipv4", "ipv6"];
/// Real stacks are shallower; a cycle is not.
const MAX_DEPTH: usize = 12;

/// The uplink as a port, the bridge and its interface.
pub(super) type Bridge = [Node<'static>; 3];

/// The bridge on the uplink; `None` if there is no interface with this index.
pub(super) fn build(
    interfaces: &Interfaces<'_>,
    index: Index,
    wanted: &Wanted<'_>,
) -> Option<Bridge> {
    let uplink = interfaces.all.get(index)?;
    let span = uplink.get("name").map_or(uplink.span, |name| name.span);
    let name = uplink.text_at("name").unwrap_or_default();
    let mtu = mtu(interfaces, index, 0);
    Some([
        port(uplink, span),
        bridge(name, span, wanted),
        interface(uplink, name, mtu, span, wanted),
    ])
}

/// Puts the bridge into the place of its uplink.
pub(super) fn put(root: &mut Node<'static>, uplink: Index, bridge: Bridge) {
    let list = root.find_mut(&Path::default().key("interfaces")).map(|node| &mut node.value);
    if let Some(Value::Sequence(items)) = list {
        items.splice(uplink..=uplink, bridge);
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
fn bridge(uplink: &str, span: Span, wanted: &Wanted<'_>) -> Node<'static> {
    let ports = vec![named(uplink, span), named(wanted.name, span)];
    mapping(
        vec![
            entry("name", name_node(wanted.name, span)),
            entry("type", word("ovs-bridge", span)),
            entry("state", word("up", span)),
            entry("bridge", mapping(vec![entry("port", list(ports, span))], span)),
        ],
        span,
    )
}

fn interface(
    uplink: &Node<'static>,
    name: &str,
    mtu: Option<Node<'static>>,
    span: Span,
    wanted: &Wanted<'_>,
) -> Node<'static> {
    let mut entries = vec![
        entry("name", name_node(wanted.name, span)),
        entry("type", word("ovs-interface", span)),
        entry("state", word("up", span)),
        mac_source(uplink, name, span),
    ];
    entries.extend(mtu.map(|mtu| entry("mtu", mtu)));
    let moved = |key: &str| uplink.entries().iter().find(|entry| entry.key == *key).cloned();
    for key in MOVED {
        match moved(key).filter(|entry| !entry.node.is_null()) {
            Some(moved) if FAMILIES.contains(key) => entries.push(family(uplink, moved, wanted)),
            Some(moved) => entries.push(moved),
            None if FAMILIES.contains(key) => entries.push(entry(key, disabled(span))),
            None => {}
        }
    }
    mapping(entries, span)
}

/// nmstate copies the permanent address of a NIC, so that a configured one has to be repeated.
fn mac_source(uplink: &Node<'static>, name: &str, span: Span) -> Entry<'static> {
    let of_uplink = |key: &str| uplink.entries().iter().find(|entry| entry.key == *key).cloned();
    let own = of_uplink("mac-address")
        .filter(|entry| entry.node.text().is_some_and(|mac| !mac.is_empty()));
    let copied = || of_uplink("copy-mac-from").filter(|entry| !entry.node.is_null());
    own.or_else(copied).unwrap_or_else(|| entry("copy-mac-from", name_node(name, span)))
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
            let ports = stack::below(node).into_iter().filter(|below| below.role == Role::Port);
            let of = |name| mtu(interfaces, interfaces.find(name)?, depth + 1);
            let all: Option<Vec<Node<'static>>> = ports.map(|port| of(port.name)).collect();
            all?.into_iter().min_by_key(|mtu| mtu.number())
        }
        _ => None,
    }
}
