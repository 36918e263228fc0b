//! The needs of a single host: no other host's document shows a mistake that all of them share.

use nmgen_core::check::is_of_each_host;
use nmgen_core::interface;
use nmgen_core::source::HostNetwork;
use nmgen_document::Node;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};

use super::member::Member;

rules! {
    warning NO_DEFAULT_ROUTE = "no-default-route";
    warning NO_NAME_SERVER = "no-name-server";
    warning ADDRESS_BESIDE_DHCP = "address-beside-dhcp";
}

/// `alike`: findings of the comparison within the role. No second finding is added at the place of one of them.
pub(super) fn check(member: &Member<'_>, alike: &Diagnostics, diagnostics: &mut Diagnostics) {
    // A captured state is no plan, and a policy is a part of one.
    if member.host.policy.is_some() || !matches!(member.host.network, HostNetwork::Written(_)) {
        return;
    }
    if member.stands_alone {
        beside_dhcp(member, diagnostics);
        let told = way_out(member);
        let is_known = |told: &Diagnostic| alike.iter().any(|other| other.place == told.place);
        diagnostics.extend(told.filter(|told| !is_known(told)));
    }
}

/// One message: a host that reaches nothing beyond its own networks has no use for a name server either.
fn way_out(member: &Member<'_>) -> Option<Diagnostic> {
    let network = member.network;
    let families = || network.families().into_iter().map(|(_, family)| family);
    let mut addresses = families().flat_map(|family| &family.addresses);
    let first = addresses.find(|address| !is_of_each_host(&address.ip))?;
    let document = member.host.document()?;
    if !families().any(|family| family.gives_route || family.has_default_route) {
        let message = "this host has no default route: it reaches its own networks alone";
        let help = "add one to routes.config; if a card gets it that this document does not name, --allow no-default-route";
        return Some(
            Diagnostic::new(NO_DEFAULT_ROUTE, message, document.place(first.at)).help(help),
        );
    }
    if network.servers.is_empty() && !network.gives_servers {
        let message = "this host has no name server";
        let help = "add the addresses of name servers to dns-resolver.config.server";
        return Some(Diagnostic::new(NO_NAME_SERVER, message, document.place(first.at)).help(help));
    }
    None
}

/// With both, an interface has two addresses, and two sources of routes and name servers. IPv6 often has static addresses beside
/// those that routers announce. An address with a lifetime is DHCP's own, of a document that was read from a node.
fn beside_dhcp(member: &Member<'_>, diagnostics: &mut Diagnostics) {
    let Some(document) = member.host.document() else { return };
    for interface in interface::all(&document.root) {
        let Some(family) = interface.get("ipv4") else { continue };
        let is_on = |key: &str| family.get(key).and_then(Node::boolean) == Some(true);
        let Some(dhcp) = family.get("dhcp").filter(|_| is_on("enabled") && is_on("dhcp")) else {
            continue;
        };
        let addresses = family.get("address").map(Node::items).unwrap_or_default();
        if addresses.iter().any(|address| address.get("valid-life-time").is_none()) {
            let name = interface.text_at("name").unwrap_or_default();
            let message = format!("{name} has a static address, and asks DHCP for another one");
            diagnostics.push(
                Diagnostic::new(ADDRESS_BESIDE_DHCP, message, document.place(dhcp.span))
                    .help("write dhcp: false, or remove the static address"),
            );
        }
    }
}
