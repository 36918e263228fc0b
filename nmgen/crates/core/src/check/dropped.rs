//! Values that nmstate drops with a warning in its log, on a node too.

use nmgen_document::diagnostic::rules;
use nmgen_document::{Node, Path};

use super::address::Family;
use super::bond;
use super::subject::{Interface, Report, Subject};
use crate::interface;

rules! {
    warning DROPPED_VALUE = "dropped-value";
    warning OVS_BRIDGE_WITHOUT_PORTS = "ovs-bridge-without-ports";
    warning TYPE_MISSING = "type-missing";
}

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    for interface in subject.interfaces.iter().filter(|interface| interface.is_up()) {
        match interface.kind {
            "ovs-bridge" => bridge(interface, report),
            "bond" => bond_address(interface, report),
            "vrf" => drop_value(
                interface,
                &["mac-address"],
                "a VRF has no MAC address",
                "leave it out, or give it to a port",
                report,
            ),
            "hsr" => drop_value(
                interface,
                &["hsr", "supervision-address"],
                "nmstate only reports it about a node",
                "leave it out: multicast-spec is its last byte",
                report,
            ),
            "unknown" => without_type(subject, interface, report),
            _ => {}
        }
        ipv4(interface, report);
        ipv6(interface, report);
    }
}

/// A value that is there and not null.
fn drop_value(
    interface: &Interface<'_>,
    keys: &[&str],
    reason: &str,
    help: &str,
    report: &mut Report<'_>,
) {
    if interface.node.at(keys).is_some() {
        tell(&interface.path_to(keys), interface, reason, help, report);
    }
}

fn tell(path: &Path, interface: &Interface<'_>, reason: &str, help: &str, report: &mut Report<'_>) {
    let message = format!("nmstate drops this value of {}: {reason}", interface.name);
    report.add(DROPPED_VALUE, path, message, help);
}

fn bridge(interface: &Interface<'_>, report: &mut Report<'_>) {
    drop_value(
        interface,
        &["mtu"],
        "an ovs-bridge is in Open vSwitch's database only",
        "give the MTU to the ovs-interface, and to the ports",
        report,
    );
    if interface::ports(interface.node).is_empty() {
        let name = interface.name;
        let message =
            format!("ovs-bridge {name} has no ports: nmstate adds an ovs-interface {name} to it");
        let help = "list its ports; the bridge is there as long as one of them is";
        report.add_at_key(OVS_BRIDGE_WITHOUT_PORTS, &interface.path.key("name"), message, help);
    }
}

/// With `fail_over_mac: active` the bond has the address of the port that carries the traffic.
fn bond_address(interface: &Interface<'_>, report: &mut Report<'_>) {
    let Some((_, section)) = interface.section(&["link-aggregation", "bond"]) else { return };
    let mode = section.text_at("mode").and_then(bond::mode);
    let fail_over_mac = section.at(&["options", "fail_over_mac"]).and_then(Node::text);
    if mode == Some("active-backup") && matches!(fail_over_mac, Some("active" | "1")) {
        let help = "leave one of the two out";
        let reason = "with fail_over_mac: active it has the address of its active port";
        drop_value(interface, &["mac-address"], reason, help, report);
    }
}

/// Profiles are made without the node, which knows what the interface is.
fn without_type(subject: &Subject<'_>, interface: &Interface<'_>, report: &mut Report<'_>) {
    let is_card = |name: &str| name.starts_with("en") || name.starts_with("eth");
    if subject.is_offline() && !is_card(interface.name) && !subject.has_card(interface.name) {
        let name = interface.name;
        let message = format!("{name} has no type: offline nmstate takes it for an Ethernet card");
        let help = "add type: ethernet, bond, vlan or what it is";
        report.add_at_key(TYPE_MISSING, &interface.path.key("name"), message, help);
    }
}

fn ipv4(interface: &Interface<'_>, report: &mut Report<'_>) {
    let Some(section) = interface.node.get("ipv4") else { return };
    let is = |key: &str, value: bool| section.get(key).and_then(Node::boolean) == Some(value);
    if is("enabled", false) && is("forwarding", true) {
        let keys = ["ipv4", "forwarding"];
        drop_value(interface, &keys, "IPv4 is disabled", "enable IPv4, or leave it out", report);
    }
    let is_used = !is("enabled", false);
    if is_used && is("dhcp", false) {
        let help = "write dhcp: true, or leave it out";
        drop_value(interface, &["ipv4", "dhcp-client-id"], "DHCPv4 is off", help, report);
    }
    custom_host_name(interface, "ipv4", section, report);
}

fn ipv6(interface: &Interface<'_>, report: &mut Report<'_>) {
    let Some(section) = interface.node.get("ipv6") else { return };
    custom_host_name(interface, "ipv6", section, report);
    // An ovs-bridge has its own rule.
    if !Family::V6.is_enabled(interface.node) || interface.kind == "ovs-bridge" {
        return;
    }
    for (index, item) in Family::V6.addresses(interface.node).iter().enumerate() {
        let ip = item.text_at("ip").and_then(|text| text.parse().ok());
        if ip.is_some_and(|ip: std::net::Ipv6Addr| ip.is_unicast_link_local()) {
            let path = interface.path_to(&["ipv6", "address"]).index(index).key("ip");
            let help = "leave it out, or use addr-gen-mode: the interface makes its own";
            tell(&path, interface, "it is a link-local address", help, report);
        }
    }
}

fn custom_host_name(
    interface: &Interface<'_>,
    family: &str,
    section: &Node<'_>,
    report: &mut Report<'_>,
) {
    if section.get("dhcp-send-hostname").and_then(Node::boolean) == Some(false) {
        let keys = [family, "dhcp-custom-hostname"];
        let help = "write dhcp-send-hostname: true, or leave the name out";
        drop_value(interface, &keys, "dhcp-send-hostname is false", help, report);
    }
}
