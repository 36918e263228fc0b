//! Default routes in every shape that the kernel lists: a gateway, one of the other family, several
//! next hops. A route through a nexthop object has its next hops in the same attributes. And the one route to an address.

use std::{fmt, net::IpAddr};

use rtnetlink::packet_route::{
    AddressFamily,
    route::{
        RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol,
        RouteType, RouteVia,
    },
};

use crate::model::{Family, Link, Route};

/// The next hops of `route`, if it is a default route of the main table.
pub(super) fn default_routes(route: &RouteMessage, links: &[Link]) -> Vec<Route> {
    let header = &route.header;
    if header.destination_prefix_length != 0
        || header.kind != RouteType::Unicast
        || table(route) != u32::from(RouteHeader::RT_TABLE_MAIN)
    {
        return Vec::new();
    }
    let is_v4 = header.address_family == AddressFamily::Inet;
    let family = if is_v4 { Family::Ipv4 } else { Family::Ipv6 };
    let metric = metric(route).unwrap_or_default();
    let is_advertised = header.protocol == RouteProtocol::Ra;
    let hop = |gateway: Option<IpAddr>, index: u32| {
        let link = links.iter().find(|l| l.index == index)?.name.clone();
        Some(Route { gateway: gateway?, family, index, link, metric, is_advertised })
    };
    let mut found = Vec::new();
    let mut index = None;
    for attribute in &route.attributes {
        match attribute {
            RouteAttribute::Oif(oif) => index = Some(*oif),
            RouteAttribute::MultiPath(hops) => {
                found.extend(
                    hops.iter().filter_map(|h| hop(gateway(&h.attributes), h.interface_index)),
                );
            }
            _ => {}
        }
    }
    found.extend(index.and_then(|index| hop(gateway(&route.attributes), index)));
    found
}

/// The way of packets to an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RouteAnswer {
    link: String,
    source: Option<IpAddr>,
    gateway: Option<IpAddr>,
}

impl fmt::Display for RouteAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "by {}", self.link)?;
        self.source.map_or(Ok(()), |source| write!(f, " from {source}"))?;
        self.gateway.map_or(Ok(()), |gateway| write!(f, " through {gateway}"))
    }
}

/// Returns the question for the route to an address; with `FibMatch`, for the one in the table.
pub(super) fn query(ip: IpAddr, flags: RouteFlags) -> RouteMessage {
    let mut query = RouteMessage::default();
    let (family, length, destination) = match ip {
        IpAddr::V4(ip) => (AddressFamily::Inet, 32, RouteAddress::Inet(ip)),
        IpAddr::V6(ip) => (AddressFamily::Inet6, 128, RouteAddress::Inet6(ip)),
    };
    (query.header.address_family, query.header.destination_prefix_length) = (family, length);
    query.header.flags = flags;
    query.attributes = vec![RouteAttribute::Destination(destination)];
    query
}

/// Returns what the answer to a [`query`] says; `None` for a route that sends nothing out.
pub(super) fn way(route: &RouteMessage, links: &[Link]) -> Option<RouteAnswer> {
    let all = &route.attributes;
    let index = first!(all, RouteAttribute::Oif(index) => *index)?;
    let source = first!(
        all,
        RouteAttribute::PrefSource(RouteAddress::Inet(ip)) => IpAddr::V4(*ip),
        RouteAttribute::PrefSource(RouteAddress::Inet6(ip)) => IpAddr::V6(*ip),
    );
    let link = links.iter().find(|link| link.index == index)?.name.clone();
    Some(RouteAnswer { link, source, gateway: gateway(all) })
}

/// Returns the command that removes a route of the main table without a configuration: ip-route(8) gives it the protocol "boot", as
/// some programs do. NetworkManager, the kernel and routing daemons have their own. The command names the protocol, so that it
/// never removes another route. A default route stays: it may be all that the node has left.
pub(super) fn removal(route: &RouteMessage, links: &[Link]) -> Option<String> {
    let header = &route.header;
    if header.protocol != RouteProtocol::Boot
        || table(route) != u32::from(RouteHeader::RT_TABLE_MAIN)
    {
        return None;
    }
    let RouteAnswer { link, gateway, .. } = way(route, links)?;
    let family = if header.address_family == AddressFamily::Inet6 { " -6" } else { "" };
    let destination = first!(
        route.attributes,
        RouteAttribute::Destination(RouteAddress::Inet(ip)) => ip.to_string(),
        RouteAttribute::Destination(RouteAddress::Inet6(ip)) => ip.to_string(),
    )?;
    let length = header.destination_prefix_length;
    let via = gateway.map(|gateway| format!(" via {gateway}")).unwrap_or_default();
    let metric = metric(route).map(|metric| format!(" metric {metric}")).unwrap_or_default();
    Some(format!("ip{family} route del {destination}/{length}{via} dev {link} proto boot{metric}"))
}

/// Tables over 255 do not fit into the header.
pub(super) fn table(route: &RouteMessage) -> u32 {
    let attribute = first!(route.attributes, RouteAttribute::Table(table) => *table);
    attribute.unwrap_or_else(|| u32::from(route.header.table))
}

fn metric(route: &RouteMessage) -> Option<u32> {
    first!(route.attributes, RouteAttribute::Priority(metric) => *metric)
}

