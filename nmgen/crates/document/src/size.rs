//! Bounds of documents and files.

use std::collections::HashSet;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, rules};
use crate::parsed::Document;
use crate::text::lines::position;
use crate::text::place::Place;
use crate::text::{Position, Source};
use crate::tree::{Entry, Node, Value};

/// The largest document: two hundred times a large node's, and small enough to protect a pipeline's
/// memory.
pub const MAX_DOCUMENT_BYTES: usize = 1 << 20;

/// The most interfaces of a document, with those that only a list of ports names: a real host has tens, and one with a thousand
/// containers, whose state somebody captured, a thousand. nmstate's conversion takes 24 KiB of memory for each, also for a port
/// that the document does not describe.
pub const MAX_INTERFACES: usize = 1_500;

/// The most rules of routing: nmstate compares each with each, 36,000 of them for half a minute.
const MAX_RULES: usize = 1_500;

/// The most VLAN tags of a port, those of ranges counted, as many as 12 bits have: nmstate writes out each, and refuses one that
/// is there twice.
const MAX_TAGS: u64 = 4_096;

/// The most items in all lists, the keys of large mappings counted: as many addresses or routes take 60 MB in an initramfs, as do
/// the features of cards.
const MAX_ITEMS: usize = 15_000;

/// The most keys of one mapping: NMState's largest have tens, and those that take any key, as Open vSwitch's external IDs, some
/// hundred. A mebibyte of keys of one interface takes nmstate 90 MB.
const MAX_KEYS: usize = 1_000;

/// The keys of a mapping that is not large: an interface has forty fields, and a card's features are sixty.
const FEW_KEYS: usize = 100;

/// The most commas and opening brackets of a document: indented JSON of a mebibyte has 40,000, JSON on one line 80,000.
const MAX_MARKS: usize = 50_000;

/// The largest file of a fleet: ten thousand hosts take 14 to 30 MiB.
pub const MAX_FLEET_BYTES: usize = 32 << 20;

/// The most hosts, and the most YAML documents of a file: ten times OpenShift's largest cluster.
pub const MAX_HOSTS: usize = 20_000;

rules! {
    pub(super) error DOCUMENT_SIZE = "document-size";
}

/// The fault of a document that is too large.
pub fn document_size(place: Place) -> Diagnostic {
    Diagnostic::new(DOCUMENT_SIZE, "the document is larger than 1 MiB", place)
        .help("a document describes one node; split a fleet into one file a host")
}

/// The keys of an interface's ports, and of a virtual cable's other end: nmstate makes an interface of each.
const PORTS: [&str; 6] = ["peer", "port", "port1", "port2", "ports", "ports-config"];

/// The fault of a document, a policy's too, with more of one kind than nmstate converts in a second and in little memory.
pub fn too_many(document: &Document<'_>) -> Option<Diagnostic> {
    let root = &document.root;
    let states = [Some(root), root.get("desiredState"), root.get("desired")];
    let (most, what, surplus) = states.into_iter().flatten().find_map(|state| {
        let interfaces = || Some((MAX_INTERFACES, "interfaces", surplus_interface(state)?));
        let rules = || {
            let rules = state.at(&["route-rules", "config"])?.items();
            Some((MAX_RULES, "route rules", rules.get(MAX_RULES)?))
        };
        let tags = || Some((MAX_TAGS as usize, "VLAN tags at one port", surplus_tag(state)?));
        let items = || {
            Some((MAX_ITEMS, "items in its lists and large mappings", surplus_item(state, &mut 0)?))
        };
        let keys = || Some((MAX_KEYS, "keys in one mapping", surplus_key(state)?));
        interfaces().or_else(rules).or_else(tags).or_else(items).or_else(keys)
    })?;
    let message = format!("the document has more than {most} {what}");
    let place = document.place(surplus.span);
    Some(Diagnostic::new(DOCUMENT_SIZE, message, place).help("a document describes one node"))
}

/// Returns the fault of a document's text with too many commas and brackets, before it is scanned: for its secrets too, so that no
/// line of it is shown.
pub(crate) fn too_many_marks(source: &Source) -> Option<Diagnostic> {
    surplus_mark(&source.text, MAX_MARKS)?;
    let message = format!("the document has more than {MAX_MARKS} commas and brackets");
    let fault = Diagnostic::new(DOCUMENT_SIZE, message, Place::file(Arc::clone(&source.name)));
    Some(fault.help("a document describes one node"))
}

/// Returns the place of the comma or opening bracket behind the first `most` ones.
pub(crate) fn surplus_mark(text: &str, most: usize) -> Option<Position> {
    let mut marks = memchr::memchr3_iter(b',', b'[', b'{', text.as_bytes());
    position(text, marks.nth(most)?)
}

