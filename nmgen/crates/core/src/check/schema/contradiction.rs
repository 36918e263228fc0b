//! nmstate's refusal of values that contradict each other, the same one in each run.
//!
//! nmstate keeps interfaces in hash maps with random keys, and tells the first fault in their order. Here the first group of
//! interfaces that it refuses is told, in the document's order: those of a group name each other, and no other group.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nmgen_document::{Node, Value};

use super::effort::values;
use crate::state::{Refusal, State};

/// Attempts for each known refusal until no other one is expected: of two, one is missed once in 16 million times.
const ATTEMPTS: usize = 24;
/// Bound on attempts for a group with many faults.
const MAX_ATTEMPTS: usize = 240;
/// Bound on the values of all attempts on a document: a card with a thousand unknown features has as many refusals, and a thousand
/// cards may have some each.
const MOST_VALUES: usize = 250_000;
/// Bound on those of one question, of which a search asks many: groups of two thousand values have all attempts.
const MOST_VALUES_OF_A_QUESTION: usize = 50_000;

/// nmstate's verdict on the conversion of this document.
pub(super) fn judge(root: &Node<'_>) -> Result<(), Refusal> {
    let state = state(root)?;
    let Err(refusal) = state.generate() else { return Ok(()) };
    for group in groups(root) {
        let state = self::state(&group)?;
        if let Err(refusal) = state.generate() {
            return Err(least(&group, &state, &refusal));
        }
    }
    // A contradiction between groups, or outside of interfaces.
    Err(least(root, &state, &refusal))
}

/// Words of refusals that follow from the document alone, whatever the node has. The others may be about what only a node knows, or
/// about values that its present state completes.
const OF_THE_DOCUMENT: &[&str] = &[
    "but not listed in port list",
    "controller property set to",
    "conflict with the port names",
    "are not compatible options",
    "option is only valid for bond in",
    "option is invalid for bond in",
    "overbooked by two controller",
    "are sharing the same queue-id",
    "cannot be an IANA multicast",
    "is overlapping with other tag",
    "cannot be set in access mode",
    "access mode cannot have",
    "interlink property is not supported",
    "multiple ports pointing to the same",
    "already defined in this controller port list",
    "different group_forward_mask",
    "Desired STP ",
    "Invalid linux bridge multicast_router",
    "Loopback interface cannot have IPv4 DHCP",
    "The mka_c",
    "can not hold MAC address",
    "OVS patch interface is not allowed",
    "must power of 2",
    "VLAN protocol 802.1ad",
    "The maximum VLAN priority is 7",
    "Only active-backup bond allowed",
    "not allow to hold dispatch",
    "Alternative name cannot be the same",
    "Desired alt-name ",
    "ipv4 config section",
    "ipv6 config section",
    "network prefix length",
    "Desired IPv6 token should be lead",
    "forwarding is not supported for IPv6",
    "Invalid IP network",
    "nmstate only support nested interface",
];

/// nmstate's verdict on what contradicts itself in this document, whatever the node has.
pub(super) fn judge_alone(root: &Node<'_>) -> Result<(), Refusal> {
    let whole = state(root)?;
    let Err(first) = whole.generate() else { return Ok(()) };
    let mut left = MOST_VALUES;
    let mut alone = |root: &Node<'_>, state: &State, first: &Refusal| {
        let mut found = refusals(root, state, first, &mut left).into_iter();
        found.find(|text| OF_THE_DOCUMENT.iter().any(|words| text.contains(words)))
    };
    for group in groups(root) {
        let state = self::state(&group)?;
        if let Err(refusal) = state.generate()
            && let Some(text) = alone(&group, &state, &refusal)
        {
            return Err(Refusal(text));
        }
    }
    alone(root, &whole, &first).map_or(Ok(()), |text| Err(Refusal(text)))
}

/// The refusal with the members of its sets in order.
pub(super) fn in_order(Refusal(text): &Refusal) -> Refusal {
    /// nmstate compares the ports of a bond's two lists as sets, and tells each difference.
    const SETS: [&str; 2] = [
        "Ports in `port` but not in `ports_config`: ",
        "Ports in `ports_config` but not in `port`: ",
    ];
    let in_set = |text: String, introduction: &str| match text.split_once(introduction) {
        Some((before, rest)) => {
            let (set, after) = SETS
                .iter()
                .filter_map(|next| rest.find(next))
                .min()
                .map_or((rest, ""), |end| rest.split_at(end));
            let mut members: Vec<&str> = set.trim_end_matches(". ").split(", ").collect();
            members.sort_unstable();
            format!("{before}{introduction}{}. {after}", members.join(", "))
        }
        None => text,
    };
    Refusal(SETS.into_iter().fold(text.clone(), in_set))
}

fn state(root: &Node<'_>) -> Result<State, Refusal> {
    State::parse(root).map(State::without_copied_addresses)
}

/// The first in the order of their words of the refusals of this state.
fn least(root: &Node<'_>, state: &State, first: &Refusal) -> Refusal {
    let mut left = MOST_VALUES_OF_A_QUESTION;
    let mut found = refusals(root, state, first, &mut left);
    found.pop_first().map_or_else(|| in_order(first), Refusal)
}