fn gateway(attributes: &[RouteAttribute]) -> Option<IpAddr> {
    first!(
        attributes,
        RouteAttribute::Gateway(RouteAddress::Inet(ip)) => IpAddr::V4(*ip),
        RouteAttribute::Gateway(RouteAddress::Inet6(ip)) => IpAddr::V6(*ip),
        RouteAttribute::Via(RouteVia::Inet(ip)) => IpAddr::V4(*ip),
        RouteAttribute::Via(RouteVia::Inet6(ip)) => IpAddr::V6(*ip),
    )
}

#[cfg(test)]
mod tests {
    use rtnetlink::packet_route::route::RouteNextHop;

    use super::*;

    fn links() -> Vec<Link> {
        [(2, "eno1"), (3, "br-ex")]
            .map(|(index, name)| Link { index, name: name.to_owned(), ..Link::default() })
            .to_vec()
    }

    fn route(attributes: Vec<RouteAttribute>) -> RouteMessage {
        let mut route = RouteMessage::default();
        route.header.address_family = AddressFamily::Inet;
        route.header.kind = RouteType::Unicast;
        route.header.table = RouteHeader::RT_TABLE_MAIN;
        route.attributes = attributes;
        route
    }

    fn found(attributes: Vec<RouteAttribute>) -> Vec<String> {
        let found = default_routes(&route(attributes), &links());
        found.iter().map(|r| format!("{} {}", r.gateway, r.link)).collect()
    }

    fn by(last: u8) -> RouteAttribute {
        RouteAttribute::Gateway(RouteAddress::Inet([192, 0, 2, last].into()))
    }

    #[test]
    fn one_gateway() {
        assert_eq!(found(vec![by(1), RouteAttribute::Oif(3)]), ["192.0.2.1 br-ex"]);
        // The attributes of a route through a nexthop object.
        let object = vec![RouteAttribute::NhId(7), by(1), RouteAttribute::Oif(3)];
        assert_eq!(found(object), ["192.0.2.1 br-ex"]);
    }

    #[test]
    fn several_next_hops() {
        let hop = |last, interface_index| {
            let mut hop = RouteNextHop::default();
            (hop.interface_index, hop.attributes) = (interface_index, vec![by(last)]);
            hop
        };
        let several = RouteAttribute::MultiPath(vec![hop(1, 3), hop(2, 2)]);
        assert_eq!(found(vec![several]), ["192.0.2.1 br-ex", "192.0.2.2 eno1"]);
    }

    #[test]
    fn a_gateway_of_the_other_family() {
        let via = RouteAttribute::Via(RouteVia::Inet6(std::net::Ipv6Addr::LOCALHOST));
        let routes = default_routes(&route(vec![via, RouteAttribute::Oif(3)]), &links());
        assert_eq!(routes.len(), 1);
        assert!(routes[0].family == Family::Ipv4 && routes[0].gateway.is_ipv6());
    }

    #[test]
    fn the_way_to_an_address_names_link_source_and_gateway() {
        let source = RouteAttribute::PrefSource(RouteAddress::Inet([192, 0, 2, 7].into()));
        let told = |attributes| way(&route(attributes), &links()).map(|way| way.to_string());
        assert_eq!(
            told(vec![RouteAttribute::Oif(3), source.clone(), by(254)]).as_deref(),
            Some("by br-ex from 192.0.2.7 through 192.0.2.254")
        );
        assert_eq!(told(vec![RouteAttribute::Oif(2)]).as_deref(), Some("by eno1"));
        assert_eq!(told(vec![source]), None);
    }

    #[test]
    fn a_route_without_a_configuration_comes_with_the_command_that_removes_it_only() {
        let to = RouteAttribute::Destination(RouteAddress::Inet([198, 51, 100, 0].into()));
        let command = |protocol, attributes: &[RouteAttribute]| {
            let mut route = route(attributes.to_vec());
            (route.header.protocol, route.header.destination_prefix_length) = (protocol, 24);
            removal(&route, &links())
        };
        let (by_hand, out) = (RouteProtocol::Boot, RouteAttribute::Oif(2));
        assert_eq!(
            command(by_hand, &[to.clone(), by(9), out.clone()]).as_deref(),
            Some("ip route del 198.51.100.0/24 via 192.0.2.9 dev eno1 proto boot")
        );
        let first = [to.clone(), out.clone(), RouteAttribute::Priority(10)];
        assert_eq!(
            command(by_hand, &first).as_deref(),
            Some("ip route del 198.51.100.0/24 dev eno1 proto boot metric 10")
        );
        assert_eq!(command(by_hand, &[by(9), out.clone()]), None);
        // NetworkManager's, and one of another table.
        assert_eq!(command(RouteProtocol::Static, &[to.clone(), by(9), out.clone()]), None);
        assert_eq!(command(by_hand, &[RouteAttribute::Table(7), to, out]), None);
    }

    #[test]
    fn other_tables_do_not_count() {
        for table in [100, 1000] {
            let other = vec![RouteAttribute::Table(table), by(1), RouteAttribute::Oif(3)];
            assert_eq!(found(other), Vec::<String>::new());
        }
    }
}
