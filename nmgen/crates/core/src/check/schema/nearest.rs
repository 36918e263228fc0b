//! Suggests the valid name nearest to an unknown one.

use nmgen_document::{Entry, Node, Path, Step, Value};

use super::locate::{Judge, reason};

/// The least similarity of a suggestion.
const ALIKE: f64 = 0.8;

/// The most candidates tried with nmstate.
const MAX_GUESSES: usize = 3;

/// Candidate keys; nmstate lists none for interfaces. nmstate decides which of them the type has, so
/// an excess key is harmless.
const INTERFACE_FIELDS: &str = "802.1x accept-all-mac-addresses alt-names bridge controller \
    copy-mac-from description dispatch ethernet ethtool hsr identifier infiniband ip-tunnel ipv4 \
    ipv6 ipvlan libreswan link-aggregation lldp mac-address mac-vlan mac-vtap macsec mptcp mtu \
    name ovs-db patch pci-address profile-name state type veth vlan vrf vxlan wait-ip";

/// The expected name most similar to the found one, ignoring case.
pub(super) fn nearest<'a>(found: &str, expected: &[&'a str]) -> Option<&'a str> {
    ranked(found, expected).into_iter().next()
}

/// The interface's field nearest to the key at the end of `path`.
pub(super) fn field_of_interface(
    root: &Node<'_>,
    path: &Path,
    judge: Judge,
) -> Option<&'static str> {
    let (Step::Key(key), parent) = path.split_last()? else { return None };
    let [Step::Key(list), Step::Index(_)] = parent.steps() else { return None };
    let interface = root.find(&parent).filter(|_| **list == *"interfaces")?;
    let fields: Vec<&str> = INTERFACE_FIELDS.split(' ').collect();
    let guesses = ranked(key, &fields).into_iter().take(MAX_GUESSES);
    guesses.filter(|guess| interface.entry(guess).is_none()).find(|guess| {
        let verdict = judge(&with_renamed(interface, key, guess));
        let unknown = format!("unknown field `{guess}`");
        verdict.map_or_else(|refusal| !reason(&refusal).contains(&unknown), |()| true)
    })
}

/// The similar names, the most similar first.
fn ranked<'a>(found: &str, expected: &[&'a str]) -> Vec<&'a str> {
    let found = found.to_lowercase().replace('_', "-");
    let score = |name: &str| {
        let name = name.to_lowercase().replace('_', "-");
        // Another word before the name: next-hop-table-id.
        match found.strip_suffix(&name).is_some_and(|before| before.ends_with('-')) {
            true => 1.0,
            false => strsim::jaro_winkler(&found, &name),
        }
    };
    let mut scored: Vec<(f64, &str)> = expected.iter().map(|name| (score(name), *name)).collect();
    scored.retain(|(score, _)| *score > ALIKE);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().map(|(_, name)| name).collect()
}

/// A document with only the interface's identity and the key under its new name.
fn with_renamed<'t>(interface: &Node<'t>, key: &str, name: &'static str) -> Node<'t> {
    let entries = interface.entries().iter().filter_map(|entry| match &*entry.key {
        found if found == key => Some(Entry { key: name.into(), ..entry.clone() }),
        "name" | "type" => Some(entry.clone()),
        _ => None,
    });
    let span = interface.span;
    let alone = Node { span, value: Value::Mapping(entries.collect()) };
    let list = Node { span, value: Value::Sequence(vec![alone]) };
    let entry = Entry { key: "interfaces".into(), key_span: span, node: list };
    Node { span, value: Value::Mapping(vec![entry]) }
}
