//! Fields that no connection profile can hold. nmstate drops them silently; the test `ablation` keeps
//! the table complete.

use nmgen_document::diagnostic::rules;
use nmgen_document::{Node, Path};

use super::subject::{Interface, Report, Subject};

rules! {
    warning NOT_IN_PROFILE = "not-in-profile";
    error PROFILE_REFUSED = "profile-refused";
    error SRIOV_NAME = "sriov-name";
}

/// Why a field has no effect, and the remedy.
struct OfflineReason {
    text: &'static str,
    help: &'static str,
}

/// A field: the types of interface that have it (empty: all), its path of keys with `[]` for every
/// item of a list, and the reason.
type Field = (&'static [&'static str], &'static [&'static str], &'static OfflineReason);

const REPORT: OfflineReason =
    OfflineReason { text: "nmstate only reports it about a node", help: "leave it out" };
const UNWRITTEN: OfflineReason = OfflineReason {
    text: "nmstate does not write it into a profile",
    help: "apply this document on the node if it is needed, or leave it out",
};
const NODE_ONLY: OfflineReason = OfflineReason {
    text: "it applies to the node's present state, and profiles are made without the node",
    help: "apply this document on the node, or leave it out",
};
const OTHER_FAMILY: OfflineReason = OfflineReason {
    text: "nmstate ignores it in this address family",
    help: "leave it out, or move it to the other family",
};
const DATABASE: OfflineReason = OfflineReason {
    text: "it is stored in Open vSwitch's database, not in a profile",
    help: "apply this document on the node, or set it with ovs-vsctl",
};

const OF_THE_DOCUMENT: &[(&[&str], &OfflineReason)] = &[
    (&["dns-resolver", "running"], &REPORT),
    (
        &["hostname", "running"],
        &OfflineReason {
            text: "no file holds a host name that lasts until the next boot",
            help: "use hostname.config",
        },
    ),
    (&["routes", "running"], &REPORT),
    (&["ovs-db"], &DATABASE),
    (&["ovn"], &DATABASE),
];

const OF_AN_INTERFACE: &[Field] = &[
    (&[], &["driver"], &REPORT),
    (&[], &["permanent-mac-address"], &REPORT),
    (&[], &["min-mtu"], &REPORT),
    (&[], &["max-mtu"], &REPORT),
    (&[], &["lldp", "neighbors"], &REPORT),
    (&[], &["ipv4", "allow-extra-address"], &NODE_ONLY),
    (&[], &["ipv4", "addr-gen-mode"], &OTHER_FAMILY),
    (&[], &["ipv4", "dhcp-duid"], &OTHER_FAMILY),
    (&[], &["ipv4", "token"], &OTHER_FAMILY),
    (&[], &["ipv4", "address", "[]", "mptcp-flags"], &REPORT),
    (&[], &["ipv4", "address", "[]", "valid-life-time"], &REPORT),
    (&[], &["ipv4", "address", "[]", "preferred-life-time"], &REPORT),
    (&[], &["ipv4", "address", "[]", "protocol"], &REPORT),
    (&[], &["ipv6", "allow-extra-address"], &NODE_ONLY),
    (&[], &["ipv6", "dhcp-client-id"], &OTHER_FAMILY),
    (&[], &["ipv6", "address", "[]", "mptcp-flags"], &REPORT),
    (&[], &["ipv6", "address", "[]", "valid-life-time"], &REPORT),
    (&[], &["ipv6", "address", "[]", "preferred-life-time"], &REPORT),
    (&[], &["ipv6", "address", "[]", "protocol"], &REPORT),
    (&[], &["ethernet", "sr-iov", "max-vfs"], &REPORT),
    (&[], &["ethernet", "sr-iov", "vfs", "[]", "iface-name"], &REPORT),
    (&[], &["ethtool", "coalesce", "sample-interval"], &UNWRITTEN),
    (&[], &["ethtool", "coalesce", "stats-block-usecs"], &UNWRITTEN),
    (&[], &["ethtool", "coalesce", "tx-usecs-high"], &UNWRITTEN),
    (&[], &["ethtool", "coalesce", "tx-usecs-irq"], &UNWRITTEN),
    (&[], &["ethtool", "coalesce", "tx-usecs-low"], &UNWRITTEN),
    (&[], &["ethtool", "ring", "rx-max"], &REPORT),
    (&[], &["ethtool", "ring", "rx-jumbo-max"], &REPORT),
    (&[], &["ethtool", "ring", "rx-mini-max"], &REPORT),
    (&[], &["ethtool", "ring", "tx-max"], &REPORT),
    (&["linux-bridge"], &["bridge", "options", "gc-timer"], &REPORT),
    (&["linux-bridge"], &["bridge", "options", "hello-timer"], &REPORT),
    (&["linux-bridge", "ovs-bridge"], &["bridge", "allow-extra-ports"], &NODE_ONLY),
    (&["ovs-bridge"], &["bridge", "allow-extra-patch-ports"], &NODE_ONLY),
    (&["loopback"], &["mtu"], &UNWRITTEN),
];

