//! The state before a transaction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    bridge::Bridge,
    ip::{Address, Family, Gateway, OnLink, Route},
    mac::Mac,
    ovs_setting::OvsSetting,
    profile::Active,
};

/// A checkpoint's object path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Checkpoint(pub(crate) String);

/// A preferred default route: of its family, none has a lower metric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lead {
    pub(crate) family: Family,
    pub(crate) link: String,
    /// As NetworkManager has numbered it: two profiles without a metric get one each, in the order of their activation.
    pub(crate) metric: u32,
}

impl Lead {
    /// Returns the preferred default routes of both families.
    pub(crate) fn of(routes: &[Route]) -> Vec<Self> {
        let of = |family: Family| {
            let its = routes.iter().filter(move |route| route.family == family);
            let lowest = its.clone().map(|route| route.metric).min();
            its.filter(move |route| Some(route.metric) == lowest).map(move |route| Self {
                family,
                link: route.link.clone(),
                metric: route.metric,
            })
        };
        Family::ALL.into_iter().flat_map(of).collect()
    }

    /// Returns the addresses of global scope on the links with the preferred default routes, each of the route's family.
    pub(crate) fn addresses(routes: &[Route], addresses: &[Address]) -> Vec<OnLink> {
        let leads = Self::of(routes);
        let is_leading = |on: &OnLink| {
            leads.iter().any(|lead| lead.link == on.link && lead.family == Family::of(on.ip))
        };
        let global =
            addresses.iter().filter(|address| address.is_global()).map(|address| &address.on);
        global.filter(|on| is_leading(on)).cloned().collect()
    }
}

/// The state before a transaction that a roll back must restore.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Before {
    /// Addresses of global scope.
    pub(crate) addresses: Vec<OnLink>,
    /// Addresses among them that are of no profile and no lease: other programs' own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) others: Vec<OnLink>,
    /// Links with an IPv4 address from DHCP: the server may later assign another one.
    pub(crate) leased: Vec<String>,
    /// Links with an IPv6 address from the network. No roll back awaits one: the router may be gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) leased_ipv6: Vec<String>,
    pub(crate) gateways: Vec<Gateway>,
    /// Routers among them that have advertised themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) routers: Vec<Gateway>,
    /// Preferred default routes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) leads: Vec<Lead>,
    /// Addresses of the links with these, those of the network too: compared at the commit, and asked of no roll back.
    #[serde(skip)]
    pub(crate) leading: Vec<OnLink>,
    /// Addresses of global scope on every link, likewise.
    #[serde(skip)]
    pub(crate) present: Vec<OnLink>,
    pub(crate) active: Vec<Active>,
    /// UUIDs of those whose activation had succeeded.
    pub(crate) activated: Vec<String>,
    /// MTU of each link with an active profile.
    pub(crate) mtus: BTreeMap<String, u32>,
    /// MAC address of each virtual link with an active profile, which no hardware gives back.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) macs: BTreeMap<String, Mac>,
    /// Checkpoints of other programs.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// Timeout of the transaction's own checkpoints, which identifies them.
    pub(crate) checkpoint_seconds: u32,
    /// Settings of Open vSwitch that the document changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ovs_settings: Vec<OvsSetting>,
    pub(crate) bridges: Vec<Bridge>,
    /// The running host name if the document sets one; other changes of it are not the agent's.
    pub(crate) hostname: Option<String>,
    /// Whether a roll back has the devices reapply the restored profiles: files of `nmstatectl service`
    /// change profiles before the checkpoint that is rolled back, and that of a trial may be gone.
    pub(crate) reapply: bool,
}

impl Before {
    /// Returns the preferred default routes that another link has taken over, of those that had one before: a card that came
    /// meanwhile may be the better way out.
    pub(crate) fn lost_leads(&self, routes: &[Route]) -> Vec<&Lead> {
        let had = |route: &&Route| {
            self.gateways.iter().any(|gateway| gateway.link.as_deref() == Some(&*route.link))
        };
        let now: Vec<Route> = routes.iter().filter(had).cloned().collect();
        let now = Lead::of(&now);
        let leads = |family: Family| {
            let is_back = |lead: &Lead| {
                now.iter().any(|current| current.family == family && current.link == lead.link)
            };
            let mut before = self.leads.iter().filter(move |lead| lead.family == family);
            let is_led = now.iter().any(|lead| lead.family == family);
            if is_led && !before.clone().any(is_back) { before.next() } else { None }
        };
        Family::ALL.into_iter().filter_map(leads).collect()
    }

