//! Documents from which no bridge can be derived.

use nmgen_core::interface::kind;
use nmgen_core::stack::{self, Relation};
use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};

use super::interfaces::{Index, Interfaces, has_addresses};
use super::uplink::interface_place;
use super::wanted::{BR_EX, Wanted};

rules! {
    error BRIDGE_PRESENT = "bridge-present";
    error BRIDGE_NAME_TAKEN = "bridge-name-taken";
    pub(super) error UPLINK_TYPE = "uplink-type";
    error UPLINK_IS_PORT = "uplink-is-port";
    error UPLINK_WITHOUT_PORTS = "uplink-without-ports";
    error UPLINK_WITHOUT_ADDRESS = "uplink-without-address";
    error UPLINK_BASE_WITH_ADDRESS = "uplink-base-with-address";
}

/// The types that Open vSwitch takes as a port and NetworkManager keeps the name of.
const TYPES: &[&str] =
    &["ethernet", "veth", "bond", "vlan", "linux-bridge", "mac-vlan", "dummy", "unknown"];

/// No other interface may have the name of one to make.
pub(super) fn name(
    document: &Document<'_>,
    interfaces: &Interfaces<'_>,
    wanted: &Wanted<'_>,
) -> Result<(), Diagnostics> {
    let wanted_names = wanted.names();
    for (index, node) in interfaces.all.iter().enumerate() {
        let names = interfaces.names(index);
        let Some(name) = wanted_names.iter().copied().find(|name| names.contains(name)) else {
            continue;
        };
        let is_own = node.text_at("name") == Some(name);
        let place = interface_place(document, index);
        if is_own && matches!(kind(node), "ovs-bridge" | "ovs-interface") {
            let message = format!("the document has {name} already");
            let help = "it is for the running node as it is: leave --br-ex out, or give the early document";
            return Err(Diagnostic::new(BRIDGE_PRESENT, message, place).help(help).into());
        }
        let message = match is_own {
            true => format!("{name} is a {} here, so the bridge cannot have this name", kind(node)),
            false => {
                format!("{name} is another name of an interface, so the bridge cannot have it")
            }
        };
        let help = match name == wanted.name {
            true => "rename the interface: OVN-Kubernetes looks for the bridge by its name",
            false => "rename the interface: --balance-slb makes one with this name",
        };
        return Err(Diagnostic::new(BRIDGE_NAME_TAKEN, message, place).help(help).into());
    }
    Ok(())
}

/// The uplink must be able to become a port, and have something to give to the bridge.
pub(super) fn uplink(
    document: &Document<'_>,
    interfaces: &Interfaces<'_>,
    index: Index,
    wanted: &Wanted<'_>,
) -> Result<(), Diagnostics> {
    let Some(node) = interfaces.all.get(index) else { return Ok(()) };
    let (name, bridge) = (node.text_at("name").unwrap_or_default(), wanted.name);
    let fault = |rule, message: String, help: &str| {
        Err(Diagnostic::new(rule, message, interface_place(document, index)).help(help).into())
    };
    if let Some((controller, upper)) = interfaces.controller(index) {
        let message = format!("{name} is a port of {} {controller} already", kind(upper));
        let help = "an interface has one controller: the uplink has to be the topmost interface, with the addresses";
        return fault(UPLINK_IS_PORT, message, help);
    }
    if let Some(controller) = node.text_at("controller").filter(|name| !name.is_empty()) {
        let message = format!("{name} is a port of {} already", controller.escape_debug());
        let help = "an interface has one controller: the uplink has to be the topmost interface, with the addresses";
        return fault(UPLINK_IS_PORT, message, help);
    }
    if !TYPES.contains(&kind(node)) {
        let message =
            format!("{name} is of type {}, which cannot be a port of {bridge}", kind(node));
        let help = "the uplink is a NIC, a bond, a VLAN or a Linux bridge";
        return fault(UPLINK_TYPE, message, help);
    }
    if kind(node) == "bond" && !stack::below(node).iter().any(|below| below.role == Relation::Port)
    {
        let help = "list them in link-aggregation.port: without a port nothing reaches the bridge";
        return fault(
            UPLINK_WITHOUT_PORTS,
            format!("bond {name}, the uplink of {bridge}, has no ports"),
            help,
        );
    }
    // A second bridge may serve pods only.
    if !has_addresses(node) && bridge == BR_EX {
        let message = format!("{name}, the uplink of {bridge}, has no addresses and no DHCP");
        let help = "br-ex needs the node's address: give the uplink addresses or `dhcp: true`, with `enabled: true`, \
                    or name another one with --uplink";
        return fault(UPLINK_WITHOUT_ADDRESS, message, help);
    }
    if let Some(base) = interfaces.base(index)
        && let Some(base_name) = interfaces
            .all
            .get(base)
            .filter(|base| has_addresses(base))
            .and_then(|base| base.text_at("name"))
        && wanted.uplink.is_none()
    {
        let message = format!("{base_name}, the base of the uplink {name}, has addresses too");
        let help = format!(
            "name the uplink of {bridge}: --uplink {name} puts the bridge above the VLAN, --uplink {base_name} below it"
        );
        let place = interface_place(document, base);
        return Err(Diagnostic::new(UPLINK_BASE_WITH_ADDRESS, message, place).help(help).into());
    }
    Ok(())
}
