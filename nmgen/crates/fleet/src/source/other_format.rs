//! Descriptions of a network in formats of other programs: named, since nmstate's words about their keys would mislead.

use nmgen_document::diagnostic::{Diagnostic, Place, rules};
use nmgen_document::text::Source;
use nmgen_document::{Document, Node};

rules! {
    error OTHER_FORMAT = "other-format";
}

/// Keys of ifcfg files, one of which stands in each.
const IFCFG: [&str; 4] = ["DEVICE=", "BOOTPROTO=", "ONBOOT=", "HWADDR="];
const NETPLAN: [&str; 6] = ["ethernets", "renderer", "bonds", "bridges", "vlans", "config"];
const BY_NMSTATECTL: &str = "apply it on a machine, or in a container with NetworkManager, and take what `nmstatectl show` prints";

/// A text that is no YAML of ours.
pub(super) fn of_text(source: &Source) -> Option<Diagnostic> {
    let mut lines = source.text.lines().map(str::trim);
    let first = lines.clone().find(|line| !line.is_empty() && !line.starts_with(['#', ';']))?;
    let is_section = first.starts_with('[') && first.ends_with(']') && !first.contains(',');
    let (name, help) = if is_section && lines.any(|line| line == "[connection]") {
        ("a keyfile of NetworkManager's", BY_NMSTATECTL)
    } else if IFCFG.iter().any(|key| first.starts_with(key)) {
        ("an ifcfg file", BY_NMSTATECTL)
    } else {
        return None;
    };
    Some(diagnostic(name, help, Place::file(source.name.clone())))
}

/// A document of another program's.
pub(super) fn of_document(document: &Document<'_>) -> Option<Diagnostic> {
    let root = &document.root;
    let has = |node: &Node<'_>, keys: &[&str]| keys.iter().any(|key| node.get(key).is_some());
    let network = root.get("network");
    let (key, name, help) = if network.is_some_and(|network| has(network, &NETPLAN)) {
        ("network", "a file of netplan or cloud-init", BY_NMSTATECTL)
    } else if has(root, &["ethernets"]) && has(root, &["version"]) {
        ("ethernets", "a file of netplan or cloud-init", BY_NMSTATECTL)
    } else if has(root, &["network_state"]) {
        ("network_state", "variables of Ansible", "give the value of network_state alone")
    } else if has(root, &["network_connections"]) {
        ("network_connections", "variables of Ansible", BY_NMSTATECTL)
    } else if root.at(&["ignition", "version"]).is_some() {
        (
            "ignition",
            "a config of Ignition",
            "give the MachineConfig or the Butane file that it was made of",
        )
    } else if has(root, &["jobs"]) && root.entry("on").is_some() {
        ("jobs", "a workflow of GitHub Actions", "leave it out: it describes no host")
    } else {
        return None;
    };
    let span = root.entry(key).map_or(root.span, |entry| entry.key_span);
    Some(diagnostic(name, help, document.place(span)))
}

fn diagnostic(name: &str, help: &str, place: Place) -> Diagnostic {
    Diagnostic::new(OTHER_FORMAT, format!("this is {name}, not NMState"), place).help(help)
}
