//! Addresses and default routes.

use std::{fmt, net::IpAddr};

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::link::Link;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Family {
    Ipv4,
    Ipv6,
}

impl Family {
    /// Both.
    pub(crate) const ALL: [Self; 2] = [Self::Ipv4, Self::Ipv6];

    /// The family of an address.
    pub(crate) fn of(ip: IpAddr) -> Self {
        if ip.is_ipv4() { Self::Ipv4 } else { Self::Ipv6 }
    }

    /// Returns its section of a profile.
    pub(crate) fn section(self) -> &'static str {
        match self {
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ipv4 => "IPv4",
            Self::Ipv6 => "IPv6",
        })
    }
}

/// An address with its interface.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct OnLink {
    /// Interface name.
    pub(crate) link: String,
    pub(crate) ip: IpAddr,
    pub(crate) prefix: u8,
}

impl OnLink {
    /// Whether `other` is in the address's network.
    pub(crate) fn reaches(&self, other: IpAddr) -> bool {
        IpNet::new(self.ip, self.prefix).is_ok_and(|network| network.contains(&other))
    }
}

impl fmt::Display for OnLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} on {}", self.ip, self.prefix, self.link)
    }
}

/// An address in the kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Address {
    pub(crate) on: OnLink,
    /// Not usable yet (duplicate address detection).
    pub(crate) tentative: bool,
    /// Duplicate address detection failed.
    pub(crate) duplicate: bool,
    /// From the network, so with a limited lifetime.
    pub(crate) dynamic: bool,
    pub(crate) scope: Scope,
}

impl Address {
    /// Whether the scope is global; host and link scopes are not configuration.
    pub(crate) fn is_global(&self) -> bool {
        self.scope == Scope::Global
    }

    /// Whether it is usable, or nothing is about to make it so: without a carrier, as on a bridge without ports or with the cable
    /// out, an IPv6 address stays tentative.
    pub(crate) fn is_settled(&self, links: &[Link]) -> bool {
        !self.tentative || links.iter().any(|link| link.name == self.on.link && !link.has_carrier)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scope {
    Global,
    /// `site`, and any number of an administrator's.
    Site,
    Link,
    Host,
}

/// A next hop of a default route of the main table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Route {
    /// In the route's own family, unless it is an IPv4 route through an IPv6 gateway.
    pub(crate) gateway: IpAddr,
    /// The family that it carries.
    pub(crate) family: Family,
    pub(crate) index: u32,
    pub(crate) link: String,
    /// 0 if the route has none.
    pub(crate) metric: u32,
    /// Whether a router has advertised itself (RFC 4861), so that the route goes with it.
    #[serde(default)]
    pub(crate) is_advertised: bool,
}

/// A next hop as a document or the journal names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Gateway {
    /// Interface name, if known.
    pub(crate) link: Option<String>,
    /// Next hop.
    pub(crate) ip: IpAddr,
}

impl Gateway {
    /// Whether this default route leads through it.
    pub(crate) fn is_of(&self, route: &Route) -> bool {
        route.gateway == self.ip && self.link.as_ref().is_none_or(|link| *link == route.link)
    }

    /// Whether a default route through this gateway is back. For one that a router advertised, any advertised router of the link
    /// counts: one of several may have left before the change, and the kernel keeps its route until that expires (RFC 4861, 6.3.6).
    pub(crate) fn is_back_by_any(&self, routes: &[Route]) -> bool {
        let is_in_place = |route: &Route| {
            route.is_advertised
                && route.family == Family::of(self.ip)
                && Some(&route.link) == self.link.as_ref()
        };
        routes.iter().any(|route| self.is_of(route) || is_in_place(route))
    }

    /// The gateway that is used in its place: that of the preferred default route of its interface and family, which a day-two
    /// change may have set. Itself if it is in use, or if there is no other.
    pub(crate) fn in_use(self, routes: &[Route]) -> Self {
        if routes.iter().any(|route| self.is_of(route)) {
            return self;
        }
        let is_in_place = |route: &&Route| {
            Some(&route.link) == self.link.as_ref() && route.gateway.is_ipv4() == self.ip.is_ipv4()
        };
        let preferred = routes.iter().filter(is_in_place).min_by_key(|route| route.metric);
        match preferred {
            Some(route) => Self { ip: route.gateway, ..self },
            None => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_that_day_two_has_moved_is_the_one_in_use() {
        let ip = |last: u8| -> IpAddr { std::net::Ipv4Addr::new(192, 0, 2, last).into() };
        let v6: IpAddr = std::net::Ipv6Addr::LOCALHOST.into();
        let route = |link: &str, gateway: IpAddr, metric: u32| Route {
            gateway,
            family: Family::of(gateway),
            index: 1,
            link: link.to_owned(),
            metric,
            is_advertised: false,
        };
        let named = |link: Option<&str>, ip: IpAddr| Gateway { link: link.map(str::to_owned), ip };
        let (here, elsewhere) = (named(Some("br-ex"), ip(1)), route("eno2", ip(9), 1));
        let used = |routes: &[Route]| here.clone().in_use(routes).ip;
        assert_eq!(used(&[]), ip(1));
        assert_eq!(used(std::slice::from_ref(&elsewhere)), ip(1));
        assert_eq!(used(&[route("br-ex", ip(2), 0), route("br-ex", ip(1), 9)]), ip(1));
        let moved = [elsewhere, route("br-ex", ip(3), 8), route("br-ex", ip(2), 7)];
        assert_eq!(used(&moved), ip(2));
        assert_eq!(used(&[route("br-ex", v6, 1)]), ip(1));
        assert_eq!(named(None, ip(1)).in_use(&moved).ip, ip(1));
    }

    #[test]
    fn a_router_that_went_before_the_change_is_not_awaited() {
        let router = |last| IpAddr::from(std::net::Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, last));
        let v4 = IpAddr::from(std::net::Ipv4Addr::new(192, 0, 2, 1));
        let route = |link: &str, gateway: IpAddr, is_advertised: bool| Route {
            gateway,
            family: Family::of(gateway),
            index: 1,
            link: link.to_owned(),
            metric: 100,
            is_advertised,
        };
        for (before, now, is_back) in [
            (router(2), route("eno1", router(2), false), true),
            (router(2), route("eno1", router(1), true), true),
            // A profile's.
            (router(2), route("eno1", router(1), false), false),
            (router(2), route("eno2", router(1), true), false),
            (router(2), route("eno1", v4, true), false),
        ] {
            let before = Gateway { link: Some("eno1".to_owned()), ip: before };
            assert_eq!(
                before.is_back_by_any(std::slice::from_ref(&now)),
                is_back,
                "{before:?} {now:?}"
            );
            assert!(!before.is_back_by_any(&[]));
        }
    }

    #[test]
    fn a_tentative_address_is_settled_where_there_is_no_carrier() {
        let ip = std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into();
        let mut address = Address {
            on: OnLink { link: "br1".to_owned(), ip, prefix: 64 },
            tentative: true,
            duplicate: false,
            dynamic: false,
            scope: Scope::Global,
        };
        let link = |name: &str, has_carrier| Link {
            name: name.to_owned(),
            has_carrier,
            ..Link::default()
        };
        assert!(!address.is_settled(&[link("br1", true)]));
        assert!(!address.is_settled(&[link("eno1", false)]));
        assert!(address.is_settled(&[link("br1", false)]));
        address.tentative = false;
        assert!(address.is_settled(&[link("br1", true)]));
    }
}
