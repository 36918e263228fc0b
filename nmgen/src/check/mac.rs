//! MAC addresses.

use std::collections::HashMap;

use super::subject::{Interface, Report, Subject};
use crate::diagnostic::Rule;
use crate::document::{Node, Path};

pub(crate) const MAC_SYNTAX: Rule = Rule::error("mac-syntax");
const MAC_NOT_UNICAST: Rule = Rule::error("mac-not-unicast");
const MAC_TWICE: Rule = Rule::warning("mac-twice");

pub(super) const RULES: &[Rule] = &[MAC_SYNTAX, MAC_NOT_UNICAST, MAC_TWICE];

pub(crate) const SIX_BYTES: &str = "write six bytes in hexadecimal, such as 52:54:00:12:34:56";

const ETHERNET: usize = 6;
const INFINIBAND: usize = 20;

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut first: HashMap<Vec<u8>, &Interface<'_>> = HashMap::new();
    for interface in subject.interfaces.iter().filter(|interface| !interface.is_absent()) {
        virtual_functions(interface, report);
        let Some(node) = interface.node.get("mac-address") else { continue };
        let path = || interface.path.key("mac-address");
        let lengths: &[usize] = match interface.kind {
            "infiniband" => &[INFINIBAND],
            "unknown" => &[ETHERNET, INFINIBAND],
            _ => &[ETHERNET],
        };
        let Some(mac) = address(interface, node, lengths, path, report) else { continue };
        // Controllers, VLANs and the like bear their port's MAC; two cards never do.
        if !interface.is_hardware() || !interface.is_up() {
            continue;
        }
        match first.get(&mac) {
            None => {
                first.insert(mac, interface);
            }
            Some(other) if other.name == interface.name => {}
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

fn virtual_functions(interface: &Interface<'_>, report: &mut Report<'_>) {
    let keys = ["ethernet", "sr-iov", "vfs"];
    let functions = interface.node.at(&keys).map(Node::items).unwrap_or_default();
    for (index, function) in functions.iter().enumerate() {
        if let Some(node) = function.get("mac-address") {
            let path = || interface.path_to(&keys).index(index).key("mac-address");
            // All zeros let the driver choose.
            if node.text() != Some("00:00:00:00:00:00") {
                address(interface, node, &[ETHERNET], path, report);
            }
        }
    }
}

/// The address, if it can be given to an interface.
fn address(
    interface: &Interface<'_>,
    node: &Node<'_>,
    lengths: &[usize],
    path: impl Fn() -> Path,
    report: &mut Report<'_>,
) -> Option<Vec<u8>> {
    let text = node.text()?;
    let Some(mac) = parse(text).filter(|mac| lengths.contains(&mac.len())) else {
        let help = if lengths == [INFINIBAND] {
            "write 20 bytes in hexadecimal, with ':' between them"
        } else {
            SIX_BYTES
        };
        let message =
            format!("\"{}\" of {} is not a MAC address", text.escape_debug(), interface.name);
        report.add(MAC_SYNTAX, &path(), message, help);
        return None;
    };
    let is_group = mac.len() == ETHERNET && mac[0] & 1 == 1;
    if is_group || mac.iter().all(|byte| *byte == 0) {
        let what = if is_group { "is a group address" } else { "is no address at all" };
        report.add(
            MAC_NOT_UNICAST,
            &path(),
            format!("{text} {what}: {} cannot have it", interface.name),
            "the kernel takes unicast addresses only: an even first byte, not all zeros",
        );
        return None;
    }
    Some(mac)
}

/// As NetworkManager reads one: ':' or '-' between bytes of one or two digits.
pub(crate) fn parse(text: &str) -> Option<Vec<u8>> {
    let separator = if text.contains(':') { ':' } else { '-' };
    let byte = |part: &str| {
        let is_hex = (1..=2).contains(&part.len()) && part.chars().all(|c| c.is_ascii_hexdigit());
        is_hex.then(|| u8::from_str_radix(part, 16).ok()).flatten()
    };
    text.split(separator).map(byte).collect()
}
