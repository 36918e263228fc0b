//! Relations of interfaces: ports and controllers, base interfaces.

use std::collections::HashMap;

use nmgen_document::diagnostic::rules;

use super::address::Family;
use super::name::is_predictable;
use super::subject::{Interface, Report, Subject};
use crate::stack::{Reference, Relation};

rules! {
    pub(super) warning PORT_UNDECLARED = "port-undeclared";
    pub(super) warning BASE_UNDECLARED = "base-undeclared";
    warning USED_BUT_ABSENT = "used-but-absent";
    error PORT_IN_TWO_CONTROLLERS = "port-in-two-controllers";
    error INTERFACE_CYCLE = "interface-cycle";
    error ADDRESS_ON_PORT = "address-on-port";
    warning USED_BUT_DOWN = "used-but-down";
    warning BASE_IS_PORT = "base-is-port";
}

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut first: HashMap<&str, (usize, &Reference<'_>)> = HashMap::new();
    for (index, reference) in &subject.references {
        let upper = &subject.interfaces[*index];
        match subject.referenced(reference) {
            // A port of two controllers is reported once.
            None if reference.role == Relation::Port && first.contains_key(reference.name) => {}
            None if subject.has_card(reference.name) => {}
            None => undeclared(subject, upper, reference, report),
            Some(lower) if lower.is_absent() => report.add(
                USED_BUT_ABSENT,
                &reference.path(&upper.path),
                format!("{} uses {}, whose state is absent", upper.name, lower.name),
                "remove it here, or give it state: up",
            ),
            // NetworkManager activates the profile of a port with its controller, whatever it says of itself (nm-settings(5)).
            Some(lower)
                if lower.state == "down"
                    && reference.role == Relation::Port
                    && subject.is_offline() => {}
            Some(lower) if lower.state == "down" => report.add(
                USED_BUT_DOWN,
                &reference.path(&upper.path),
                format!("{} uses {}, whose state is down", upper.name, lower.name),
                "give it state: up, or remove it here",
            ),
            Some(lower) if reference.role == Relation::Base => {
                base_is_port(subject, upper, lower, reference, report);
            }
            Some(_) => {}
        }
        if reference.role != Relation::Port {
            continue;
        }
        match first.get(reference.name) {
            None => {
                first.insert(reference.name, (*index, reference));
            }
            Some((other, earlier)) => {
                let other = &subject.interfaces[*other];
                let line = report.line(&earlier.path(&other.path));
                let message = if other.path == upper.path {
                    format!(
                        "{} is a port of {} twice (see line {line})",
                        reference.name, upper.name
                    )
                } else {
                    let name = reference.name;
                    format!(
                        "{name} is a port of {} (line {line}) and of {}",
                        other.name, upper.name
                    )
                };
                let help = "an interface has at most one controller";
                report.add(PORT_IN_TWO_CONTROLLERS, &reference.path(&upper.path), message, help);
            }
        }
    }
    cycles(subject, report);
    addresses(subject, report);
}

/// A port of a bond hands its frames to the bond: a VLAN belongs on the bond.
fn base_is_port(
    subject: &Subject<'_>,
    upper: &Interface<'_>,
    lower: &Interface<'_>,
    reference: &Reference<'_>,
    report: &mut Report<'_>,
) {
    let Some(bond) =
        subject.controller_of(lower.name).filter(|controller| controller.kind == "bond")
    else {
        return;
    };
    if upper.kind == "vlan" {
        let message =
            format!("{} is on {}, which is a port of {}", upper.name, lower.name, bond.name);
        let help = "put the VLAN on the bond: on one port it has no network when the other port carries the traffic";
        report.add(BASE_IS_PORT, &reference.path(&upper.path), message, help);
    }
}