/// The first interface, or the first port that is none of the document's interfaces, above the bound.
fn surplus_interface<'n, 't>(state: &'n Node<'t>) -> Option<&'n Node<'t>> {
    let interfaces = state.get("interfaces")?.items();
    if let Some(surplus) = interfaces.get(MAX_INTERFACES) {
        return Some(surplus);
    }
    let mut named: HashSet<&str> =
        interfaces.iter().filter_map(|interface| interface.text_at("name")).collect();
    let mut ports = Vec::new();
    interfaces.iter().for_each(|interface| find_ports(interface, &mut ports));
    // A port of two lists counts twice; one that the document describes, once.
    ports.retain(|port| !port.text().is_some_and(|name| named.remove(name)));
    ports.get(MAX_INTERFACES - interfaces.len()).copied()
}

/// Finds the names of ports at any depth: a bridge of Open vSwitch has bonds.
fn find_ports<'n, 't>(node: &'n Node<'t>, ports: &mut Vec<&'n Node<'t>>) {
    for entry in node.entries() {
        if PORTS.contains(&&*entry.key) {
            match &entry.node.value {
                Value::Sequence(items) => {
                    ports.extend(items.iter().map(|item| item.get("name").unwrap_or(item)));
                }
                Value::Scalar { .. } => ports.push(&entry.node),
                Value::Mapping(_) => {}
            }
        }
    }
    node.below().for_each(|below| find_ports(below, ports));
}

/// The first VLAN tag, or range of them, of a port above the bound.
fn surplus_tag<'n, 't>(node: &'n Node<'t>) -> Option<&'n Node<'t>> {
    let tags = |tag: &Node<'_>| {
        let end = |key| tag.number_at(&["id-range", key]).unwrap_or_default();
        1 + end("max").saturating_sub(end("min"))
    };
    let of_list = |entry: &'n Entry<'t>| {
        let mut count = 0_u64;
        entry.node.items().iter().find(|tag| {
            count = count.saturating_add(tags(tag));
            count > MAX_TAGS
        })
    };
    let mut lists = node.entries().iter().filter(|entry| entry.key == "trunk-tags");
    lists.find_map(of_list).or_else(|| node.below().find_map(surplus_tag))
}

/// The first item of a list, or value of a large mapping, above the bound, `before` of them counted.
fn surplus_item<'n, 't>(node: &'n Node<'t>, before: &mut usize) -> Option<&'n Node<'t>> {
    let is_small_mapping = node.items().is_empty() && node.entries().len() <= FEW_KEYS;
    let own = if is_small_mapping { 0 } else { node.below().count() };
    if *before + own > MAX_ITEMS {
        return node.below().nth(MAX_ITEMS - *before);
    }
    *before += own;
    node.below().find_map(|below| surplus_item(below, before))
}

/// The value of the first key of a mapping above the bound.
fn surplus_key<'n, 't>(node: &'n Node<'t>) -> Option<&'n Node<'t>> {
    let own = node.entries().get(MAX_KEYS).map(|entry| &entry.node);
    own.or_else(|| node.below().find_map(surplus_key))
}

/// The fault of a file of a fleet that is too large.
pub fn fleet_size(message: &str, place: Place) -> Diagnostic {
    Diagnostic::new(DOCUMENT_SIZE, message, place)
        .help("split it: several files can be given together")
}

#[cfg(test)]
mod tests {
    use super::{FEW_KEYS, MAX_INTERFACES, MAX_ITEMS, MAX_KEYS, MAX_MARKS, MAX_RULES, MAX_TAGS};
    use crate::text::Source;

    /// The finding about a document, and its line.
    fn found(text: String) -> Option<String> {
        let source = Source { name: "a.yml".into(), text: text.into() };
        crate::parse(&source).err().map(|faults| {
            let faults: Vec<String> = faults.iter().map(|fault| fault.one_line()).collect();
            faults.join("; ")
        })
    }

    /// A list within brackets, an item a line.
    fn listed(count: usize, item: impl Fn(usize) -> String) -> String {
        (0..count).map(|number| format!("\n      {},", item(number))).collect()
    }

