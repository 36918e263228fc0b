//! A key that NMState has in another place, and other tools' words for NMState's fields.

use nmgen_document::{Entry, Node, Path, Step, Value};

use super::locate::{Judge, reason};

/// Words of ifcfg files, nmcli, netplan and iproute2, with NMState's field.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("bonding", "link-aggregation, with mode, options and port"),
    ("dns", "dns-resolver.config.server, at the top level"),
    ("dns-search", "dns-resolver.config.search, at the top level"),
    (
        "gateway",
        "routes.config, at the top level: destination 0.0.0.0/0 with next-hop-address and next-hop-interface",
    ),
    (
        "gateway4",
        "routes.config, at the top level: destination 0.0.0.0/0 with next-hop-address and next-hop-interface",
    ),
    (
        "gateway6",
        "routes.config, at the top level: destination ::/0 with next-hop-address and next-hop-interface",
    ),
    ("dev", "next-hop-interface"),
    ("master", "controller, or the interface's name in the list of ports of its bond or bridge"),
    ("nameserver", "dns-resolver.config.server, at the top level"),
    ("nameservers", "dns-resolver.config.server, at the top level"),
    ("netmask", "prefix-length, beside ip"),
    ("prefix", "prefix-length, beside ip"),
    ("sriov", "ethernet.sr-iov"),
    ("slave", "port, under link-aggregation of the bond or under bridge of the bridge"),
    ("slaves", "port, under link-aggregation of the bond or under bridge of the bridge"),
    ("to", "destination"),
    ("via", "next-hop-address"),
];

/// Where the key belongs: one level up, under `config`, at the top level, or under another name.
pub(super) fn remedy(root: &Node<'_>, path: &Path, judge: Judge) -> Option<String> {
    let (Step::Key(key), around) = path.split_last()? else { return None };
    let value = &root.find(path)?.value;
    let node = Node { span: root.span, value: value.clone() };
    let fits = |steps: &[Step], kind: Option<&Node<'_>>| takes(steps, kind, key, &node, judge);
    let kind = kind(root, &around);
    if let Some((last @ Step::Key(_), above)) = around.split_last()
        && !above.steps().is_empty()
        && fits(above.steps(), kind)
    {
        let Step::Key(last) = last else { return None };
        return Some(format!("it belongs one level up, beside {last}"));
    }
    if let ([Step::Key(list), Step::Index(_)], Some(interface)) = (around.steps(), kind)
        && **list == *"interfaces"
        && fits(around.steps(), Some(&retyped(interface, key)))
    {
        return Some(format!("the section {key} is for interfaces of type {key}"));
    }
    let config = around.key("config");
    if fits(config.steps(), kind) {
        return Some(format!("it belongs under {config}"));
    }
    if !around.steps().is_empty() && fits(&[], None) {
        return Some("it belongs at the top level, beside interfaces".to_owned());
    }
    let (_, field) = OTHER_WORDS.iter().find(|(word, _)| **word == **key)?;
    Some(format!("NMState's field is {field}"))
}

/// The interface with another type.
fn retyped<'t>(interface: &Node<'t>, kind: &str) -> Node<'t> {
    let span = interface.span;
    let value = Value::Scalar { text: kind.to_owned().into(), plain: true };
    let entry = Entry { key: "type".into(), key_span: span, node: Node { span, value } };
    let others = interface.entries().iter().filter(|entry| entry.key != "type").cloned();
    Node { span, value: Value::Mapping(others.chain([entry]).collect()) }
}

/// The list item that the path leads through, for the name and type that select its schema.
fn kind<'n, 't>(root: &'n Node<'t>, path: &Path) -> Option<&'n Node<'t>> {
    let end = path.steps().iter().position(|step| matches!(step, Step::Index(_)))?;
    let item =
        path.steps()[..=end].iter().cloned().fold(Path::default(), |path, step| path.join(step));
    root.find(&item)
}

/// Whether nmstate takes the key with this value at this place, and would refuse another one.
fn takes(
    steps: &[Step],
    kind: Option<&Node<'_>>,
    key: &str,
    value: &Node<'_>,
    judge: Judge,
) -> bool {
    let with = |key: &str| {
        judge(&at(
            steps,
            kind,
            Entry { key: key.to_owned().into(), key_span: value.span, node: value.clone() },
        ))
    };
    // A section that takes any key proves nothing.
    let unknown = |verdict: Result<(), crate::state::Refusal>| {
        verdict.is_err_and(|refusal| reason(&refusal).contains("unknown field"))
    };
    with(key).is_ok() && unknown(with("no-such-field"))
}

/// A document with one key, below the identity of the list item around it.
fn at<'t>(steps: &[Step], kind: Option<&Node<'t>>, entry: Entry<'t>) -> Node<'t> {
    let span = entry.key_span;
    let Some((step, below)) = steps.split_first() else {
        return Node { span, value: Value::Mapping(vec![entry]) };
    };
    match step {
        Step::Index(_) => {
            let mut item = at(below, None, entry);
            if let (Value::Mapping(entries), Some(kind)) = (&mut item.value, kind) {
                let identity = |e: &&Entry<'t>| matches!(&*e.key, "name" | "type");
                entries.extend(kind.entries().iter().filter(identity).cloned());
            }
            Node { span, value: Value::Sequence(vec![item]) }
        }
        Step::Key(key) => {
            let node = at(below, kind, entry);
            let entry = Entry { key: key.to_string().into(), key_span: span, node };
            Node { span, value: Value::Mapping(vec![entry]) }
        }
    }
}