fn undeclared(
    subject: &Subject<'_>,
    upper: &Interface<'_>,
    reference: &Reference<'_>,
    report: &mut Report<'_>,
) {
    let name = reference.name;
    let meant = subject.meant(name);
    // Whoever declares no card leaves all of them to the node.
    if meant.is_none() && is_predictable(name) && !subject.declares_cards() {
        return;
    }
    let (rule, relation) = match reference.role {
        Relation::Port => (PORT_UNDECLARED, "port"),
        Relation::Base => (BASE_UNDECLARED, "base interface"),
    };
    let message = format!("{name}, the {relation} of {}, is not in this document", upper.name);
    let help = if let Some(meant) = meant {
        &format!("did you mean {meant}?")
    } else if name == upper.name && upper.kind == "ovs-bridge" {
        "declare an ovs-interface of the same name: offline the port is taken for an Ethernet card"
    } else if subject.is_offline() {
        "offline it is taken for an Ethernet card; declare it, if only with name, type and state"
    } else {
        "it must exist on the node; declare it, if only with name, type and state"
    };
    report.add(rule, &reference.path(&upper.path), message, help);
}

/// Walks down from every interface; each cycle is reported once.
fn cycles(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut below: Vec<Vec<(usize, &Reference<'_>)>> = vec![Vec::new(); subject.interfaces.len()];
    for (index, reference) in &subject.references {
        // An ovs-bridge may share its name with the ovs-interface that is its port.
        if let Some(lower) = subject.referenced_index(reference) {
            below[*index].push((lower, reference));
        }
    }
    let mut state = vec![Visit::New; below.len()];
    for start in 0..below.len() {
        if state[start] != Visit::New {
            continue;
        }
        // The interfaces on the way down, each with the number of references followed so far.
        let mut way = vec![(start, 0)];
        state[start] = Visit::OnTheWay;
        while let Some((here, followed)) = way.last_mut() {
            let here = *here;
            let Some((lower, reference)) = below[here].get(*followed) else {
                state[here] = Visit::Done;
                way.pop();
                continue;
            };
            *followed += 1;
            match state[*lower] {
                Visit::New => {
                    state[*lower] = Visit::OnTheWay;
                    way.push((*lower, 0));
                }
                Visit::OnTheWay => {
                    let from = way.iter().position(|(index, _)| index == lower).unwrap_or(0);
                    let names =
                        way[from..].iter().map(|(index, _)| subject.interfaces[*index].name);
                    let names: Vec<&str> = names.chain([subject.interfaces[*lower].name]).collect();
                    let message = format!("these interfaces form a cycle: {}", shown(&names));
                    let help = "an interface cannot be above itself, directly or indirectly";
                    let at = reference.path(&subject.interfaces[here].path);
                    report.add(INTERFACE_CYCLE, &at, message, help);
                }
                Visit::Done => {}
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    OnTheWay,
    Done,
}

/// Bounds the length of a message about a thousand interfaces.
fn shown(names: &[&str]) -> String {
    const MOST: usize = 8;
    match names {
        [start @ .., last] if names.len() > MOST => {
            format!("{} on … on {last}", start[..MOST - 1].join(" on "))
        }
        names => names.join(" on "),
    }
}

fn addresses(subject: &Subject<'_>, report: &mut Report<'_>) {
    for interface in subject.interfaces.iter().filter(|interface| interface.is_up()) {
        // Mirrors nmstate's BaseInterface::can_have_ip().
        let Some(controller) = subject.controller_of(interface.name) else { continue };
        if !interface.in_kernel() || interface.kind == "ovs-interface" || controller.kind == "vrf" {
            continue;
        }
        for family in Family::BOTH.into_iter().filter(|family| family.is_enabled(interface.node)) {
            let has_addresses = !family.addresses(interface.node).is_empty();
            let key = if has_addresses { "address" } else { "enabled" };
            let help = if controller.kind == "ovs-bridge" {
                "give the addresses to an ovs-interface of the bridge, and disable IP here"
            } else {
                "give the addresses to the controller, and disable IP here"
            };
            let message = format!(
                "{} is a port of {}, so it cannot have {}",
                interface.name,
                controller.name,
                family.name()
            );
            report.add(ADDRESS_ON_PORT, &interface.path_to(&[family.key(), key]), message, help);
        }
    }
}
