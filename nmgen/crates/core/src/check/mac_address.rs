//! MAC addresses.

use std::collections::HashMap;

use nmgen_document::diagnostic::rules;
use nmgen_document::mac::Mac;
use nmgen_document::{Node, Path};

use super::address::Family;
use super::subject::{Interface, Report, Subject};
use crate::source::{MAC_SYNTAX, SIX_BYTES};

rules! {
    error MAC_NOT_UNICAST = "mac-not-unicast";
    warning MAC_EMPTY = "mac-empty";
    warning MAC_TWICE = "mac-twice";
    pub(super) warning MAC_NOT_FIXED = "mac-not-fixed";
}

const TWENTY_BYTES: &str = "write 20 bytes in hexadecimal, with ':' between them";

/// Whether an address is valid for a type of interface.
type Kind = fn(&Mac) -> bool;

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut first: HashMap<Mac, &Interface<'_>> = HashMap::new();
    for interface in subject.interfaces.iter().filter(|interface| !interface.is_absent()) {
        virtual_functions(interface, report);
        not_fixed(subject, interface, report);
        let Some(node) = interface.node.get("mac-address") else { continue };
        let path = || interface.path.key("mac-address");
        // On a node nmstate compares it with the card's; and a card that is found by its address has to have one.
        let is_found_by_it = interface.node.text_at("identifier") == Some("mac-address");
        if node.text() == Some("") && subject.is_offline() && !is_found_by_it {
            let message =
                format!("the MAC address of {} is empty, and counts as none", interface.name);
            let help = "leave the key out: a template without a value has it so";
            report.add(MAC_EMPTY, &path(), message, help);
            continue;
        }
        let (is_kind, help): (Kind, _) = match interface.kind {
            "infiniband" => (Mac::is_infiniband, TWENTY_BYTES),
            "unknown" => (|_| true, SIX_BYTES),
            _ => (Mac::is_ethernet, SIX_BYTES),
        };
        let Some(mac) = address(interface, node, (is_kind, help), path, report) else { continue };
        // Controllers, VLANs and the like share their port's MAC address; two cards never do.
        if !interface.is_hardware() || !interface.is_up() {
            continue;
        }
        match first.get(&mac) {
            None => {
                first.insert(mac, interface);
            }
            Some(other) if other.name == interface.name => {}
            Some(other) if is_redundant_pair(subject, interface, other) => {}
            Some(other) => report.add(
                MAC_TWICE,
                &path(),
                format!(
                    "{} and {} (line {}) have the same MAC address",
                    interface.name,
                    other.name,
                    report.line(&other.path.key("mac-address"))
                ),
                "give each network card its own address",
            ),
        }
    }
}

/// An interface of a bridge that asks the network for its address, and has a MAC address that is no card's: a server knows the node
/// by it.
fn not_fixed(subject: &Subject<'_>, interface: &Interface<'_>, report: &mut Report<'_>) {
    const COPY: &str = "copy-mac-from";
    let node = interface.node;
    let is_fixed = ["mac-address", COPY].iter().any(|key| node.get(key).is_some());
    let is_bridge = matches!(interface.kind, "ovs-interface" | "linux-bridge");
    let mut families = Family::BOTH.into_iter().filter(|family| family.is_automatic(node));
    let Some(family) = families.next().filter(|_| is_bridge && !is_fixed && interface.is_up())
    else {
        return;
    };
    let name = interface.name;
    let mut interfaces = subject.interfaces.iter();
    match interfaces.find(|other| {
        other.kind == "ovs-bridge" && other.name == name && other.node.get(COPY).is_some()
    }) {
        Some(bridge) => report.add_at_key(
            MAC_NOT_FIXED,
            &bridge.path.key(COPY),
            "nmstate drops this key on an ovs-bridge; only nmgen and dayone do not",
            "move it to the ovs-interface",
        ),
        None => report.add_at_key(
            MAC_NOT_FIXED,
            &interface.path_to(&[family.key()]),
            format!("{name} asks for addresses with a MAC address that is no card's"),
            "add `copy-mac-from:` with the card below it",
        ),
    }
}

/// True for the two ports of an HSR or PRP interface: both send the same frame, with one source address.
fn is_redundant_pair(subject: &Subject<'_>, one: &Interface<'_>, other: &Interface<'_>) -> bool {
    let controller = |port: &Interface<'_>| {
        let of = subject.controller_of(port.name).filter(|controller| controller.kind == "hsr");
        of.map(|controller| controller.name)
    };
    controller(one).is_some() && controller(one) == controller(other)
}

fn virtual_functions(interface: &Interface<'_>, report: &mut Report<'_>) {
    let keys = ["ethernet", "sr-iov", "vfs"];
    let functions = interface.node.items_at(&keys);
    for (index, function) in functions.iter().enumerate() {
        if let Some(node) = function.get("mac-address") {
            let path = || interface.path_to(&keys).index(index).key("mac-address");
            // All zeros leave the choice to the driver.
            if node.text() != Some("00:00:00:00:00:00") {
                address(interface, node, (Mac::is_ethernet, SIX_BYTES), path, report);
            }
        }
    }
}

/// The address, if it is valid for the interface.
fn address(
    interface: &Interface<'_>,
    node: &Node<'_>,
    (is_kind, help): (Kind, &str),
    path: impl Fn() -> Path,
    report: &mut Report<'_>,
) -> Option<Mac> {
    let text = node.text()?;
    let Some(mac) = Mac::parse(text).filter(is_kind) else {
        let message =
            format!("\"{}\" of {} is not a MAC address", text.escape_debug(), interface.name);
        report.add(MAC_SYNTAX, &path(), message, help);
        return None;
    };
    // Tools show all zeros for the loopback device.
    if mac.is_zero() && interface.kind == "loopback" {
        return None;
    }
    if mac.is_group() || mac.is_zero() {
        let what = if mac.is_group() { "is a group address" } else { "is all zeros" };
        let message = format!("{text} {what}: {} cannot have it", interface.name);
        let help = "the kernel takes unicast addresses only: an even first byte, not all zeros";
        report.add(MAC_NOT_UNICAST, &path(), message, help);
        return None;
    }
    Some(mac)
}
