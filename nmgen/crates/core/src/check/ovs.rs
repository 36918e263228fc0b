//! Open vSwitch: bridges, which have no addresses, and the interfaces that the host uses.

use std::collections::HashSet;

use nmgen_document::Node;
use nmgen_document::diagnostic::rules;

use super::address::Family;
use super::subject::{Interface, Report, Subject};
use crate::stack;

rules! {
    warning OVS_BRIDGE_ADDRESS = "ovs-bridge-address";
    pub(super) warning OVS_BRIDGE_WITHOUT_INTERFACE = "ovs-bridge-without-interface";
    warning OVS_PORT_802_1X = "ovs-port-802-1x";
    pub(super) error OVS_INTERFACE_WITHOUT_BRIDGE = "ovs-interface-without-bridge";
}

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    let of_kind = |kind: &'static str| {
        subject
            .interfaces
            .iter()
            .filter(move |interface| interface.kind == kind && interface.is_up())
    };
    let interfaces: HashSet<&str> =
        of_kind("ovs-interface").map(|interface| interface.name).collect();
    let mut bridges: HashSet<&str> = HashSet::new();
    for bridge in of_kind("ovs-bridge") {
        bridges.insert(bridge.name);
        addresses(bridge, report);
        without_interface(bridge, &interfaces, report);
        authenticated_ports(subject, bridge, report);
    }
    for interface in of_kind("ovs-interface") {
        if subject
            .controller_of(interface.name)
            .is_some_and(|controller| controller.kind == "ovs-bridge")
        {
            continue;
        }
        without_bridge(subject, interface, &bridges, report);
    }
}

fn addresses(bridge: &Interface<'_>, report: &mut Report<'_>) {
    for family in Family::BOTH.into_iter().filter(|family| family.is_enabled(bridge.node)) {
        let has_addresses = !family.addresses(bridge.node).is_empty();
        let key = if has_addresses { "address" } else { "enabled" };
        let message =
            format!("ovs-bridge {} cannot have {}: nmstate drops it", bridge.name, family.name());
        let help = "give the addresses to an ovs-interface that is a port of the bridge";
        report.add(OVS_BRIDGE_ADDRESS, &bridge.path_to(&[family.key(), key]), message, help);
    }
}

/// 802.1X of a port: the kernel's datapath takes the switch's frames before wpa_supplicant sees them. The datapath in userspace
/// leaves the kernel its copy.
fn authenticated_ports(subject: &Subject<'_>, bridge: &Interface<'_>, report: &mut Report<'_>) {
    let datapath = bridge.node.at(&["bridge", "options", "datapath"]).and_then(Node::text);
    if datapath == Some("netdev") {
        return;
    }
    let ports = stack::bridge_port_names(bridge.node);
    for port in ports.iter().filter_map(|name| subject.interface(name)) {
        if port.is_up() && port.node.get("802.1x").is_some() {
            let (port_name, name) = (port.name, bridge.name);
            let message = format!(
                "{port_name} cannot authenticate again once it is a port of ovs-bridge {name}"
            );
            let help = "leave re-authentication off at the switch's port";
            report.add(OVS_PORT_802_1X, &port.path_to(&["802.1x"]), message, help);
        }
    }
}

fn without_interface(bridge: &Interface<'_>, interfaces: &HashSet<&str>, report: &mut Report<'_>) {
    let ports = stack::bridge_port_names(bridge.node);
    // An undeclared port with the bridge's name is reported by another rule; a bridge for OVN's patch
    // ports needs no interface.
    let has_interface = ports.iter().any(|port| interfaces.contains(port) || *port == bridge.name);
    let extra = bridge.node.at(&["bridge", "allow-extra-patch-ports"]).and_then(Node::boolean);
    if ports.is_empty() || has_interface || extra == Some(true) {
        return;
    }
    let key = if bridge.node.at(&["bridge", "port"]).is_some() { "port" } else { "ports" };
    let (message, help) = if interfaces.contains(bridge.name) {
        (
            format!(
                "the ports of ovs-bridge {} lack its ovs-interface of the same name",
                bridge.name
            ),
            format!("add \"- name: {}\" to the list", bridge.name),
        )
    } else {
        (
            format!("ovs-bridge {} has no ovs-interface, so the host is not on it", bridge.name),
            "declare an ovs-interface, list it as a port and give it the addresses, unless only OVN uses the \
             bridge (allow-extra-patch-ports: true)"
                .to_owned(),
        )
    };
    report.add(OVS_BRIDGE_WITHOUT_INTERFACE, &bridge.path_to(&["bridge", key]), message, &help);
}

fn without_bridge(
    subject: &Subject<'_>,
    interface: &Interface<'_>,
    bridges: &HashSet<&str>,
    report: &mut Report<'_>,
) {
    let name = interface.name;
    let help = if bridges.contains(name) {
        format!("add \"- name: {name}\" to the ports of ovs-bridge {name}")
    } else if subject.is_offline() {
        "list it as a port of an ovs-bridge: NetworkManager refuses its profile without one"
            .to_owned()
    } else {
        "it has to be a port of a bridge on the node; list it as a port of an ovs-bridge".to_owned()
    };
    let message = format!("ovs-interface {name} is a port of no ovs-bridge in this document");
    let at = interface.path.key("name");
    report.add(subject.unless_on_node(OVS_INTERFACE_WITHOUT_BRIDGE), &at, message, &help);
}
