//! Routes: interface, gateway, and syntax of addresses.

use std::collections::HashMap;
use std::net::IpAddr;

use nmgen_document::diagnostic::{Rule, Severity, rules};
use nmgen_document::{Node, Path};

use super::address::{Family, is_link_local, is_within, not_a_host};
use super::subject::{Interface, Report, Subject};

rules! {
    error ROUTE_SYNTAX = "route-syntax";
    pub(super) error ROUTE_WITHOUT_INTERFACE = "route-without-interface";
    pub(super) error ROUTE_INTERFACE_UNDECLARED = "route-interface-undeclared";
    error ROUTE_FAMILY_DISABLED = "route-family-disabled";
    warning GATEWAY_OUTSIDE_SUBNETS = "gateway-outside-subnets";
    error GATEWAY_IS_OWN_ADDRESS = "gateway-is-own-address";
    warning GATEWAY_NOT_A_HOST = "gateway-not-a-host";
    warning DEFAULT_ROUTE_TWICE = "default-route-twice";
    pub(super) warning ROUTE_METRIC_LEFT_OUT = "route-metric-left-out";
}

/// A route with `state` other than absent.
struct Route<'s> {
    /// `routes.config[N]`.
    index: usize,
    node: &'s Node<'s>,
    destination: Option<(IpAddr, u64)>,
    /// `None` also for `0.0.0.0` and `::`, which mean no gateway.
    gateway: Option<IpAddr>,
    interface: Option<&'s str>,
}

impl Route<'_> {
    fn path(&self, key: &str) -> Path {
        Path::default().key("routes").key("config").index(self.index).key(key)
    }

    /// Its name in messages.
    fn name(&self) -> String {
        match self.node.text_at("destination") {
            Some(destination) => format!("the route to {}", destination.escape_debug()),
            None => "the route".to_owned(),
        }
    }
}

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    let list = subject.root.items_at(&["routes", "config"]);
    let routes: Vec<Route<'_>> = list
        .iter()
        .enumerate()
        .filter(|(_, node)| !matches!(node.text_at("state"), Some("absent" | "ignore")))
        .map(|(index, node)| route(subject, index, node, report))
        .collect();
    // The networks that routes without a gateway make reachable, by interface.
    let mut on_link: HashMap<&str, Vec<(IpAddr, u64)>> = HashMap::new();
    for route in routes.iter().filter(|route| route.gateway.is_none()) {
        if let (Some(destination), Some(interface)) = (route.destination, route.interface) {
            on_link.entry(interface).or_default().push(destination);
        }
    }
    // Cached by interface, as a document may have many routes and many addresses.
    let mut addresses: HashMap<(&str, Family), Vec<Address>> = HashMap::new();
    for route in &routes {
        let Some(interface) = interface(subject, route, report) else { continue };
        if !family_is_enabled(subject, route, interface, report) {
            continue;
        }
        let on_link = route.interface.and_then(|name| on_link.get(name));
        let Some(gateway) = route.gateway else { continue };
        let family = Family::of(gateway);
        let addresses = addresses
            .entry((interface.name, family))
            .or_insert_with(|| addresses_of(interface, family));
        let on_link = on_link.map_or(&[][..], Vec::as_slice);
        check_gateway(route, gateway, interface, addresses, on_link, report);
    }
    defaults(&routes, report);
    for interface in subject
        .interfaces
        .iter()
        .filter(|interface| interface.kind == "ovs-interface" && interface.is_up())
    {
        metric_left_out(interface, report);
    }
}

/// A default route from the network on an OVS interface: NetworkManager gives it the metric 800. A card that no document names may
/// have one by a profile that NetworkManager makes for it.
fn metric_left_out(interface: &Interface<'_>, report: &mut Report<'_>) {
    if let Some(family) = Family::BOTH.into_iter().find(|family| {
        let Some(section) = interface.node.get(family.key()) else { return false };
        let is_off = |key| section.get(key).and_then(Node::boolean) == Some(false);
        let table = section.number_at(&["auto-route-table-id"]);
        family.is_automatic(interface.node)
            && section.get("auto-route-metric").is_none()
            && !is_off("auto-gateway")
            && !is_off("auto-routes")
            && table.is_none_or(|table| matches!(table, 0 | 254))
    }) {
        let at = interface.path_to(&[family.key()]);
        let help = "add `auto-route-metric: 48`";
        let message = format!(
            "the default route of {} gets the metric 800, that of a card 100",
            interface.name
        );
        report.add_at_key(ROUTE_METRIC_LEFT_OUT, &at, message, help);
    }
}

