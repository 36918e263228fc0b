//! A key that NMState has in another place, and other tools' words for NMState's fields.

use nmgen_document::{Entry, Node, Path, Step, Value};

use super::locate::{Judge, reason};

/// A field of NMState for a word of others: the section that the word is in, or any of them, the word, the field.
type Word = (Option<&'static str>, &'static str, &'static str);

const ROUTE: &str = "routes.config, at the top level: destination 0.0.0.0/0 with next-hop-address and next-hop-interface";
const DHCP: &str = "dhcp, below ipv4 or ipv6, with enabled: true";
const SERVERS: &str = "dns-resolver.config.server, at the top level";
const DOMAINS: &str = "dns-resolver.config.search, at the top level";
const PORT: &str = "port, under link-aggregation of the bond or under bridge of the bridge";
const ADDRESS: &str = "address, below ipv4 or ipv6: a list of ip with prefix-length";

/// Words of ifcfg files, nmcli, netplan and iproute2, and of other sections of NMState. The first one counts.
const OTHER_WORDS: &[Word] = &[
    (Some("route-rules"), "from", "ip-from"),
    (Some("route-rules"), "lookup", "route-table"),
    (Some("route-rules"), "table", "route-table"),
    (Some("route-rules"), "table-id", "route-table"),
    (Some("route-rules"), "to", "ip-to"),
    (Some("routes"), "dev", "next-hop-interface"),
    (Some("routes"), "gateway", "next-hop-address"),
    (Some("routes"), "rules", "route-rules.config, at the top level"),
    (Some("routes"), "table", "table-id"),
    (Some("vrf"), "table", "route-table-id"),
    (Some("vlan"), "id", "tag: a port of a bridge has mode and tag"),
    (None, "addresses", ADDRESS),
    (None, "bonding", "link-aggregation, with mode, options and port"),
    (None, "bootproto", DHCP),
    (None, "config", "interfaces itself: config is around it in an NMStateConfig only"),
    (None, "dhcp4", DHCP),
    (None, "dhcp6", DHCP),
    (
        None,
        "dhcp4-overrides",
        "auto-dns, auto-gateway, auto-routes and auto-route-metric, below ipv4",
    ),
    (
        None,
        "dhcp6-overrides",
        "auto-dns, auto-gateway, auto-routes and auto-route-metric, below ipv6",
    ),
    (None, "dns", SERVERS),
    (None, "dns-search", DOMAINS),
    (None, "gateway", ROUTE),
    (None, "gateway4", ROUTE),
    (None, "gateway6", ROUTE),
    (None, "dev", "next-hop-interface"),
    (None, "ignore-auto-dns", "auto-dns: false"),
    (None, "ignore-auto-routes", "auto-routes: false"),
    (None, "ipaddr", ADDRESS),
    (None, "ip6addr", ADDRESS),
    (None, "macaddress", "mac-address"),
    (
        None,
        "master",
        "controller, or the interface's name in the list of ports of its bond or bridge",
    ),
    (None, "method", "enabled: true, with dhcp: true, or with dhcp: false and address"),
    (None, "nameserver", SERVERS),
    (None, "nameservers", SERVERS),
    (None, "netmask", "prefix-length, beside ip"),
    (None, "never-default", "auto-gateway: false"),
    (None, "prefix", "prefix-length, beside ip"),
    (None, "search", DOMAINS),
    (None, "sriov", "ethernet.sr-iov"),
    (None, "slave", PORT),
    (None, "slaves", PORT),
    (None, "to", "destination"),
    (None, "via", "next-hop-address"),
];

/// Sections of a document, whose names nothing else has.
const OF_DOCUMENT: &[&str] = &["dns-resolver", "ovn", "ovs-db", "route-rules", "routes"];

/// Sections of an interface, and of a document, that hold what is often written beside them.
const SECTIONS: &[&[&str]] = &[
    &["ipv4"],
    &["ethernet"],
    &["bridge"],
    &["bridge", "options"],
    &["link-aggregation"],
    &["link-aggregation", "options"],
    &["vlan"],
];
const SECTIONS_OF_DOCUMENT: &[&[&str]] =
    &[&["ovn"], &["ovs-db"], &["dns-resolver", "config"], &["routes"]];

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
    let is_of_document = OF_DOCUMENT.contains(&&**key) || fits(&[], None);
    if !around.steps().is_empty() && is_of_document {
        return Some("it belongs at the top level, beside interfaces".to_owned());
    }
    if let Some(word) = key.strip_prefix('-') {
        return Some(format!("an item of a list begins with '-' and a space: write \"- {word}\""));
    }
    if **key == *"<<" {
        return Some(
            "nmstate has no merge keys: write the keys out, or an alias as a whole value"
                .to_owned(),
        );
    }
    let is_around =
        |section: &str| around.steps().iter().any(|step| *step == Step::Key(section.into()));
    let is_it = |(section, word, _): &&Word| **word == **key && section.is_none_or(is_around);
    if let Some((.., field)) = OTHER_WORDS.iter().find(is_it) {
        return Some(format!("NMState's field is {field}"));
    }
    let (base, sections) = match around.steps() {
        [] => (around.clone(), SECTIONS_OF_DOCUMENT),
        [Step::Key(list), Step::Index(_), ..] if **list == *"interfaces" => {
            (around.up_to(2), SECTIONS)
        }
        _ => return None,
    };
    let below = |sections: &[&str]| sections.iter().fold(base.clone(), |path, key| path.key(key));
    if let Some(section) = sections.iter().find(|section| fits(below(section).steps(), kind)) {
        let either = if *section == ["ipv4"] { " or ipv6" } else { "" };
        return Some(format!("it belongs under {}{either}", section.join(".")));
    }
    let of_interface = Path::default().key("interfaces").index(0);
    let is_of_one = around.steps().is_empty() && fits(of_interface.steps(), Some(&card(root)));
    is_of_one
        .then(|| "it belongs in an item of interfaces: indent it below its interface".to_owned())
}

/// An interface of its own, for the fields that each interface has.
fn card<'t>(root: &Node<'t>) -> Node<'t> {
    let span = root.span;
    let entry = |key: &'static str, text: &'static str| {
        let node = Node { span, value: Value::Scalar { text: text.into(), plain: true } };
        Entry { key: key.into(), key_span: span, node }
    };
    Node { span, value: Value::Mapping(vec![entry("name", "eth0"), entry("type", "ethernet")]) }
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
pub(super) fn kind<'n, 't>(root: &'n Node<'t>, path: &Path) -> Option<&'n Node<'t>> {
    let end = path.steps().iter().position(|step| matches!(step, Step::Index(_)))?;
    root.find(&path.up_to(end + 1))
}

/// Whether nmstate takes the key with this value at this place, and would refuse another one.
pub(super) fn takes(
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
pub(super) fn at<'t>(steps: &[Step], kind: Option<&Node<'t>>, entry: Entry<'t>) -> Node<'t> {
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
