//! Prerequisites and promises of a desired state.

use super::{
    before::{Before, Lead},
    ip::{Family, Gateway, OnLink, Route},
    link::LinkRef,
    name_server::NameServer,
    ovs_setting::OvsKey,
    wire::Planned,
};

/// An interface whose addresses come from the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dynamic {
    /// Interface name.
    pub(crate) link: String,
    /// DHCPv4.
    pub(crate) v4: bool,
    /// DHCPv6 or router advertisements.
    pub(crate) v6: bool,
    /// Families in which the network may give it a default route.
    pub(crate) takes_gateway: Vec<Family>,
    /// Whether the node does without an address here: set by [`Wants::judge_dynamic`].
    pub(crate) is_optional: bool,
}

/// Prerequisites and promises together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    /// All declared interfaces, including absent ones.
    pub(crate) links: Vec<String>,
    /// Interfaces that can have the node's addresses: the declared ones that are up, but for ports of bonds and bridges. One that
    /// the document knows by its MAC address has that as well.
    pub(crate) addressable: Vec<LinkRef>,
    /// Pairs of an interface and one below it; an OVS bridge and its ports are below each other.
    pub(crate) below: Vec<(String, String)>,
    /// Interfaces whose packets have a tag or another header on the ones below: VLANs, tunnels, bridges with a VLAN on a port.
    pub(crate) tagged: Vec<String>,
    /// Links that must exist before the apply.
    pub(crate) needed: Vec<LinkRef>,
    /// Ports of OVS bridges that the document does not declare: cards that are awaited, else nmstate makes internal ports of them.
    pub(crate) awaited: Vec<String>,
    /// Whether OVSDB is needed.
    pub(crate) ovs: bool,
    /// Settings of Open vSwitch that it changes.
    pub(crate) ovs_settings: Vec<OvsKey>,
    /// OVS bridges that will exist.
    pub(crate) bridges: Vec<String>,
    pub(crate) bridge_ports: Vec<String>,
    /// OVS interfaces that will exist.
    pub(crate) ovs_interfaces: Vec<String>,
    pub(crate) addresses: Vec<OnLink>,
    /// Interfaces with addresses from the network.
    pub(crate) dynamic: Vec<Dynamic>,
    /// Default gateways that the document names.
    pub(crate) gateways: Vec<Gateway>,
    /// Families of its default routes that have no gateway, so that nobody can be asked.
    pub(crate) without_gateway: Vec<Family>,
    /// Name servers that the document names.
    pub(crate) name_servers: Vec<NameServer>,
    /// Whether it sets the host name.
    pub(crate) hostname: bool,
    /// Whether links appear only during the apply (SR-IOV and other rare types and settings).
    pub(crate) makes_links: bool,
}

impl Wants {
    /// Marks interfaces that may stay without an address from the network, for which nmstate does not wait either: a card that is
    /// no uplink (no gateway before the change, none in the document, no earlier lease), and IPv6 beside a static IPv4 address.
    /// Other interfaces of Open vSwitch stay required.
    pub(crate) fn judge_dynamic(&mut self, before: &Before) {
        let judged: Vec<bool> =
            self.dynamic.iter().map(|dynamic| self.is_optional(dynamic, before)).collect();
        for (dynamic, is_optional) in self.dynamic.iter_mut().zip(judged) {
            dynamic.is_optional = is_optional;
        }
    }

    /// Interfaces that may get a default route of a family from the network, but for those that do without an address.
    pub(crate) fn leads(&self) -> Vec<(Family, LinkRef)> {
        self.leading(|dynamic| !dynamic.is_optional)
    }

    /// [`Self::leads`], and IPv6 beside a static IPv4 address, which routers may give though nothing awaits it.
    pub(crate) fn may_lead(&self) -> Vec<(Family, LinkRef)> {
        self.leading(|dynamic| {
            !dynamic.is_optional || (!dynamic.v4 && self.has_ipv4(&dynamic.link))
        })
    }

    fn has_ipv4(&self, link: &str) -> bool {
        self.addresses.iter().any(|address| address.link == link && address.ip.is_ipv4())
    }

    fn leading(&self, is_one: impl Fn(&Dynamic) -> bool) -> Vec<(Family, LinkRef)> {
        let leading = self.dynamic.iter().filter(|dynamic| is_one(dynamic));
        let lead = |dynamic: &Dynamic| {
            let link = LinkRef::Name(dynamic.link.clone());
            dynamic.takes_gateway.clone().into_iter().map(move |family| (family, link.clone()))
        };
        leading.flat_map(lead).collect()
    }

    /// The static addresses, each with the links that it can be asked for on.
    pub(crate) fn planned(&self) -> Vec<Planned> {
        self.addresses.iter().map(|on| self.asked_for(on.clone())).collect()
    }

