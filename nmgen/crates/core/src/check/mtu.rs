//! MTUs.

use nmgen_document::Node;
use nmgen_document::diagnostic::rules;

use super::address::Family;
use super::subject::{Interface, Report, Subject};
use crate::stack::Relation;

rules! {
    error MTU_RANGE = "mtu-range";
    error MTU_BELOW_IPV6 = "mtu-below-ipv6-minimum";
    error MTU_ABOVE_BASE = "mtu-above-base";
    warning MTU_ABOVE_PORT = "mtu-above-port";
    warning MTU_LEFT_OUT = "mtu-left-out";
}

/// ETH_MIN_MTU and ETH_MAX_MTU of the kernel.
const MIN: u64 = 68;
const MAX: u64 = 65_535;
/// RFC 8200, 5.
const IPV6_MIN: u64 = 1280;

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    for interface in subject.interfaces.iter().filter(|interface| interface.is_up()) {
        if let Some(mtu) = mtu(interface) {
            range(interface, mtu, report);
        }
    }
    for (index, reference) in &subject.references {
        let upper = &subject.interfaces[*index];
        let (Some(upper_mtu), Some(lower)) = (mtu(upper), subject.referenced(reference)) else {
            continue;
        };
        let Some(lower_mtu) = mtu(lower).filter(|lower_mtu| upper_mtu > *lower_mtu) else {
            continue;
        };
        let (rule, which, help) = match reference.role {
            // These pass frames to the base unchanged; the kernel refuses a larger MTU (ERANGE,
            // EINVAL).
            Relation::Base if matches!(upper.kind, "vlan" | "mac-vlan" | "mac-vtap") => {
                let help = "raise the MTU of the lower interface, or lower this one";
                (MTU_ABOVE_BASE, format!("{} below it", lower.name), help)
            }
            Relation::Port if lower.is_up() && upper.kind != "vrf" => {
                let help = "give the ports at least the MTU of their controller";
                (MTU_ABOVE_PORT, format!("its port {}", lower.name), help)
            }
            Relation::Base | Relation::Port => continue,
        };
        let (name, line) = (upper.name, report.line(&lower.path.key("mtu")));
        let message =
            format!("{name} has MTU {upper_mtu}, but {which} has {lower_mtu} (line {line})");
        report.add(rule, &upper.path.key("mtu"), message, help);
    }
    left_out(subject, report);
}

/// The MTU of a card or a bond of which nobody says one.
const USUAL: u64 = 1500;

/// Interfaces below one with a larger MTU than usual that get none: they keep theirs, and refuse or drop its frames.
fn left_out(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (index, reference) in &subject.references {
        let upper = &subject.interfaces[*index];
        let carried = match (upper.kind, reference.role) {
            ("vlan" | "mac-vlan" | "mac-vtap", Relation::Base)
            | ("linux-bridge", Relation::Port) => Some(upper),
            ("ovs-bridge", Relation::Port) => local(subject, *index),
            // The kernel gives a bond's MTU to its ports.
            _ => None,
        };
        let (Some(carried), Some(lower)) = (carried, subject.referenced(reference)) else {
            continue;
        };
        let Some(wanted) = mtu(carried).filter(|wanted| *wanted > USUAL) else { continue };
        let is_below = matches!(lower.kind, "ethernet" | "bond" | "vlan") && lower.is_up();
        if is_below && !has_mtu(subject, lower, MAX_DEPTH) {
            let help = "without one it keeps that of the card, 1500 mostly; NMState raises no MTU by itself";
            let message = format!(
                "{} has no MTU, and {} above it has {wanted} (line {})",
                lower.name,
                carried.name,
                report.line(&carried.path.key("mtu"))
            );
            report.add_at_key(MTU_LEFT_OUT, &lower.path.key("name"), message, help);
        }
    }
}

/// Real stacks are shallower; a cycle is not.
const MAX_DEPTH: usize = 12;

/// The interface with the largest MTU among the bridge's own: its local one has the node's address.
fn local<'s, 'a>(subject: &'s Subject<'a>, bridge: usize) -> Option<&'s Interface<'a>> {
    let ports = subject.references.iter().filter(|(index, _)| *index == bridge);
    let ports = ports.filter_map(|(_, reference)| subject.referenced(reference));
    ports.filter(|port| port.kind == "ovs-interface" && port.is_up()).max_by_key(|port| mtu(port))
}

/// Whether the document gives it an MTU: its own, or for a VLAN without one that of its base.
fn has_mtu(subject: &Subject<'_>, interface: &Interface<'_>, depth: usize) -> bool {
    let base = || {
        let name = interface.node.at(&["vlan", "base-iface"]).and_then(Node::text)?;
        subject.interface(name)
    };
    mtu(interface).is_some()
        || depth > 0 && base().is_some_and(|base| has_mtu(subject, base, depth - 1))
}

fn mtu(interface: &Interface<'_>) -> Option<u64> {
    // In NetworkManager 0 means unchanged.
    interface.node.number_at(&["mtu"]).filter(|mtu| *mtu > 0)
}

fn range(interface: &Interface<'_>, mtu: u64, report: &mut Report<'_>) {
    let is_unbounded = matches!(interface.kind, "loopback" | "dummy");
    if mtu < MIN || (mtu > MAX && !is_unbounded) {
        let message = format!("MTU {mtu} of {} is not in {MIN}..={MAX}", interface.name);
        let help = "1500 is usual, 9000 where the whole path has jumbo frames";
        report.add(MTU_RANGE, &interface.path.key("mtu"), message, help);
    } else if mtu < IPV6_MIN && Family::V6.is_enabled(interface.node) {
        let message =
            format!("MTU {mtu} of {} is too small for IPv6, which is enabled", interface.name);
        let help = "IPv6 needs at least 1280 (RFC 8200)";
        report.add(MTU_BELOW_IPV6, &interface.path.key("mtu"), message, help);
    }
}