fn route<'s>(
    subject: &Subject<'_>,
    index: usize,
    node: &'s Node<'s>,
    report: &mut Report<'_>,
) -> Route<'s> {
    let route = Route { index, node, destination: None, gateway: None, interface: None };
    let text = |key: &str| node.text_at(key).filter(|text| !text.is_empty());
    let destination = text("destination").and_then(|text| {
        network(text).or_else(|| syntax(&route, "destination", text, "a network", report))
    });
    let gateway = text("next-hop-address").and_then(|text| {
        text.parse::<IpAddr>()
            .ok()
            .or_else(|| syntax(&route, "next-hop-address", text, "an IP address", report))
    });
    if let Some(source) = text("source").filter(|source| source.parse::<IpAddr>().is_err()) {
        syntax::<()>(&route, "source", source, "an IP address", report);
    }
    if let (Some((destination, _)), Some(gateway)) = (destination, gateway)
        && Family::of(destination) != Family::of(gateway)
        && !gateway.is_unspecified()
    {
        // The kernel has IPv4 routes by an IPv6 gateway (RFC 5549); NetworkManager has none, and drops the route.
        let rule =
            if gateway.is_ipv4() { ROUTE_SYNTAX } else { subject.unless_on_node(ROUTE_SYNTAX) };
        let message = format!(
            "{} cannot use the {} gateway {gateway}",
            route.name(),
            Family::of(gateway).name()
        );
        let help = "use a gateway of the destination's address family";
        report.add(rule, &route.path("next-hop-address"), message, help);
    }
    let gateway = gateway.filter(|gateway| !gateway.is_unspecified());
    let interface = text("next-hop-interface");
    Route { destination, gateway, interface, ..route }
}

/// `address/length`, or an address alone.
fn network(text: &str) -> Option<(IpAddr, u64)> {
    let (address, length) = text.split_once('/').map_or((text, None), |(a, l)| (a, Some(l)));
    let address: IpAddr = address.parse().ok()?;
    let max = Family::of(address).max_prefix();
    let length = length.map_or(Some(max), |length| length.parse().ok())?;
    (length <= max).then_some((address, length))
}

fn syntax<T>(
    route: &Route<'_>,
    key: &str,
    text: &str,
    what: &str,
    report: &mut Report<'_>,
) -> Option<T> {
    let help = match text {
        "default" | "any" => "write 0.0.0.0/0, or ::/0 for IPv6",
        _ if text.contains('%') => {
            "leave out '%' and what follows: next-hop-interface names the link"
        }
        _ => super::address::with_zeros(text).unwrap_or(
            "networks are written 192.0.2.0/24 and 2001:db8::/64, addresses without the length",
        ),
    };
    let message = format!("\"{}\" is not {what}", text.escape_debug());
    report.add(ROUTE_SYNTAX, &route.path(key), message, help);
    None
}

/// The route's interface, if the document declares it as one that can hold the route.
fn interface<'s>(
    subject: &'s Subject<'_>,
    route: &Route<'_>,
    report: &mut Report<'_>,
) -> Option<&'s Interface<'s>> {
    let is_unicast = route.node.get("route-type").is_none();
    let Some(name) = route.interface else {
        if is_unicast {
            let help =
                "add next-hop-interface: nmstate keeps a route in the profile of its interface";
            let message = format!("{} has no interface", route.name());
            report.add_at_key(ROUTE_WITHOUT_INTERFACE, &route.path("destination"), message, help);
        }
        return None;
    };
    let found = subject.interface(name);
    if let Some(found) = found.filter(|found| !matches!(found.state, "absent" | "ignore")) {
        return Some(found);
    }
    if name != "lo" {
        let is_bridge = subject.interfaces.iter().any(|i| i.name == name && !i.in_kernel());
        let message = match found {
            Some(found) => {
                format!("{} leaves by {name}, whose state is {}", route.name(), found.state)
            }
            None if is_bridge => {
                format!("{} leaves by {name}, which is an ovs-bridge only", route.name())
            }
            None => format!("{} leaves by {name}, which is not in this document", route.name()),
        };
        let help = if let Some(meant) = subject.meant(name).filter(|_| found.is_none()) {
            &format!("did you mean {meant}?")
        } else if is_bridge {
            "declare an ovs-interface of the bridge, with the addresses, and name it here"
        } else if subject.is_offline() {
            "offline there is no profile to keep the route in: declare the interface"
        } else {
            "the interface must exist on the node; declare it, if only with name, type and state"
        };
        let rule = subject.unless_on_node(ROUTE_INTERFACE_UNDECLARED);
        report.add(rule, &route.path("next-hop-interface"), message, help);
    }
    None
}

/// nmstate refuses a route on an interface without the address family.
fn family_is_enabled(
    subject: &Subject<'_>,
    route: &Route<'_>,
    interface: &Interface<'_>,
    report: &mut Report<'_>,
) -> bool {
    let Some((destination, _)) = route.destination else { return false };
    let family = Family::of(destination);
    let enabled = interface.node.at(&[family.key(), "enabled"]).map(Node::boolean);
    let is_enabled = match enabled {
        Some(enabled) => enabled != Some(false),
        // On a node the interface keeps its current setting.
        None => !subject.is_offline() || interface.kind == "loopback",
    };
    if !is_enabled {
        let message = format!(
            "{} needs {} on {}, where it is not enabled",
            route.name(),
            family.name(),
            interface.name
        );
        let help = "enable the protocol on the interface, or choose another interface";
        report.add(ROUTE_FAMILY_DISABLED, &route.path("next-hop-interface"), message, help);
    }
    is_enabled
}