    #[test]
    fn ports_that_only_a_list_names_are_interfaces() {
        let name = |number: usize| format!("p{number}");
        let port = |number: usize| format!("{{name: p{number}}}");
        type Item<'i> = &'i dyn Fn(usize) -> String;
        let shapes: [(&str, &str, Item<'_>); 8] = [
            ("type: bond, link-aggregation: {port: [", "]}", &name),
            ("type: bond, bond: {ports: [", "]}", &name),
            ("type: bond, link-aggregation: {ports-config: [", "]}", &port),
            ("type: linux-bridge, bridge: {port: [", "]}", &port),
            ("type: ovs-bridge, bridge: {ports: [", "]}", &port),
            ("type: ovs-bridge, bridge: {port: [{link-aggregation: {port: [", "]}}]}", &port),
            ("type: vrf, vrf: {port: [", "]}", &name),
            ("type: vrf, vrf: {ports: [", "]}", &name),
        ];
        for (before, after, item) in shapes {
            for (key, indent) in [("", ""), ("desiredState:\n", "  ")] {
                let text = |count: usize, described: &str| {
                    let list = listed(count, item);
                    format!(
                        "{key}{indent}interfaces:{described}\n{indent}- {{name: c, {before}{list}{after}}}\n"
                    )
                };
                let most = MAX_INTERFACES - 1 - usize::from(before.contains("[{"));
                assert_eq!(found(text(most, "")), None, "{before}");
                let message = found(text(most + 1, "")).unwrap_or_default();
                assert!(message.contains("more than 1500 interfaces"), "{before}: {message}");
                // One that the document describes is one.
                let described = format!("\n{indent}- {{name: p7}}");
                assert_eq!(found(text(most, &described)), None, "{before}");
            }
        }
        for end in ["type: veth, veth: {peer", "type: hsr, hsr: {port1"] {
            let pairs =
                |count| listed(count, |number| format!("{{name: v{number}, {end}: p{number}}}}}"));
            assert_eq!(found(format!("interfaces: [{}]\n", pairs(750))), None);
            let message = found(format!("interfaces: [{}]\n", pairs(751))).unwrap_or_default();
            assert!(message.contains("more than 1500 interfaces"), "{end}: {message}");
        }
    }

    #[test]
    fn commas_and_brackets_are_bounded_before_the_text_is_scanned() {
        let marks = |count| format!("# {}\n", "[,".repeat(count / 2));
        assert_eq!(found(marks(MAX_MARKS)), None);
        let message = found(marks(MAX_MARKS + 2)).unwrap_or_default();
        let expected = "a.yml: the document has more than 50000 commas and brackets";
        assert!(message.starts_with(expected), "{message}");
    }

    #[test]
    fn mappings_are_bounded_by_their_keys() {
        let features = |count| {
            let features = listed(count, |number| format!("f{number}: true"));
            format!("interfaces: [{{name: a, ethtool: {{feature: {{{features}}}}}}}]\n")
        };
        assert_eq!(found(features(MAX_KEYS)), None);
        let message = found(features(MAX_KEYS + 1)).unwrap_or_default();
        let expected = "a.yml:1002:14: the document has more than 1000 keys in one mapping";
        assert!(message.starts_with(expected), "{message}");
        // Of all large mappings there are as many as items; small ones do not count.
        let cards = |count, keys| {
            let features: String = (0..keys).map(|number| format!("f{number}: true, ")).collect();
            let card = |_| format!("{{ethtool: {{feature: {{{features}}}}}}}");
            found(format!("interfaces: [{}]\n", listed(count, card)))
        };
        assert_eq!(cards(200, FEW_KEYS), None);
        assert_eq!(cards(14, MAX_KEYS), None);
        let message = cards(15, MAX_KEYS).unwrap_or_default();
        assert!(message.contains("more than 15000 items in its lists and large"), "{message}");
    }

    #[test]
    fn lists_are_bounded_by_their_items() {
        let rules = |count| {
            format!(
                "route-rules:\n  config: [{}]\n",
                listed(count, |number| format!("{{priority: {number}}}"))
            )
        };
        assert_eq!(found(rules(MAX_RULES)), None);
        let message = found(rules(MAX_RULES + 1)).unwrap_or_default();
        assert!(
            message.starts_with("a.yml:1503:7: the document has more than 1500 route rules"),
            "{message}"
        );
        let tags = |tags: &str| {
            let port = format!("{{name: a, vlan: {{mode: trunk, trunk-tags: [{tags}]}}}}");
            format!("interfaces:\n- {{name: b, bridge: {{port: [{port}]}}}}\n")
        };
        let listed_tags = |count| tags(&listed(count, |number| format!("{{id: {number}}}")));
        assert_eq!(found(listed_tags(MAX_TAGS as usize)), None);
        let range = "{id-range: {min: 1, max: 4094}}";
        assert_eq!(found(tags(range)), None);
        for surplus in [listed_tags(MAX_TAGS as usize + 1), tags(&format!("{range}, {range}"))] {
            let message = found(surplus).unwrap_or_default();
            assert!(message.contains("more than 4096 VLAN tags at one port"), "{message}");
        }
        let routes = |count| {
            let routes = listed(count, |number| format!("{{metric: {number}}}"));
            format!(
                "interfaces: [{{name: a, alt-names: [{{name: b}}]}}]\nroutes:\n  config: [{routes}]\n"
            )
        };
        assert_eq!(found(routes(MAX_ITEMS - 2)), None);
        let message = found(routes(MAX_ITEMS - 1)).unwrap_or_default();
        assert!(
            message.starts_with("a.yml:15002:7: the document has more than 15000 items"),
            "{message}"
        );
    }
}