    /// The part that a later run can ask for. An address of another program, as OVN-Kubernetes's on br-ex or a virtual one of
    /// keepalived's, may have moved since; and the network of an earlier boot may have been of profiles that went with it, and its
    /// addresses are the business of what that run proves next.
    pub(crate) fn for_a_later_run(&self, same_boot: bool) -> Self {
        let mut before = self.clone();
        if same_boot {
            before.addresses.retain(|address| !self.others.contains(address));
            return before;
        }
        Self {
            addresses: Vec::new(),
            leased: Vec::new(),
            leased_ipv6: Vec::new(),
            gateways: Vec::new(),
            routers: Vec::new(),
            leads: Vec::new(),
            mtus: BTreeMap::new(),
            ..before
        }
    }
}

/// The part of [`Before`] that the kind of a transaction decides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WayBack {
    pub(crate) checkpoint_seconds: u32,
    pub(crate) reapply: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(link: &str, metric: u32) -> Route {
        let gateway = std::net::Ipv4Addr::new(192, 0, 2, 1).into();
        let (is_advertised, link) = (false, link.to_owned());
        Route { gateway, family: Family::Ipv4, index: 1, link, metric, is_advertised }
    }

    /// NetworkManager numbers the metrics in the order of the activations.
    #[test]
    fn a_preferred_route_is_lost_to_a_link_that_had_one_before() {
        let routes = [route("eno1", 100), route("eno2", 101)];
        let gateway = |route: &Route| Gateway { link: Some(route.link.clone()), ip: route.gateway };
        let gateways = routes.iter().map(gateway).collect();
        let before = Before { gateways, leads: Lead::of(&routes), ..Before::default() };
        let lost = |routes: &[Route]| -> Vec<String> {
            before.lost_leads(routes).into_iter().map(|lead| lead.link.clone()).collect()
        };
        assert_eq!(lost(&routes), [""; 0]);
        assert_eq!(lost(&[route("eno2", 101), route("eno1", 102)]), ["eno1"]);
        assert_eq!(lost(&[route("eno2", 101), route("eno1", 101)]), [""; 0]);
        assert_eq!(lost(&[route("eno1", 300), route("eno2", 301)]), [""; 0]);
        // A card that came meanwhile.
        assert_eq!(lost(&[route("eno3", 1), route("eno1", 100)]), [""; 0]);
        // Without its route, its gateway is what lacks.
        assert_eq!(lost(&[route("eno2", 101)]), ["eno1"]);
        assert_eq!(lost(&[]), [""; 0]);
    }

    #[test]
    fn addresses_of_other_links_and_families_do_not_lead() {
        let address = |link: &str, ip: std::net::IpAddr| Address {
            on: OnLink { link: link.to_owned(), ip, prefix: 24 },
            tentative: false,
            duplicate: false,
            dynamic: true,
            scope: crate::model::Scope::Global,
        };
        let v4 = std::net::Ipv4Addr::new(192, 0, 2, 10).into();
        let v6 = std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into();
        let all = [address("eno1", v4), address("eno1", v6), address("eno2", v4)];
        let leading = Lead::addresses(&[route("eno2", 101), route("eno1", 100)], &all);
        assert_eq!(leading, [all[0].on.clone()]);
    }

    #[test]
    fn a_later_run_asks_for_what_can_come_back() {
        let on =
            |link: &str, ip: [u8; 4]| OnLink { link: link.to_owned(), ip: ip.into(), prefix: 24 };
        let (own, others) = (on("br-ex", [192, 0, 2, 10]), on("br-ex", [169, 254, 0, 2]));
        let before = Before {
            addresses: vec![own.clone(), others.clone()],
            others: vec![others],
            leased: vec!["eno2".to_owned()],
            ..Before::default()
        };
        let same_boot = before.for_a_later_run(true);
        assert_eq!((same_boot.addresses, same_boot.leased.len()), (vec![own], 1));
        let later = before.for_a_later_run(false);
        assert_eq!((later.addresses.len(), later.leased.len()), (0, 0));
    }
}
