//! The fields of a document that name interfaces. A test compares the tables with the nmstate crate.

use std::borrow::Cow;

use nmgen_document::{Node, Value};

/// Keys from the document's root; `[]` stands for every item of a list.
const OF_THE_DOCUMENT: &[&[&str]] = &[
    &["routes", "config", "[]", "next-hop-interface"],
    &["routes", "config", "[]", "vrf-name"],
    &["route-rules", "config", "[]", "iif"],
    // A link-local address names its interface: fe80::1%eth1.
    &["dns-resolver", "config", "server", "[]"],
];

/// Keys from an interface, without its own name.
const OF_AN_INTERFACE: &[&[&str]] = &[
    &["controller"],
    &["copy-mac-from"],
    &["link-aggregation", "port", "[]"],
    &["link-aggregation", "ports", "[]"],
    &["link-aggregation", "ports-config", "[]", "name"],
    &["link-aggregation", "options", "primary"],
    &["bond", "port", "[]"],
    &["bond", "ports", "[]"],
    &["bond", "ports-config", "[]", "name"],
    &["bond", "options", "primary"],
    &["bridge", "port", "[]", "name"],
    &["bridge", "ports", "[]", "name"],
    &["bridge", "port", "[]", "link-aggregation", "port", "[]", "name"],
    &["bridge", "port", "[]", "link-aggregation", "ports", "[]", "name"],
    &["bridge", "port", "[]", "bond", "port", "[]", "name"],
    &["bridge", "port", "[]", "bond", "ports", "[]", "name"],
    &["bridge", "ports", "[]", "link-aggregation", "port", "[]", "name"],
    &["bridge", "ports", "[]", "link-aggregation", "ports", "[]", "name"],
    &["bridge", "ports", "[]", "bond", "port", "[]", "name"],
    &["bridge", "ports", "[]", "bond", "ports", "[]", "name"],
    &["vrf", "port", "[]"],
    &["vrf", "ports", "[]"],
    &["hsr", "port1"],
    &["hsr", "port2"],
    &["hsr", "interlink"],
    &["vlan", "base-iface"],
    &["vxlan", "base-iface"],
    &["mac-vlan", "base-iface"],
    &["mac-vtap", "base-iface"],
    &["macsec", "base-iface"],
    &["ipvlan", "base-iface"],
    &["infiniband", "base-iface"],
    &["ip-tunnel", "base-iface"],
    &["veth", "peer"],
    &["patch", "peer"],
    &["ethernet", "sr-iov", "vfs", "[]", "iface-name"],
];

/// Renames interfaces in every field that names them; `renamed` returns `None` for an unchanged name.
pub(crate) fn rename<'n>(root: &mut Node<'_>, renamed: &impl Fn(&str) -> Option<&'n str>) {
    let mut change = |node: &mut Node<'_>| {
        let Value::Scalar { text, plain } = &mut node.value else { return };
        if let Some(name) = in_context(text, renamed) {
            // Quoted, so that a name of digits stays text.
            (*text, *plain) = (Cow::Owned(name), false);
        }
    };
    for keys in OF_THE_DOCUMENT {
        visit(root, keys, &mut change);
    }
    visit(root, &["interfaces", "[]"], &mut |interface| {
        for keys in OF_AN_INTERFACE {
            visit(interface, keys, &mut change);
        }
        // These never become kernel interfaces, and may share an interface's name.
        if !matches!(interface.text_at("type"), Some("ovs-bridge" | "ipsec")) {
            visit(interface, &["name"], &mut change);
        }
    });
}

/// The field's new text: the name alone, after the `%` of an address, or between the colons of a
/// virtual function (`sriov:eth1:0`).
fn in_context<'n>(text: &str, renamed: &impl Fn(&str) -> Option<&'n str>) -> Option<String> {
    if let Some(name) = renamed(text) {
        return Some(name.to_owned());
    }
    if let Some((address, zone)) = text.split_once('%') {
        return renamed(zone).map(|name| format!("{address}%{name}"));
    }
    let (name, function) = text.strip_prefix("sriov:")?.split_once(':')?;
    renamed(name).map(|name| format!("sriov:{name}:{function}"))
}

/// Calls `found` for each value at the end of the keys.
fn visit<'t>(node: &mut Node<'t>, keys: &[&str], found: &mut impl FnMut(&mut Node<'t>)) {
    let Some((first, rest)) = keys.split_first() else { return found(node) };
    match &mut node.value {
        Value::Sequence(items) if *first == "[]" => {
            items.iter_mut().for_each(|item| visit(item, rest, found));
        }
        Value::Mapping(entries) => {
            if let Some(entry) = entries.iter_mut().find(|entry| entry.key == *first) {
                visit(&mut entry.node, rest, found);
            }
        }
        Value::Sequence(_) | Value::Scalar { .. } => {}
    }
}

#[cfg(test)]
mod tests;
