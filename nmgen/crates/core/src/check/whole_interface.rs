//! Interfaces as a whole: declared once, with the section of their type.

use std::collections::HashMap;

use nmgen_document::diagnostic::rules;
use nmgen_document::spelling::{is_alike, is_among};

use super::name::name_problem;
use super::subject::{Interface, Report, Subject};

rules! {
    warning INTERFACE_TWICE = "interface-twice";
    error PROFILE_NAME_TWICE = "profile-name-twice";
    warning SECTION_MISSING = "section-missing";
    error TYPE_WITHOUT_PROFILE = "type-without-profile";
    error IDENTIFIER_INCOMPLETE = "identifier-incomplete";
    error ALT_NAME = "alt-name-invalid";
}

/// The types that nmstate's offline conversion supports. It writes an Ethernet profile without a name
/// for any other.
const TYPES: &str = "bond dummy ethernet hsr infiniband ip-tunnel ipsec ipvlan linux-bridge \
    loopback mac-vlan mac-vtap macsec ovs-bridge ovs-interface unknown veth vlan vrf vxlan";

/// Types in the words of NetworkManager, nmcli, netplan and iproute2, and nmstate's word.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("802-3-ethernet card device eth nic phy physical port", "ethernet"),
    ("bond-slave bridge-slave slave sriov vf", "ethernet: its bond, bridge or card lists it"),
    ("bridge bridges", "linux-bridge, or ovs-bridge for Open vSwitch"),
    ("gre ipip sit tunnel", "ip-tunnel"),
    ("internal openvswitch ovs", "ovs-bridge, or ovs-interface for its port with an address"),
    ("macvtap", "mac-vtap"),
    ("team", "bond"),
];

/// True for a type with a profile.
pub(super) fn is_type(kind: &str) -> bool {
    is_among(kind, TYPES)
}

/// Types whose profile is useless without the section of the same name.
const WITH_SECTION: &[&str] =
    &["vlan", "vxlan", "mac-vlan", "mac-vtap", "macsec", "ipvlan", "vrf", "hsr"];

/// The kernel's ALTIFNAMSIZ, without the NUL.
const MAX_ALT_NAME: usize = 127;

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut names: HashMap<(&str, bool), &Interface<'_>> = HashMap::new();
    let mut ids: HashMap<String, &Interface<'_>> = HashMap::new();
    for interface in &subject.interfaces {
        alt_names(interface, report);
        if let Some(first) = names.get(&(interface.name, interface.in_kernel())) {
            twice(interface, first, report);
            continue;
        }
        names.insert((interface.name, interface.in_kernel()), interface);
        if !matches!(interface.state, "up" | "down") {
            continue;
        }
        // On a node nmstate looks for an interface of this type when it has applied the document.
        let is_sought = || interface.state == "up" && word_of_others(interface.kind).is_some();
        if !is_type(interface.kind) && (subject.is_offline() || is_sought()) {
            let (kind, name) = (interface.kind.escape_debug(), interface.name);
            let message = format!("nmstate makes no profile of type {kind} for {name}");
            let help = &type_help(interface.kind);
            report.add(TYPE_WITHOUT_PROFILE, &interface.path.key("type"), message, help);
        }
        if !subject.is_offline() {
            continue;
        }
        section(interface, report);
        matches_everything(interface, report);
        match ids.get(&profile_id(interface)) {
            None => {
                ids.insert(profile_id(interface), interface);
            }
            Some(first) => profile_twice(interface, first, report),
        }
    }
}

fn twice(interface: &Interface<'_>, first: &Interface<'_>, report: &mut Report<'_>) {
    let line = report.line(&first.path.key("name"));
    let message = format!("{} is declared twice; first on line {line}", interface.name);
    let help = "nmstate takes one of the two: merge them";
    report.add(INTERFACE_TWICE, &interface.path.key("name"), message, help);
}

/// nmstate's `connection.id`, and so the file name.
fn profile_id(interface: &Interface<'_>) -> String {
    match (interface.node.text_at("profile-name"), interface.kind) {
        (Some(name), _) => name.to_owned(),
        (None, "ovs-bridge") => format!("{}-br", interface.name),
        (None, "ovs-interface") => format!("{}-if", interface.name),
        (None, _) => interface.name.to_owned(),
    }
}

fn profile_twice(interface: &Interface<'_>, first: &Interface<'_>, report: &mut Report<'_>) {
    let id = profile_id(interface);
    let key = |interface: &Interface<'_>| {
        if interface.node.get("profile-name").is_some() { "profile-name" } else { "name" }
    };
    let line = report.line(&first.path.key(key(first)));
    let message = format!(
        "the profiles of {} and {} (line {line}) would both be {}.nmconnection",
        interface.name,
        first.name,
        id.escape_debug()
    );
    let help = "give one of them another profile-name";
    report.add(PROFILE_NAME_TWICE, &interface.path.key(key(interface)), message, help);
}

fn section(interface: &Interface<'_>, report: &mut Report<'_>) {
    if WITH_SECTION.contains(&interface.kind) && interface.node.get(interface.kind).is_none() {
        let message = format!(
            "{} is of type {} and has no section {}",
            interface.name, interface.kind, interface.kind
        );
        let help = "on a node nmstate completes it from the present interface; offline the profile is incomplete";
        report.add(SECTION_MISSING, &interface.path.key("type"), message, help);
    }
}

fn word_of_others(kind: &str) -> Option<&'static str> {
    if !cfg!(feature = "hints") {
        return None;
    }
    let is_it = |(words, _): &&(&str, &str)| is_among(&kind.to_ascii_lowercase(), words);
    OTHER_WORDS.iter().find(is_it).map(|(_, word)| *word)
}

/// The type that the word is for.
fn type_help(kind: &str) -> String {
    if let Some(word) = word_of_others(kind) {
        return format!("write {word}");
    }
    match TYPES.split(' ').find(|known| is_alike(kind, known)) {
        Some(known) => format!("did you mean {known}?"),
        None => "it would make one for any Ethernet card; leave the interface out of this document"
            .to_owned(),
    }
}

/// A profile that names no card applies to every card.
fn matches_everything(interface: &Interface<'_>, report: &mut Report<'_>) {
    let Some(key @ ("mac-address" | "pci-address")) = interface.node.text_at("identifier") else {
        return;
    };
    if interface.node.get(key).is_none() {
        let message = format!("{} is identified by its {key}, which is missing", interface.name);
        let help = "without it the profile applies to any card";
        report.add(IDENTIFIER_INCOMPLETE, &interface.path.key("identifier"), message, help);
    }
}

fn alt_names(interface: &Interface<'_>, report: &mut Report<'_>) {
    let names = interface.node.items_at(&["alt-names"]);
    for (index, entry) in names.iter().enumerate() {
        let Some(name) = entry.text_at("name") else { continue };
        let problem = match name_problem(name) {
            None if name.len() > MAX_ALT_NAME => "it is longer than 127 bytes",
            None => continue,
            Some(problem) => problem,
        };
        let message = format!(
            "\"{}\" cannot be an alternative name of {}: {problem}",
            name.escape_debug(),
            interface.name
        );
        let help = "use letters, digits, '-', '_' and '.'";
        let at = interface.path.key("alt-names").index(index).key("name");
        report.add(ALT_NAME, &at, message, help);
    }
}