/// An address and its prefix length.
type Address = (IpAddr, Option<u64>);

fn addresses_of(interface: &Interface<'_>, family: Family) -> Vec<Address> {
    let items = family.addresses(interface.node).iter();
    let address = |item: &Node<'_>| {
        let length = item.number_at(&["prefix-length"]);
        Some((item.text_at("ip")?.parse().ok()?, length))
    };
    items.filter_map(address).collect()
}

fn check_gateway(
    route: &Route<'_>,
    gateway: IpAddr,
    interface: &Interface<'_>,
    addresses: &[Address],
    on_link: &[(IpAddr, u64)],
    report: &mut Report<'_>,
) {
    if addresses.iter().any(|(address, _)| *address == gateway) {
        let (severity, help) = match Family::of(gateway) {
            Family::V4 => (
                Severity::Warning,
                "such a route leads to no router: give the router's address, or 0.0.0.0 for none",
            ),
            Family::V6 => {
                (Severity::Error, "the kernel refuses such a route: give the address of the router")
            }
        };
        let message = format!("the gateway {gateway} is the address of {} itself", interface.name);
        let at = route.path("next-hop-address");
        report.add(Rule { severity, ..GATEWAY_IS_OWN_ADDRESS }, &at, message, help);
        return;
    }
    let is_in = |(address, length): &Address| {
        length.is_some_and(|length| is_within(gateway, *address, length))
    };
    let network = addresses.iter().find(|address| is_in(address));
    if let Some(problem) = network.and_then(|(_, length)| not_a_host(gateway, *length)) {
        let message = format!("the gateway {gateway} is {problem}, not the address of a router");
        let help = "check the gateway and the prefix length of the address";
        report.add(GATEWAY_NOT_A_HOST, &route.path("next-hop-address"), message, help);
        return;
    }
    let is_reachable = network.is_some()
        || on_link.iter().any(|(network, length)| is_within(gateway, *network, *length));
    // A warning only, as NetworkManager adds the missing route to the gateway.
    if !addresses.is_empty()
        && !is_reachable
        && !is_link_local(gateway)
        && !Family::of(gateway).is_automatic(interface.node)
    {
        // With such a length the address is the only one of its network.
        let family = Family::of(gateway);
        // A hosting provider gives such an address on purpose, with a gateway of some other network.
        let is_only = |address: &Address| address.1 == Some(family.max_prefix());
        let is_near = |(address, _): &Address| is_within(gateway, *address, family.usual_prefix());
        if on_link.is_empty() && addresses.iter().all(is_only) && !addresses.iter().any(is_near) {
            return;
        }
        let length = |item: &Node<'_>| item.number_at(&["prefix-length"]);
        let mut items = family.addresses(interface.node).iter();
        let alone = items.position(|item| length(item) == Some(family.max_prefix()));
        let alone = alone.filter(|_| on_link.is_empty());
        let path = alone.map_or_else(
            || route.path("next-hop-address"),
            |index| interface.path_to(&[family.key(), "address"]).index(index).key("prefix-length"),
        );
        let message =
            format!("the gateway {gateway} is outside every subnet of {}", interface.name);
        let help = "check the gateway and the prefix lengths; if intended, add a route to it without a gateway";
        report.add(GATEWAY_OUTSIDE_SUBNETS, &path, message, help);
    }
}

fn defaults(routes: &[Route<'_>], report: &mut Report<'_>) {
    let mut first: HashMap<(Family, Option<u64>, Option<u64>), &Route<'_>> = HashMap::new();
    for route in routes {
        // Routes with a weight share the traffic.
        if route.destination.is_none_or(|(_, length)| length != 0)
            || route.node.get("weight").is_some()
        {
            continue;
        }
        let (Some((destination, _)), Some(interface)) = (route.destination, route.interface) else {
            continue;
        };
        // 0 and 254 are the main table; -1 is the default metric.
        let table = route.node.number_at(&["table-id"]);
        let table = table.filter(|table| !matches!(table, 0 | 254));
        let metric = route.node.number_at(&["metric"]);
        match first.get(&(Family::of(destination), table, metric)) {
            None => {
                first.insert((Family::of(destination), table, metric), route);
            }
            Some(other) if other.interface == Some(interface) && other.gateway == route.gateway => {}
            Some(other) => report.add(
                DEFAULT_ROUTE_TWICE,
                &route.path("destination"),
                format!(
                    "a second {} default route with the same metric, by {interface}; the first is on line {}",
                    Family::of(destination).name(),
                    report.line(&other.path("destination"))
                ),
                "give the preferred one a lower metric, or both a weight",
            ),
        }
    }
}