    /// The gateways that the document names with their interface, likewise.
    pub(crate) fn planned_gateways(&self) -> Vec<Planned> {
        let one = |gateway: &Gateway| {
            let (link, ip) = (gateway.link.clone()?, gateway.ip);
            let prefix = if ip.is_ipv4() { 32 } else { 128 };
            Some(self.asked_for(OnLink { link, ip, prefix }))
        };
        self.gateways.iter().filter_map(one).collect()
    }

    fn asked_for(&self, on: OnLink) -> Planned {
        let is_plain = |name: &str| !self.tagged.iter().any(|tagged| tagged == name);
        let links = self.stack_of(&on.link, is_plain).into_iter().map(str::to_owned).collect();
        Planned { on, links }
    }

    fn is_optional(&self, dynamic: &Dynamic, before: &Before) -> bool {
        let stack = self.stack(&dynamic.link);
        let is_in = |link: Option<&String>| link.is_none_or(|link| stack.contains(&link.as_str()));
        let had_ipv6 = dynamic.v6 && before.leased_ipv6.iter().any(|link| is_in(Some(link)));
        // Routers need not be in a network where the interface has a static IPv4 address, and were not before.
        let has_ipv4 = self.has_ipv4(&dynamic.link);
        if has_ipv4 && !dynamic.v4 && self.gateways.iter().any(|gateway| gateway.ip.is_ipv4()) {
            let mut gateways = before.gateways.iter().chain(&self.gateways);
            return !had_ipv6
                && !gateways.any(|gateway| gateway.ip.is_ipv6() && is_in(gateway.link.as_ref()));
        }
        let carried = before.gateways.iter().any(|gateway| is_in(gateway.link.as_ref()))
            || before.leased.iter().any(|link| is_in(Some(link)))
            || had_ipv6;
        let named = self.gateways.iter().any(|gateway| is_in(gateway.link.as_ref()));
        let leads_elsewhere = !self.gateways.is_empty() || !before.gateways.is_empty();
        !carried
            && !named
            && !self.ovs_interfaces.contains(&dynamic.link)
            && (dynamic.takes_gateway.is_empty() || leads_elsewhere)
    }

    /// Returns a sentence for each family in which the network has given the node other addresses than it had: servers and
    /// certificates know the former ones.
    pub(crate) fn moved(&self, before: &Before, now: &[OnLink]) -> Vec<String> {
        let of = |all: &[OnLink], family: Family| -> Vec<OnLink> {
            all.iter().filter(|address| Family::of(address.ip) == family).cloned().collect()
        };
        Family::ALL
            .into_iter()
            .filter_map(|family| {
                let (had, has) = (of(&before.leading, family), of(now, family));
                let (was, after) = (had.first()?, has.first()?);
                // Another link may have led before, while the node had the address.
                let mut present = before.present.iter();
                let is_kept = present.any(|had| has.iter().any(|address| had.ip == address.ip));
                let is_stated = self.addresses.iter().any(|address| has.contains(address));
                let is_given = self.dynamic.iter().any(|dynamic| {
                    dynamic.link == after.link
                        && if family == Family::Ipv4 { dynamic.v4 } else { dynamic.v6 }
                }) && !is_stated;
                // Whole addresses are DHCPv6's; a router's prefix is completed by the MAC address.
                let remedy = match (family, after.prefix) {
                    (Family::Ipv6, 128) => {
                        "a DHCPv6 server knows an interface by its IAID, which goes with its name unless \
                     NetworkManager's configuration has `ipv6.dhcp-iaid=mac`: reserve the address, or make it static"
                            .to_owned()
                    }
                    (Family::Ipv4 | Family::Ipv6, _) => format!(
                        "the network knows a node by its MAC address, which `mac-address` or \
                     `copy-mac-from` of {} keeps",
                        after.link
                    ),
                };
                (is_given && !is_kept).then(|| {
                    format!(
                        "the network has given the node another {family} address: {after}, and \
                     before the change {was}; {remedy}"
                    )
                })
            })
            .collect()
    }

    /// Returns a sentence for each family in which another link leads out of the node than before the change, past a default route
    /// of the document's: it may lead nowhere, and where no server is known nothing asks.
    pub(crate) fn overtaken(&self, before: &Before, routes: &[Route]) -> Vec<String> {
        let now = Lead::of(routes);
        Family::ALL.into_iter().filter_map(|family| {
            let of = |lead: &&Lead| lead.family == family;
            let own = routes.iter().filter(|route| route.family == family);
            let own = own.filter(|route| self.links.contains(&route.link));
            let own = own.min_by_key(|route| route.metric)?;
            let leads = now.iter().find(of).filter(|lead| lead.metric < own.metric)?;
            let former = before.leads.iter().find(of)?;
            (former.link != leads.link).then(|| {
                format!(
                    "the {family} default route of {} (metric {}) leads out of the node, before that of {} (metric {}); before the \
                     change that of {} did; `auto-route-metric` of {}, or the route's `metric`, below {} puts it first",
                    leads.link, leads.metric, own.link, own.metric, former.link, own.link, leads.metric
                )
            })
        }).collect()
    }

