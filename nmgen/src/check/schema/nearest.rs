//! What was probably meant by a name that NMState does not have.

use super::locate::{Judge, reason};
use crate::document::{Entry, Node, Path, Step, Value};

/// Below it two names have nothing to do with each other.
const ALIKE: f64 = 0.8;

/// So many guesses are put to nmstate.
const MAX_GUESSES: usize = 3;

/// Names to guess from, for interfaces: of those nmstate does not tell what it expects. Which of them an
/// interface may have is asked, so that a name too many does no harm.
const INTERFACE_FIELDS: &[&str] = &[
    "802.1x",
    "accept-all-mac-addresses",
    "alt-names",
    "bridge",
    "controller",
    "copy-mac-from",
    "description",
    "dispatch",
    "ethernet",
    "ethtool",
    "hsr",
    "identifier",
    "infiniband",
    "ip-tunnel",
    "ipv4",
    "ipv6",
    "ipvlan",
    "libreswan",
    "link-aggregation",
    "lldp",
    "mac-address",
    "mac-vlan",
    "mac-vtap",
    "macsec",
    "mptcp",
    "mtu",
    "name",
    "ovs-db",
    "patch",
    "pci-address",
    "profile-name",
    "state",
    "type",
    "veth",
    "vlan",
    "vrf",
    "vxlan",
    "wait-ip",
];

/// The expected name that is most like the one found, whatever its case.
pub(super) fn nearest<'a>(found: &str, expected: &[&'a str]) -> Option<&'a str> {
    ranked(found, expected).into_iter().next()
}

/// The field of the interface at `path` that was probably meant by the key at the path's end.
pub(super) fn field_of_interface(
    root: &Node<'_>,
    path: &Path,
    judge: Judge,
) -> Option<&'static str> {
    let (Step::Key(key), parent) = path.split_last()? else { return None };
    let [Step::Key(list), Step::Index(_)] = parent.steps() else { return None };
    let interface = root.find(&parent).filter(|_| **list == *"interfaces")?;
    let guesses = ranked(key, INTERFACE_FIELDS).into_iter().take(MAX_GUESSES);
    guesses.filter(|guess| interface.entry(guess).is_none()).find(|guess| {
        let verdict = judge(&with_renamed(interface, key, guess));
        let unknown = format!("unknown field `{guess}`");
        verdict.map_or_else(|refusal| !reason(&refusal).contains(&unknown), |()| true)
    })
}

/// Those that are alike, the most alike first.
fn ranked<'a>(found: &str, expected: &[&'a str]) -> Vec<&'a str> {
    let found = found.to_lowercase().replace('_', "-");
    let score = |name: &str| strsim::jaro_winkler(&found, &name.to_lowercase().replace('_', "-"));
    let mut scored: Vec<(f64, &str)> = expected.iter().map(|name| (score(name), *name)).collect();
    scored.retain(|(score, _)| *score > ALIKE);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().map(|(_, name)| name).collect()
}

/// A document with nothing but what the interface is, and the one key under another name.
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