/// Types whose own section nmstate omits from the profile. NetworkManager requires its content (the
/// parent of an ipvlan, the mode of a tunnel, the ports of an HSR) and refuses the profile.
const WITHOUT_SECTION: &[&str] = &["hsr", "ip-tunnel", "ipvlan"];

/// nmstate copies these, but NetworkManager has no DUIDs of these names (nm-settings(5)).
const UNKNOWN_DUIDS: &[&str] = &["uuid", "en"];

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    if !subject.is_offline() {
        return;
    }
    for (keys, reason) in OF_THE_DOCUMENT {
        let empty = Path::default();
        visit(subject.root, &empty, keys, &mut |path| say(report, path, reason));
    }
    // Absent and ignored interfaces get no profile.
    let kept = |interface: &&Interface<'_>| matches!(interface.state, "up" | "down");
    for interface in subject.interfaces.iter().filter(kept) {
        of_interface(interface, report);
    }
    // nmstate resolves the name on a node.
    for (index, reference) in &subject.references {
        if reference.name.starts_with("sriov:")
            && let Some(interface) = subject.interfaces.get(*index)
        {
            let message = format!(
                "\"{}\" is no interface name, so NetworkManager refuses it",
                reference.name
            );
            let help = "use udev's name of the virtual function, such as eno1v0";
            report.add(SRIOV_NAME, &reference.path(&interface.path), message, help);
        }
    }
}

fn of_interface(interface: &Interface<'_>, report: &mut Report<'_>) {
    if WITHOUT_SECTION.contains(&interface.kind) {
        let message = format!(
            "the profile of {} lacks its [{}] section, so NetworkManager refuses it",
            interface.name, interface.kind
        );
        let help = "nmstate leaves this section out; apply this document on the node instead";
        report.add_at_key(PROFILE_REFUSED, &interface.path.key(interface.kind), message, help);
    }
    let duid = interface.node.at(&["ipv6", "dhcp-duid"]).and_then(Node::text);
    if let Some(duid) = duid.filter(|duid| UNKNOWN_DUIDS.contains(&duid.to_lowercase().as_str())) {
        let message = format!("NetworkManager has no DUID \"{duid}\", so it refuses the profile");
        let path = interface.path.key("ipv6").key("dhcp-duid");
        report.add(PROFILE_REFUSED, &path, message, "use ll or llt, or write the DUID's bytes");
    }
    for (kinds, keys, reason) in OF_AN_INTERFACE {
        if kinds.is_empty() || kinds.contains(&interface.kind) {
            visit(interface.node, &interface.path, keys, &mut |path| say(report, path, reason));
        }
    }
    let alt_names = interface.node.items_at(&["alt-names"]);
    for (index, alt_name) in alt_names.iter().enumerate() {
        if alt_name.text_at("state") == Some("absent") {
            let path = interface.path.key("alt-names").index(index).key("state");
            say(report, &path, &NODE_ONLY);
        }
    }
}

/// Calls `found` with the path of each value at the end of the keys.
fn visit(node: &Node<'_>, path: &Path, keys: &[&str], found: &mut impl FnMut(&Path)) {
    // Most fields are absent, so the path is built only for a present one.
    if !is_there(node, keys) {
        return;
    }
    let Some((first, rest)) = keys.split_first() else { return found(path) };
    if *first == "[]" {
        for (index, item) in node.items().iter().enumerate() {
            visit(item, &path.index(index), rest, found);
        }
    } else if let Some(below) = node.get(first) {
        visit(below, &path.key(first), rest, found);
    }
}

fn is_there(node: &Node<'_>, keys: &[&str]) -> bool {
    match keys.split_first() {
        None => true,
        Some((&"[]", rest)) => node.items().iter().any(|item| is_there(item, rest)),
        Some((first, rest)) => node.get(first).is_some_and(|below| is_there(below, rest)),
    }
}

fn say(report: &mut Report<'_>, path: &Path, reason: &OfflineReason) {
    let message = format!("{path} has no effect: {}", reason.text);
    report.add_at_key(NOT_IN_PROFILE, path, message, reason.help);
}
