//! The facts of a document that are compared with the cluster's, and with those of other hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use nmgen_core::check::{bond_mode, is_within};
use nmgen_core::interface;
use nmgen_document::Node;
use nmgen_document::text::Span;

/// The table of routes without a table id.
const MAIN_TABLE: u64 = 254;

/// The compared facts. Lists have no room to grow: a fleet has a million facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Network<'h> {
    pub(super) ipv4: FamilyNetwork,
    pub(super) ipv6: FamilyNetwork,
    /// The name servers, in alphabetical order.
    pub(super) servers: Box<[&'h str]>,
    /// DHCP or router advertisements may give name servers.
    pub(super) gives_servers: bool,
    /// The place of the name servers.
    pub(super) servers_at: Option<Span>,
    /// By name, the mode of each bond, and its place.
    pub(super) bonds: Box<[(&'h str, Mode)]>,
}

/// The mode of a bond, and its place.
type Mode = (&'static str, Span);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FamilyNetwork {
    pub(super) addresses: Box<[StaticAddress]>,
    /// DHCP or router advertisements give addresses, routes and name servers too.
    pub(super) is_dynamic: bool,
    /// They may give a default route.
    pub(super) gives_route: bool,
    /// The gateways of default routes in the main table, in numerical order.
    pub(super) gateways: Box<[IpAddr]>,
    /// The place of the first gateway.
    pub(super) gateway_at: Option<Span>,
    /// True also for a default route without a gateway.
    pub(super) has_default_route: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StaticAddress {
    pub(super) ip: IpAddr,
    pub(super) length: Option<u64>,
    pub(super) at: Span,
    /// The place of the prefix length.
    pub(super) length_at: Span,
}

impl StaticAddress {
    /// True if the address's network has `other`.
    pub(super) fn reaches(&self, other: IpAddr) -> bool {
        self.length.is_some_and(|length| is_within(other, self.ip, length))
    }
}

impl Network<'_> {
    pub(super) fn families(&self) -> [(&'static str, &FamilyNetwork); 2] {
        [("IPv4", &self.ipv4), ("IPv6", &self.ipv6)]
    }

    pub(super) fn family(&self, ip: IpAddr) -> &FamilyNetwork {
        if ip.is_ipv4() { &self.ipv4 } else { &self.ipv6 }
    }

    pub(super) fn bond(&self, name: &str) -> Option<Mode> {
        let index = self.bonds.binary_search_by_key(&name, |(name, _)| *name).ok()?;
        Some(self.bonds[index].1)
    }
}

/// The default routes of the main table, each with whether it is of IPv4.
pub(super) fn default_routes<'n, 't>(
    root: &'n Node<'t>,
) -> impl Iterator<Item = (bool, &'n Node<'t>)> {
    let routes = root.items_at(&["routes", "config"]).iter();
    routes.filter_map(|route| {
        let is_main = route.number_at(&["table-id"]).is_none_or(|id| id == 0 || id == MAIN_TABLE);
        let is_ipv4 = match route.text_at("destination") {
            Some("0.0.0.0/0") => true,
            Some("::/0") => false,
            _ => return None,
        };
        (is_main && route.text_at("state") != Some("absent")).then_some((is_ipv4, route))
    })
}

/// Gathers the facts of a document.
pub(crate) fn network<'h>(root: &'h Node<'_>) -> Network<'h> {
    let mut network = Network::default();
    let (mut ipv4, mut ipv6) = (Gathered::default(), Gathered::default());
    let mut bonds = BTreeMap::new();
    let list = |path: &[&str]| root.items_at(path);
    for interface in interface::all(root) {
        if !interface::is_up(interface) || interface::kind(interface) == "loopback" {
            continue;
        }
        for (key, family) in [("ipv4", &mut ipv4), ("ipv6", &mut ipv6)] {
            network.gives_servers |= add_addresses(family, interface.get(key));
        }
        add_bond(&mut bonds, interface);
    }
    for (is_ipv4, route) in default_routes(root) {
        let family = if is_ipv4 { &mut ipv4 } else { &mut ipv6 };
        family.found.has_default_route = true;
        if let Some(node) = route.get("next-hop-address")
            && let Some(gateway) = node.text().and_then(|text| text.parse().ok())
        {
            family.gateways.insert(gateway);
            family.found.gateway_at = family.found.gateway_at.or(Some(node.span));
        }
    }
    let servers = root.at(&["dns-resolver", "config", "server"]);
    let listed = list(&["dns-resolver", "config", "server"]).iter().filter_map(Node::text);
    network.servers = in_order(listed.collect());
    network.servers_at =
        servers.map(|node| node.items().first().map_or(node.span, |node| node.span));
    network.bonds = bonds.into_iter().collect();
    (network.ipv4, network.ipv6) = (ipv4.family(), ipv6.family());
    network
}

/// A family while it is gathered.
#[derive(Default)]
struct Gathered {
    found: FamilyNetwork,
    addresses: Vec<StaticAddress>,
    gateways: BTreeSet<IpAddr>,
}

impl Gathered {
    fn family(self) -> FamilyNetwork {
        let Self { found, addresses, gateways } = self;
        FamilyNetwork { addresses: addresses.into(), gateways: in_order(gateways), ..found }
    }
}

fn in_order<T>(values: BTreeSet<T>) -> Box<[T]> {
    values.into_iter().collect()
}

/// Adds an interface's addresses; true where the network may give name servers.
fn add_addresses(family: &mut Gathered, section: Option<&Node<'_>>) -> bool {
    let Some(section) = section else { return false };
    let value = |key: &str| section.get(key).and_then(Node::boolean);
    if value("enabled") == Some(false) {
        return false;
    }
    let is_dynamic = value("dhcp") == Some(true) || value("autoconf") == Some(true);
    family.found.is_dynamic |= is_dynamic;
    family.found.gives_route |= is_dynamic && value("auto-gateway") != Some(false);
    for item in section.items_at(&["address"]) {
        let Some(node) = item.get("ip") else { continue };
        let Some(ip) = node.text().and_then(|text| text.parse::<IpAddr>().ok()) else { continue };
        let length = item.get("prefix-length");
        family.addresses.push(StaticAddress {
            ip,
            length: length.and_then(Node::number),
            at: node.span,
            length_at: length.unwrap_or(node).span,
        });
    }
    is_dynamic && value("auto-dns") != Some(false)
}

fn add_bond<'h>(bonds: &mut BTreeMap<&'h str, Mode>, interface: &'h Node<'_>) {
    let section = interface.get("link-aggregation").or_else(|| interface.get("bond"));
    let Some(node) = section.and_then(|section| section.get("mode")) else { return };
    let (Some(name), Some(text)) = (interface.text_at("name"), node.text()) else { return };
    if let Some(mode) = bond_mode(text) {
        bonds.insert(name, (mode, node.span));
    }
}