    /// The cards, bonds and VLANs that carry an interface's packets, whatever else is in the bridges between.
    pub(crate) fn carriers<'a>(&'a self, link: &'a str) -> impl Iterator<Item = &'a str> {
        let is_of_ovs =
            |name: &str| self.bridges.iter().chain(&self.ovs_interfaces).any(|own| own == name);
        self.stack(link).into_iter().filter(move |name| *name != link && !is_of_ovs(name))
    }

    /// The interface and everything below it.
    pub(crate) fn stack<'a>(&'a self, link: &'a str) -> Vec<&'a str> {
        self.stack_of(link, |_| true)
    }

    /// The interface and what is below those that `leads` accepts.
    fn stack_of<'a>(&'a self, link: &'a str, leads: impl Fn(&str) -> bool) -> Vec<&'a str> {
        let mut stack = vec![link];
        let mut next = 0;
        while let Some(upper) = stack.get(next).copied() {
            let below = self.below.iter().filter(|(above, _)| above == upper && leads(above));
            for (_, lower) in below {
                if !stack.contains(&lower.as_str()) {
                    stack.push(lower);
                }
            }
            next += 1;
        }
        stack
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(link: &str) -> Gateway {
        Gateway { link: Some(link.to_owned()), ip: std::net::Ipv4Addr::new(192, 0, 2, 1).into() }
    }

    #[test]
    fn a_static_ipv4_address_does_without_routers() {
        let router = |link: &str| Gateway {
            link: Some(link.to_owned()),
            ip: std::net::Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1).into(),
        };
        let ip = std::net::Ipv4Addr::new(192, 0, 2, 10).into();
        let address = || OnLink { link: "br-ex".to_owned(), ip, prefix: 24 };
        for (addresses, gateways, before, is_optional) in [
            (vec![address()], vec![named("br-ex")], None, true),
            (vec![address()], vec![named("br-ex")], Some("eno9"), true),
            // The routers were there.
            (vec![address()], vec![named("br-ex")], Some("eno1"), false),
            (vec![address()], vec![named("br-ex")], Some("leased"), false),
            (vec![address()], vec![named("br-ex"), router("br-ex")], None, false),
            // IPv6 may be the way out.
            (vec![address()], Vec::new(), None, false),
            (Vec::new(), vec![named("br-ex")], None, false),
        ] {
            let leased_ipv6 = before.filter(|link| *link == "leased").map(|_| "eno1".to_owned());
            let before = Before {
                gateways: before.map(router).into_iter().collect(),
                leased_ipv6: leased_ipv6.into_iter().collect(),
                ..Before::default()
            };
            let mut wants = Wants {
                dynamic: vec![Dynamic {
                    link: "br-ex".to_owned(),
                    v6: true,
                    takes_gateway: vec![Family::Ipv6],
                    ..Dynamic::default()
                }],
                below: vec![("br-ex".to_owned(), "eno1".to_owned())],
                ovs_interfaces: vec!["br-ex".to_owned()],
                addresses,
                gateways,
                ..Wants::default()
            };
            wants.judge_dynamic(&before);
            assert_eq!(wants.dynamic[0].is_optional, is_optional, "{wants:?} {before:?}");
            // A router that comes later is recorded all the same.
            assert_eq!(wants.leads().is_empty(), is_optional);
            assert_eq!(wants.may_lead(), [(Family::Ipv6, LinkRef::Name("br-ex".to_owned()))]);
        }
    }

