//! The needs of a single host: no other host's document shows a mistake that all of them share.

use std::net::IpAddr;

use nmgen_core::check::{Purpose, is_of_each_host, is_policy};
use nmgen_core::interface;
use nmgen_core::source::HostNetwork;
use nmgen_document::Node;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};

use super::member::Member;
use super::network::{FamilyNetwork, default_routes};
use crate::derive;

rules! {
    warning NO_DEFAULT_ROUTE = "no-default-route";
    warning NO_NAME_SERVER = "no-name-server";
    warning ADDRESS_BESIDE_DHCP = "address-beside-dhcp";
    warning DEFAULT_ROUTES_APART = "default-routes-apart";
}

/// `alike`: findings of the comparison within the role. No second finding is added at the place of one of them.
pub(super) fn check(member: &Member<'_>, alike: &Diagnostics, diagnostics: &mut Diagnostics) {
    // A captured state is no plan, and a policy is a part of one.
    if member.host.policy.is_some() || !matches!(member.host.network, HostNetwork::Written(_)) {
        return;
    }
    if member.stands_alone {
        beside_dhcp(member, diagnostics);
        routes_apart(member, diagnostics);
        let told = way_out(member);
        let is_known = |told: &Diagnostic| alike.iter().any(|other| other.place == told.place);
        diagnostics.extend(told.filter(|told| !is_known(told)));
    }
}

/// One message: a host that reaches nothing beyond its own networks has no use for a name server either.
fn way_out(member: &Member<'_>) -> Option<Diagnostic> {
    let network = member.network;
    let document = member.host.document().filter(|document| !is_policy(document))?;
    // A running node keeps the routes and name servers of interfaces that its document does not name, but br-ex takes its uplink.
    let is_whole = member.purpose != Purpose::Apply;
    if !is_whole && !derive::has_bridge(&document.root) {
        return None;
    }
    let families = network.families();
    let mut addresses = families.into_iter().flat_map(|(_, family)| &family.addresses);
    let first = addresses.find(|address| !is_of_each_host(&address.ip))?;
    let reaches = |family: &FamilyNetwork| family.gives_route || family.has_default_route;
    let help = "add one to routes.config; if a card gets it that this document does not name, --allow no-default-route";
    if !families.into_iter().any(|(_, family)| reaches(family)) {
        let message = "this host has no default route: it reaches its own networks alone";
        return Some(
            Diagnostic::new(NO_DEFAULT_ROUTE, message, document.place(first.at)).help(help),
        );
    }
    for (key, (name, family)) in ["ipv4", "ipv6"].into_iter().zip(families) {
        if reaches(family) {
            continue;
        }
        if let Some(node) = without_route(&document.root, key) {
            let message = format!(
                "this host has no {name} default route: by {name} it reaches its own networks alone"
            );
            return Some(
                Diagnostic::new(NO_DEFAULT_ROUTE, message, document.place(node.span)).help(help),
            );
        }
    }
    if is_whole && network.servers.is_empty() && !network.gives_servers {
        let message = "this host has no name server";
        let help = "add the addresses of name servers to dns-resolver.config.server";
        return Some(Diagnostic::new(NO_NAME_SERVER, message, document.place(first.at)).help(help));
    }
    None
}

/// The first static address of this family on an interface that the other family's default route leaves by: a storage network has
/// one family, and none of the two. Local addresses of IPv6 (RFC 4193) lead nowhere else.
fn without_route<'n, 't>(root: &'n Node<'t>, family: &str) -> Option<&'n Node<'t>> {
    let (other, default) = match family {
        "ipv4" => ("ipv6", "::/0"),
        _ => ("ipv4", "0.0.0.0/0"),
    };
    let routes = root.items_at(&["routes", "config"]);
    let leaves = |interface: &Node<'_>| {
        let is_by_it = |route: &Node<'_>| {
            route.text_at("destination") == Some(default)
                && route.text_at("next-hop-interface") == interface.text_at("name")
        };
        let is_on = |key| interface.is_on(&[other, key]);
        routes.iter().any(is_by_it) || is_on("dhcp") || is_on("autoconf")
    };
    let is_meant = |node: &&Node<'_>| match node.text().and_then(|text| text.parse().ok()) {
        Some(IpAddr::V6(ip)) if ip.is_unique_local() => false,
        Some(ip) => !is_of_each_host(&ip),
        None => false,
    };
    let up = interface::all(root).iter().filter(|node| interface::is_up(node) && leaves(node));
    let enabled =
        up.filter(|node| node.at(&[family, "enabled"]).and_then(Node::boolean) != Some(false));
    let items = enabled.flat_map(|node| node.items_at(&[family, "address"]));
    items.filter_map(|item| item.get("ip")).find(is_meant)
}

/// Warns if the default routes of the two families leave by two interfaces: in a cluster with both, OVN-Kubernetes does not start.
fn routes_apart(member: &Member<'_>, diagnostics: &mut Diagnostics) {
    let Some(document) = member.host.document() else { return };
    let by = |family: bool| {
        let routes = default_routes(&document.root).filter(move |(is_ipv4, _)| *is_ipv4 == family);
        routes.filter_map(|(_, route)| route.get("next-hop-interface"))
    };
    let ipv4: Vec<&str> = by(true).filter_map(Node::text).collect();
    let mut ipv6 = by(false).filter_map(|node| Some((node, node.text()?)));
    let Some((node, other)) = ipv6.next() else { return };
    let Some(first) = ipv4.first().filter(|_| !ipv4.contains(&other)) else { return };
    if ipv6.any(|(_, name)| ipv4.contains(&name)) {
        return;
    }
    let message =
        format!("the default route of IPv4 leaves by {first}, and that of IPv6 by {other}");
    let help = "in a cluster with both families OVN-Kubernetes does not start here: give both routes one interface; in a cluster with one family, --allow default-routes-apart";
    diagnostics.add(DEFAULT_ROUTES_APART, document.place(node.span), message, help);
}

/// With both, an interface has two addresses, and two sources of routes and name servers. IPv6 often has static addresses beside
/// those that routers announce. An address with a lifetime is DHCP's own, of a document that was read from a node.
fn beside_dhcp(member: &Member<'_>, diagnostics: &mut Diagnostics) {
    let Some(document) = member.host.document() else { return };
    for interface in interface::all(&document.root) {
        let Some(family) = interface.get("ipv4") else { continue };
        let is_on = |key: &str| family.is_on(&[key]);
        let Some(dhcp) = family.get("dhcp").filter(|_| is_on("enabled") && is_on("dhcp")) else {
            continue;
        };
        let addresses = family.items_at(&["address"]);
        if addresses.iter().any(|address| address.get("valid-life-time").is_none()) {
            let name = interface.text_at("name").unwrap_or_default();
            let message = format!("{name} has a static address, and asks DHCP for another one");
            let help = "write dhcp: false, or remove the static address";
            diagnostics.add(ADDRESS_BESIDE_DHCP, document.place(dhcp.span), message, help);
        }
    }
}