/// Returns the refusals of this document's state, of which nmstate reports any one. Each attempt takes its values of those left.
fn refusals(root: &Node<'_>, state: &State, first: &Refusal, left: &mut usize) -> BTreeSet<String> {
    let mut found = BTreeSet::from([in_order(first).0]);
    let mut in_vain = 0;
    let values = values(root);
    for _ in 0..MAX_ATTEMPTS.min(*left / values) {
        *left -= values;
        let again = state.generate().err();
        let is_new = again.is_some_and(|refusal| found.insert(in_order(&refusal).0));
        in_vain = if is_new { 0 } else { in_vain + 1 };
        if in_vain == ATTEMPTS * found.len() {
            break;
        }
    }
    found
}

/// For each group of interfaces a document with nothing else.
fn groups<'t>(root: &Node<'t>) -> Vec<Node<'t>> {
    let Some(list) = root.entry("interfaces") else { return Vec::new() };
    let items = list.node.items();
    let mut groups: BTreeMap<usize, Vec<Node<'t>>> = BTreeMap::new();
    for (item, leader) in items.iter().zip(leaders(items)) {
        groups.entry(leader).or_default().push(item.clone());
    }
    let alone = |items| {
        let node = Node { span: list.node.span, value: Value::Sequence(items) };
        Node { span: root.span, value: Value::Mapping(vec![list.with(node)]) }
    };
    groups.into_values().map(alone).collect()
}

/// The index of the first interface in the group of each.
fn leaders(items: &[Node<'_>]) -> Vec<usize> {
    let mut leaders: Vec<usize> = (0..items.len()).collect();
    let mut named: HashMap<&str, usize> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        let others = item.items_at(&["alt-names"]);
        let others = others.iter().filter_map(|other| other.text_at("name"));
        let own = ["name", "profile-name"].into_iter().filter_map(|key| item.text_at(key));
        for name in own.chain(others) {
            let first = *named.entry(name).or_insert(index);
            join(&mut leaders, first, index);
        }
    }
    for (index, item) in items.iter().enumerate() {
        words(item, &mut |word| {
            if let Some(first) = named.get(word) {
                join(&mut leaders, *first, index);
            }
        });
    }
    (0..items.len()).map(|index| leader(&mut leaders, index)).collect()
}

fn join(leaders: &mut [usize], one: usize, other: usize) {
    let (one, other) = (leader(leaders, one), leader(leaders, other));
    leaders[one.max(other)] = one.min(other);
}

fn leader(leaders: &mut [usize], mut index: usize) -> usize {
    while leaders[index] != index {
        leaders[index] = leaders[leaders[index]];
        index = leaders[index];
    }
    index
}

/// Visits every value that may be a name.
fn words<'n>(node: &'n Node<'_>, visit: &mut impl FnMut(&'n str)) {
    match &node.value {
        Value::Scalar { text, .. } => visit(text),
        Value::Sequence(items) => items.iter().for_each(|item| words(item, visit)),
        Value::Mapping(entries) => entries.iter().for_each(|entry| words(&entry.node, visit)),
    }
}

#[cfg(test)]
mod tests {
    use super::{groups, in_order};
    use crate::state::Refusal;
    use nmgen_document::text::Source;

    #[test]
    fn interfaces_that_name_each_other_are_a_group()
    -> Result<(), nmgen_document::diagnostic::Diagnostics> {
        let text = "interfaces:\n\
                    - {name: eth9, alt-names: [{name: uplink}]}\n\
                    - {name: bond0, link-aggregation: {port: [eth1, eth2]}}\n\
                    - {name: eth0}\n\
                    - {name: eth2}\n\
                    - {name: eth1}\n\
                    - {name: vlan, vlan: {base-iface: uplink}}\n\
                    - {name: eth0}\n\
                    routes: {config: [{next-hop-interface: eth0}]}\n";
        let source = Source { name: "test".into(), text: text.into() };
        let root = nmgen_document::parse(&source)?.root;
        let names = groups(&root).into_iter().map(|group| {
            let items = group.at(&["interfaces"]).map(|list| list.items().to_vec());
            let items = items.unwrap_or_default();
            let names = items.iter().filter_map(|item| item.text_at("name"));
            names.map(str::to_owned).collect::<Vec<_>>()
        });
        let expected = [vec!["eth9", "vlan"], vec!["bond0", "eth2", "eth1"], vec!["eth0", "eth0"]];
        assert_eq!(names.collect::<Vec<_>>(), expected);
        Ok(())
    }

    #[test]
    fn the_ports_of_two_lists_are_in_order() {
        let told = |first: &str, second: &str| {
            let refusal = Refusal(format!(
                "bond0. Ports in `port` but not in `ports_config`: {first}. \
                 Ports in `ports_config` but not in `port`: {second}. "
            ));
            in_order(&refusal).0
        };
        assert_eq!(told("b, a", "d, c"), told("a, b", "c, d"));
        assert!(
            told("b, a", "d, c")
                .ends_with("a, b. Ports in `ports_config` but not in `port`: c, d. ")
        );
        let other = Refusal("eth0, eth1: b, a. ".to_owned());
        assert_eq!(in_order(&other), other);
    }
}
