//! VLAN and VXLAN ids.

use std::collections::HashMap;

use nmgen_document::diagnostic::rules;
use nmgen_document::{Node, Path};

use super::subject::{Interface, Report, Subject};

rules! {
    error VLAN_ID_RANGE = "vlan-id-range";
    warning VLAN_ID_ZERO = "vlan-id-zero";
    error VLAN_TWICE = "vlan-twice";
    error VXLAN_ID_RANGE = "vxlan-id-range";
}

/// IEEE 802.1Q reserves 0 and 4095.
const MAX_VLAN_ID: u64 = 4094;
/// ovs-vswitchd.conf.db(5) allows 4095 in a port's tag and trunks.
const MAX_OVS_TAG: u64 = 4095;
/// VXLAN_N_VID of the kernel, RFC 7348.
const MAX_VXLAN_ID: u64 = (1 << 24) - 1;

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut first: HashMap<(&str, u64, &str), &Interface<'_>> = HashMap::new();
    for interface in subject.interfaces.iter().filter(|interface| !interface.is_absent()) {
        vxlan(interface, report);
        port_tags(interface, report);
        let Some(vlan) = interface.node.get("vlan") else { continue };
        let Some(id) = vlan.number_at(&["id"]) else { continue };
        let path = || interface.path_to(&["vlan", "id"]);
        if id > MAX_VLAN_ID {
            out_of_range(id, MAX_VLAN_ID, &path(), report);
            continue;
        }
        if id == 0 {
            let message = format!("VLAN id 0 of {} marks a priority, not a VLAN", interface.name);
            let help = "use an id in 1..=4094 (IEEE 802.1Q)";
            report.add(VLAN_ID_ZERO, &path(), message, help);
        }
        let Some(base) = vlan.text_at("base-iface") else { continue };
        let protocol = vlan.text_at("protocol").unwrap_or("802.1q");
        match first.get(&(base, id, protocol)) {
            Some(other) if other.name != interface.name => report.add(
                VLAN_TWICE,
                &path(),
                format!("{} and {} are both VLAN {id} on {base}", other.name, interface.name),
                "the kernel allows each VLAN once per interface; use another id, or one interface",
            ),
            Some(_) => {}
            None => {
                first.insert((base, id, protocol), interface);
            }
        }
    }
}

fn out_of_range(id: u64, max: u64, path: &Path, report: &mut Report<'_>) {
    let help = match max {
        MAX_OVS_TAG => "Open vSwitch has 4095 (ovs-vswitchd.conf.db(5))",
        _ => "802.1Q has 4094 usable ids",
    };
    report.add(VLAN_ID_RANGE, path, format!("VLAN id {id} is not in 1..={max}"), help);
}

fn vxlan(interface: &Interface<'_>, report: &mut Report<'_>) {
    let Some(id) = interface.node.number_at(&["vxlan", "id"]) else { return };
    if id > MAX_VXLAN_ID {
        let message = format!("VXLAN id {id} of {} is not in 0..=16777215", interface.name);
        let help = "a VXLAN network identifier has 24 bits (RFC 7348)";
        report.add(VXLAN_ID_RANGE, &interface.path_to(&["vxlan", "id"]), message, help);
    }
}

/// The VLANs of bridge ports.
fn port_tags(interface: &Interface<'_>, report: &mut Report<'_>) {
    let max = if interface.kind == "ovs-bridge" { MAX_OVS_TAG } else { MAX_VLAN_ID };
    let check = |node: Option<&Node<'_>>, path: &dyn Fn() -> Path, report: &mut Report<'_>| {
        if let Some(id) = node.and_then(Node::number).filter(|id| *id > max) {
            out_of_range(id, max, &path(), report);
        }
    };
    for list in ["port", "ports"] {
        let ports = interface.node.items_at(&["bridge", list]);
        for (index, port) in ports.iter().enumerate() {
            let Some(vlan) = port.get("vlan") else { continue };
            let path = || interface.path_to(&["bridge", list]).index(index).key("vlan");
            check(vlan.get("tag"), &|| path().key("tag"), report);
            let trunks = vlan.items_at(&["trunk-tags"]);
            for (index, trunk) in trunks.iter().enumerate() {
                let path = || path().key("trunk-tags").index(index);
                check(trunk.get("id"), &|| path().key("id"), report);
                for end in ["min", "max"] {
                    let node = trunk.at(&["id-range", end]);
                    check(node, &|| path().key("id-range").key(end), report);
                }
            }
        }
    }
}