    #[test]
    fn another_address_of_the_network_is_told_and_one_of_the_document_is_not() {
        let on = |link: &str, last: u8| OnLink {
            link: link.to_owned(),
            ip: [192, 0, 2, last].into(),
            prefix: 24,
        };
        let dynamic = |link: &str| Wants {
            dynamic: vec![Dynamic { link: link.to_owned(), v4: true, ..Dynamic::default() }],
            ..Wants::default()
        };
        let fixed = Wants { addresses: vec![on("br-ex", 11)], ..Wants::default() };
        let before = |last: &[u8]| Before {
            leading: last.iter().map(|last| on("eno1", *last)).collect(),
            present: last.iter().map(|last| on("eno1", *last)).collect(),
            ..Before::default()
        };
        let without_lead = Before { present: vec![on("eno1", 11)], ..before(&[10]) };
        for (before, now, wants, is_told) in [
            (before(&[10]), vec![on("br-ex", 11)], dynamic("br-ex"), true),
            (before(&[10]), vec![on("br-ex", 10)], dynamic("br-ex"), false),
            (before(&[9, 10]), vec![on("br-ex", 10)], dynamic("br-ex"), false),
            (without_lead, vec![on("br-ex", 11)], dynamic("br-ex"), false),
            // On purpose.
            (before(&[10]), vec![on("br-ex", 11)], fixed, false),
            // Another card leads: the probes judge that.
            (before(&[10]), vec![on("eno2", 11)], dynamic("br-ex"), false),
            (before(&[]), vec![on("br-ex", 11)], dynamic("br-ex"), false),
            (before(&[10]), Vec::new(), dynamic("br-ex"), false),
        ] {
            let told = wants.moved(&before, &now);
            assert_eq!(told.len(), usize::from(is_told), "{told:?} {now:?}");
            assert!(
                told.iter().all(|sentence| sentence.contains("192.0.2.11/24 on br-ex")),
                "{told:?}"
            );
        }
    }

    #[test]
    fn a_link_that_leads_out_past_the_documents_route_is_told() {
        let route = |(link, metric): &(&str, u32)| Route {
            gateway: [192, 0, 2, 1].into(),
            family: Family::Ipv4,
            index: 1,
            link: (*link).to_owned(),
            metric: *metric,
            is_advertised: false,
        };
        let routes = |all: &[(&str, u32)]| all.iter().map(route).collect::<Vec<Route>>();
        let wants = Wants { links: vec!["br-ex".to_owned()], ..Wants::default() };
        let (eno1, eno2) = (("eno1", 100), ("eno2", 101));
        for (before, now, is_told) in [
            (vec![eno1, eno2], vec![eno2, ("br-ex", 800)], true),
            (vec![("br-ex", 48), eno2], vec![eno2, ("br-ex", 800)], true),
            (vec![eno1, eno2], vec![eno2, ("br-ex", 48)], false),
            (vec![eno1, eno2], vec![eno2, ("br-ex", 101)], false),
            // It led before, or none did, or the document has no default route.
            (vec![eno2, ("eno1", 102)], vec![eno2, ("br-ex", 800)], false),
            (vec![], vec![eno2, ("br-ex", 800)], false),
            (vec![eno1, eno2], vec![eno2], false),
        ] {
            let before = Before { leads: Lead::of(&routes(&before)), ..Before::default() };
            let told = wants.overtaken(&before, &routes(&now));
            assert_eq!(told.len(), usize::from(is_told), "{told:?} {now:?}");
            let both = "eno2 (metric 101) leads out of the node, before that of br-ex (metric 800)";
            assert!(told.iter().all(|sentence| sentence.contains(both)), "{told:?}");
        }
    }

    #[test]
    fn a_card_that_is_no_uplink_does_without_an_address() {
        let other = || Before { gateways: vec![named("eno9")], ..Before::default() };
        let own = || Before { gateways: vec![named("eno2")], ..Before::default() };
        let leased = || Before { leased: vec!["eno2".to_owned()], ..other() };
        let below = vec![("bond0".to_owned(), "eno2".to_owned())];
        let none = || (Before::default(), Vec::new());
        for (link, takes_gateway, (before, gateways), is_optional) in [
            // Nothing else may carry the node.
            ("eno2", true, none(), false),
            ("eno2", false, none(), true),
            ("eno2", true, (Before::default(), vec![named("eno1")]), true),
            ("eno2", true, (Before::default(), vec![named("eno2")]), false),
            ("eno2", true, (other(), Vec::new()), true),
            ("eno2", true, (own(), Vec::new()), false),
            ("bond0", true, (own(), Vec::new()), false),
            ("eno2", false, (leased(), Vec::new()), false),
            ("br-ex", true, (other(), Vec::new()), false),
        ] {
            let takes_gateway = takes_gateway.then_some(Family::Ipv4).into_iter().collect();
            let dynamic =
                Dynamic { link: link.to_owned(), v4: true, takes_gateway, ..Dynamic::default() };
            let ovs_interfaces = vec!["br-ex".to_owned()];
            let (dynamic, below) = (vec![dynamic], below.clone());
            let mut wants = Wants { dynamic, below, gateways, ovs_interfaces, ..Wants::default() };
            wants.judge_dynamic(&before);
            assert_eq!(wants.dynamic[0].is_optional, is_optional, "{:?} {before:?}", wants.dynamic);
        }
    }
}
