//! The network that a later boot waits for: each address family with a default route through the
//! document's interfaces at commit. Kernel only, no D-Bus.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{NetworkError, Result, Say};
use crate::{
    client::netlink::{Events, Netlink, NetlinkError},
    model::{Active, Before, Family, Gateway, Link, LinkRef, Uplinks, Wants},
};

/// For a family that the network is to give beside another one: a router that was asked for an advertisement may let three
/// seconds pass since its last one (RFC 4861). Without it the record would be one of chance, and the next boot would not wait
/// for the family.
const OTHER_FAMILY: Duration = Duration::from_secs(5);

/// Between two looks at a node that goes on with its boot.
const BURST: Duration = Duration::from_secs(1);

/// The kernel's links, and those with a usable address or a default route of a family.
#[derive(Clone, Debug, Default)]
struct Kernel {
    links: Vec<Link>,
    addresses: Vec<(String, Family)>,
    routes: Vec<(String, Family, u32)>,
}

impl Kernel {
    /// With `tentative` addresses, while the kernel still detects duplicates.
    async fn look(netlink: &Netlink, tentative: bool) -> Result<Self, NetlinkError> {
        // One list for all three: a link that comes meanwhile is an event, and the next look has it.
        let links = netlink.links().await?;
        let addresses = netlink.addresses_of(&links).await?.into_iter();
        let usable =
            addresses.filter(|a| a.is_global() && (tentative || !a.tentative) && !a.duplicate);
        let routes = netlink.default_routes_of(&links).await?.into_iter();
        Ok(Self {
            addresses: usable.map(|a| (a.on.link, Family::of(a.on.ip))).collect(),
            routes: routes.map(|r| (r.link, r.family, r.metric)).collect(),
            links,
        })
    }

    /// Whether any of these links has both an address and a default route.
    fn is_usable(&self, family: Family, links: &[LinkRef]) -> bool {
        self.carriers(family, links).next().is_some()
    }

    /// The families that are usable, and those of the document's gateways: these were there when it was verified. Without them in
    /// the record, no later proof would look for an address that went since.
    fn families(&self, wants: &Wants, links: &[LinkRef]) -> Vec<Family> {
        let declared = Uplinks::declared(wants).families;
        let is_one = |family: &Family| self.is_usable(*family, links) || declared.contains(family);
        Family::ALL.into_iter().filter(is_one).collect()
    }

    /// The links with both an address and a default route.
    fn carriers(&self, family: Family, links: &[LinkRef]) -> impl Iterator<Item = &Link> {
        self.links.iter().filter(move |link| {
            links.iter().any(|wanted| link.is(wanted))
                && self.addresses.contains(&(link.name.clone(), family))
                && self.metric(family, link).is_some()
        })
    }

    /// The metric of a link's default route.
    fn metric(&self, family: Family, link: &Link) -> Option<u32> {
        let is_its = |(on, of, _): &&(String, Family, u32)| *on == link.name && *of == family;
        self.routes.iter().filter(is_its).map(|(_, _, metric)| *metric).min()
    }

    /// Links among these that have the preferred default route of a family.
    fn preferred(&self, links: &[LinkRef]) -> Vec<(Family, LinkRef)> {
        let of = |family: Family| {
            let metric = move |link: &&Link| self.metric(family, link);
            let lowest = self.carriers(family, links).filter_map(|link| metric(&link)).min();
            let carriers: Vec<&Link> =
                self.carriers(family, links).filter(|link| metric(link) == lowest).collect();
            let is_one = move |wanted: &&LinkRef| carriers.iter().any(|link| link.is(wanted));
            links.iter().filter(is_one).map(move |link| (family, link.clone()))
        };
        Family::ALL.into_iter().flat_map(of).collect()
    }

    /// Network cards below these links.
    fn cards(&self, wants: &Wants, links: &[LinkRef]) -> Vec<LinkRef> {
        let carriers = Family::ALL.into_iter().flat_map(|family| self.carriers(family, links));
        let stacks: Vec<&str> = carriers.flat_map(|link| wants.stack(&link.name)).collect();
        let is_below = |link: &&Link| stacks.contains(&link.name.as_str());
        let cards = self.links.iter().filter(|link| link.physical && is_below(link));
        cards
            .map(|link| match &link.permanent_mac {
                Some(mac) => LinkRef::Mac(mac.clone()),
                None => LinkRef::Name(link.name.clone()),
            })
            .collect()
    }
}

impl Uplinks {
    /// Uplinks from the document alone, for a node without a record: the families of its gateways.
    /// A document does not reveal whether a lease brings a default route.
    pub(crate) fn declared(wants: &Wants) -> Self {
        let has = |family| wants.gateways.iter().any(|g| Family::of(g.ip) == family);
        let families = Family::ALL.into_iter().filter(|family| has(*family)).collect();
        let addressable = Some(wants.addressable.clone());
        Self { families, links: links(wants), addressable, ..Self::default() }
    }

    /// Uplinks from the kernel's current state, with NetworkManager's `active` profiles on the same
    /// links.
    pub(crate) async fn seen(
        netlink: &Netlink,
        wants: &Wants,
        active: Vec<Active>,
    ) -> Result<Self> {
        let (links, addressable) = (links(wants), &wants.addressable);
        let leads = wants.may_lead();
        let deadline = Instant::now() + OTHER_FAMILY;
        let mut events = Events::subscribe()?;
        // An address whose detection of duplicates outlasts the commit is one that a later boot waits for.
        let mut kernel = Kernel::look(netlink, true).await?;
        while leads.iter().any(|(family, _)| !kernel.is_usable(*family, addressable))
            && let Ok(changed) = timeout_at(deadline, events.changed()).await
        {
            changed?;
            kernel = Kernel::look(netlink, true).await?;
        }
        let families = kernel.families(wants, addressable);
        // OVS bridges and ports are not links of the kernel.
        let named =
            |device: &String| wants.links.contains(device) || wants.bridge_ports.contains(device);
        let meant = |device: &String| {
            kernel
                .links
                .iter()
                .any(|l| l.name == *device && links.iter().any(|wanted| l.is(wanted)))
        };
        let profiles =
            active.into_iter().filter(|a| named(&a.device) || meant(&a.device)).collect();
        let cards = kernel.cards(wants, addressable);
        let (preferred, addressable) = (kernel.preferred(addressable), Some(addressable.clone()));
        Ok(Self { families, links, addressable, preferred, cards, profiles })
    }

    /// These uplinks with the families of the document's that the network gives and no record has, as soon as all of them are there
    /// or after `bound`; `None`: it gives none.
    pub(crate) async fn with_late_families(
        &self,
        netlink: &Netlink,
        wants: &Wants,
        bound: Duration,
    ) -> Result<Option<Self>> {
        let unknown = |family: &Family| !self.families.contains(family);
        let late: Vec<Family> =
            wants.may_lead().into_iter().map(|(family, _)| family).filter(unknown).collect();
        if late.is_empty() {
            return Ok(None);
        }
        let deadline = Instant::now() + bound;
        let mut events = Events::subscribe()?;
        loop {
            let kernel = Kernel::look(netlink, false).await?;
            let with = self.with_families(&kernel, &late);
            if late.iter().all(|family| with.families.contains(family)) {
                return Ok(Some(with));
            }
            match timeout_at(deadline, events.changed()).await {
                Ok(changed) => changed?,
                Err(_late) => return Ok((with != *self).then_some(with)),
            }
            // Pods start meanwhile, and each of their links is several events.
            tokio::time::sleep_until(deadline.min(Instant::now() + BURST)).await;
        }
    }

    /// These uplinks with those of the families that are usable on the links that carry the recorded ones: another card's router,
    /// such as a storage network's, is none of the node's way out.
    fn with_families(&self, kernel: &Kernel, families: &[Family]) -> Self {
        let carrying = self.proving();
        let mut with = self.clone();
        let usable = |family: &&Family| kernel.is_usable(**family, &carrying);
        with.families.extend(families.iter().filter(usable));
        with.families.sort_unstable();
        with.families.dedup();
        let is_one = |(family, _): &(Family, LinkRef)| families.contains(family);
        with.preferred.extend(kernel.preferred(&carrying).into_iter().filter(is_one));
        with
    }

    /// The families that are usable at the moment, on whatever link: a change of day two may have moved the route.
    pub(crate) async fn usable_families(&self, netlink: &Netlink) -> Result<Vec<Family>> {
        let kernel = Kernel::look(netlink, false).await?;
        let is_usable = |family: &Family| kernel.is_usable(*family, self.addressable());
        Ok(self.families.iter().copied().filter(is_usable).collect())
    }

    /// Whether each family is usable on the links that had its preferred route, so that nothing but a card may lack.
    pub(crate) async fn has_families(&self, netlink: &Netlink) -> Result<bool> {
        Ok(self.carries_all(&Kernel::look(netlink, false).await?))
    }

    fn carries_all(&self, kernel: &Kernel) -> bool {
        self.families.iter().all(|family| kernel.is_usable(*family, &self.preferred(*family)))
    }

    /// Returns when one of the families is usable; the caller has the bound.
    pub(crate) async fn wait_for_a_family(&self, netlink: &Netlink) -> Result {
        let mut events = Events::subscribe()?;
        while self.usable_families(netlink).await?.is_empty() {
            events.changed().await?;
        }
        Ok(())
    }

    /// Returns when the network has given a family to the document's uplink, where that asks for one; the caller has the bound.
    pub(crate) async fn wait_for_a_lease(netlink: &Netlink, wants: &Wants) -> Result {
        let mut events = Events::subscribe()?;
        loop {
            let kernel = Kernel::look(netlink, false).await?;
            let routes = netlink.default_routes_of(&kernel.links).await?.into_iter();
            let gateways = routes.map(|r| Gateway { link: Some(r.link), ip: r.gateway }).collect();
            let mut judged = wants.clone();
            judged.judge_dynamic(&Before { gateways, ..Before::default() });
            let leads = judged.leads();
            let is_given =
                |(family, _): &(Family, LinkRef)| kernel.is_usable(*family, &wants.addressable);
            if leads.is_empty() || leads.iter().any(is_given) {
                return Ok(());
            }
            events.changed().await?;
        }
    }

    /// Whether an interface that asks the network has an address of it; a lease may bring no default route.
    pub(crate) async fn has_a_lease(netlink: &Netlink, wants: &Wants) -> Result<bool> {
        let kernel = Kernel::look(netlink, false).await?;
        Ok(wants.leads().into_iter().any(|(family, link)| {
            let has_address =
                |interface: &Link| kernel.addresses.contains(&(interface.name.clone(), family));
            kernel.links.iter().any(|interface| interface.is(&link) && has_address(interface))
        }))
    }

    fn lacking(&self, kernel: &Kernel) -> Vec<String> {
        let lacks = self.families.iter().filter(|f| !kernel.is_usable(**f, &self.preferred(**f)));
        let mut lacks: Vec<String> =
            lacks.map(|family| format!("an {family} address with a default route")).collect();
        if self.lacks_cards(kernel) {
            let cards: Vec<String> = self.cards.iter().map(|card| format!("link {card}")).collect();
            lacks.push(cards.join(" or "));
        }
        lacks
    }

    /// One card of a bond is enough.
    fn lacks_cards(&self, kernel: &Kernel) -> bool {
        let is_there =
            |card: &LinkRef| kernel.links.iter().any(|link| link.physical && link.is(card));
        !self.cards.is_empty() && !self.cards.iter().any(is_there)
    }

    /// These uplinks with the cards that are below them now; `None` if a recorded one is there.
    pub(crate) async fn with_other_cards(
        &self,
        netlink: &Netlink,
        wants: &Wants,
    ) -> Result<Option<Self>> {
        let kernel = Kernel::look(netlink, false).await?;
        Ok(self.lacks_cards(&kernel).then(|| {
            let cards = kernel.cards(wants, self.addressable());
            Self { cards, ..self.clone() }
        }))
    }

    /// Returns when the kernel has all uplinks; fails `bound` after `start` with the missing ones. `say` gets
    /// the awaited ones once a second.
    pub(crate) async fn wait(
        &self,
        netlink: &Netlink,
        (start, bound): (Instant, Duration),
        say: Say<'_>,
    ) -> Result {
        let all = |kernel: &Kernel| self.lacking(kernel).is_empty();
        self.wait_until(netlink, (start, bound), say, all).await.map(|_| ())
    }

    /// [`Self::wait`] for the families alone: whether the cards are there too.
    pub(crate) async fn wait_for_families(
        &self,
        netlink: &Netlink,
        (start, bound): (Instant, Duration),
        say: Say<'_>,
    ) -> Result<bool> {
        let all = |kernel: &Kernel| self.carries_all(kernel);
        let kernel = self.wait_until(netlink, (start, bound), say, all).await?;
        Ok(!self.lacks_cards(&kernel))
    }

    async fn wait_until(
        &self,
        netlink: &Netlink,
        (start, bound): (Instant, Duration),
        say: Say<'_>,
        is_there: impl Fn(&Kernel) -> bool,
    ) -> Result<Kernel> {
        // Subscribe before the first read: a change in between becomes an event.
        let mut events = Events::subscribe()?;
        let mut tick = tokio::time::interval(Duration::from_secs(1));
        loop {
            let kernel = Kernel::look(netlink, false).await?;
            if is_there(&kernel) {
                return Ok(kernel);
            }
            let what = self.lacking(&kernel).join(" and ");
            loop {
                tokio::select! {
                    biased;
                    // Events without end do not lengthen the wait.
                    changed = events.changed(), if start.elapsed() < bound => {
                        changed?;
                        break;
                    }
                    _ = tick.tick() => {}
                }
                let waited = start.elapsed();
                if waited >= bound {
                    return Err(NetworkError::NotReady { what, bound });
                }
                let text = format!(
                    "waiting for {what} ({} s of {})",
                    waited.as_secs(),
                    bound.as_secs_f64()
                );
                say(&text, bound.saturating_sub(waited));
            }
        }
    }
}

/// The document's interfaces, by the names and the addresses of cards in the document.
fn links(wants: &Wants) -> Vec<LinkRef> {
    let by_address = wants.needed.iter().filter(|link| !matches!(link, LinkRef::Name(_))).cloned();
    let mut all: Vec<LinkRef> = wants.links.iter().cloned().map(LinkRef::Name).collect();
    all.dedup();
    all.extend(by_address);
    all
}

#[cfg(test)]
mod tests {
    use super::Kernel;
    use crate::model::{Family, Gateway, Link, LinkRef, Mac, Uplinks, Wants};

    fn link(name: &str, mac: &str) -> Link {
        Link { name: name.to_owned(), mac: Mac::parse(mac), ..Link::default() }
    }

    fn carried(on: &[(&str, Family)]) -> Vec<(String, Family)> {
        on.iter().map(|(name, family)| ((*name).to_owned(), *family)).collect()
    }

    fn kernel(addresses: &[(&str, Family)], routes: &[(&str, Family)]) -> Kernel {
        let links = vec![link("eno1", "52:54:00:00:00:01"), link("br-ex", "52:54:00:00:00:02")];
        let routes = carried(routes).into_iter().map(|(link, family)| (link, family, 48)).collect();
        Kernel { links, addresses: carried(addresses), routes }
    }

    fn uplinks(families: &[Family], links: &[LinkRef]) -> Uplinks {
        Uplinks { families: families.to_vec(), links: links.to_vec(), ..Uplinks::default() }
    }

    #[test]
    fn each_family_wants_an_address_and_a_route_on_one_of_the_links() {
        use Family::{Ipv4, Ipv6};
        let wanted = uplinks(&[Ipv4, Ipv6], &[LinkRef::Name("br-ex".to_owned())]);
        let both = [("br-ex", Ipv4), ("br-ex", Ipv6)];
        assert!(wanted.lacking(&kernel(&both, &both)).is_empty());
        let lacking = ["an IPv6 address with a default route"];
        assert_eq!(wanted.lacking(&kernel(&both, &both[..1])), lacking);
        assert_eq!(wanted.lacking(&kernel(&both[..1], &both)), lacking);
        let elsewhere = [("br-ex", Ipv4), ("eno1", Ipv6)];
        assert_eq!(wanted.lacking(&kernel(&elsewhere, &elsewhere)), lacking);
    }

    #[test]
    fn a_port_with_a_lease_is_no_network() {
        let names = |names: &[&str]| -> Vec<LinkRef> {
            names.iter().map(|name| LinkRef::Name((*name).to_owned())).collect()
        };
        // Nothing is known of a document that cannot be read.
        let all = uplinks(&[Family::Ipv4], &names(&["eno1", "br-ex"]));
        let on_the_card = kernel(&[("eno1", Family::Ipv4)], &[("eno1", Family::Ipv4)]);
        assert!(all.lacking(&on_the_card).is_empty());
        let known = Uplinks { addressable: Some(names(&["br-ex"])), ..all };
        assert_eq!(known.lacking(&on_the_card), ["an IPv4 address with a default route"]);
    }

    #[test]
    fn another_interface_of_the_document_does_not_stand_for_the_preferred_one() {
        use Family::{Ipv4, Ipv6};
        let links = ["br-ex", "eno1"].map(|name| LinkRef::Name(name.to_owned()));
        let both = [("br-ex", Ipv4), ("eno1", Ipv4), ("eno1", Ipv6)];
        let mut kernel = kernel(&both, &both);
        for (link, _, metric) in &mut kernel.routes {
            *metric = if link == "eno1" { 100 } else { 48 };
        }
        let preferred = kernel.preferred(&links);
        assert_eq!(preferred, [(Ipv4, links[0].clone()), (Ipv6, links[1].clone())]);
        let wanted = Uplinks { preferred, ..uplinks(&[Ipv4, Ipv6], &links) };
        assert!(wanted.lacking(&kernel).is_empty());
        assert_eq!(wanted.proving(), links);
        kernel.addresses.retain(|(link, _)| link != "br-ex");
        assert_eq!(wanted.lacking(&kernel), ["an IPv4 address with a default route"]);
        // Version 0.2 records no preferred one.
        assert!(uplinks(&[Ipv4, Ipv6], &links).lacking(&kernel).is_empty());
    }

    #[test]
    fn an_address_that_goes_after_the_verification_stays_in_the_record() {
        use Family::{Ipv4, Ipv6};
        let gateway = |ip: &str| Gateway { link: None, ip: ip.parse().expect("an address") };
        let links = [LinkRef::Name("br-ex".to_owned())];
        let wants = Wants { gateways: vec![gateway("192.0.2.1")], ..Wants::default() };
        assert_eq!(kernel(&[], &[]).families(&wants, &links), [Ipv4]);
        // One that the network gives counts where it is there.
        let router = [("br-ex", Ipv6)];
        assert_eq!(kernel(&router, &router).families(&wants, &links), [Ipv4, Ipv6]);
        assert!(kernel(&[], &[]).families(&Wants::default(), &links).is_empty());
    }

    #[test]
    fn a_family_that_comes_late_is_added_with_its_link() {
        use Family::{Ipv4, Ipv6};
        let links = ["br-ex", "eno1"].map(|name| LinkRef::Name(name.to_owned()));
        let preferred = vec![(Ipv4, links[0].clone())];
        let recorded = Uplinks { preferred, ..uplinks(&[Ipv4], &links) };
        let first = [("br-ex", Ipv4)];
        assert_eq!(recorded.with_families(&kernel(&first, &first), &[Ipv6]), recorded);
        let both = [("br-ex", Ipv4), ("br-ex", Ipv6)];
        let with = recorded.with_families(&kernel(&both, &both), &[Ipv6]);
        assert_eq!(with.families, [Ipv4, Ipv6]);
        assert_eq!(with.preferred, [(Ipv4, links[0].clone()), (Ipv6, links[0].clone())]);
        assert_eq!(with.lacking(&kernel(&first, &first)).len(), 1);
        let storage = [("br-ex", Ipv4), ("eno1", Ipv6)];
        assert_eq!(recorded.with_families(&kernel(&storage, &storage), &[Ipv6]), recorded);
    }

    #[test]
    fn a_lesser_link_carries_no_family() {
        let there = [("br-ex", Family::Ipv4), ("eno1", Family::Ipv4)];
        let names = ["br-ex", "eno1"].map(|name| LinkRef::Name(name.to_owned()));
        let mut wanted = uplinks(&[Family::Ipv4], &names);
        wanted.preferred = vec![(Family::Ipv4, names[0].clone())];
        assert!(wanted.carries_all(&kernel(&there, &there)));
        assert!(!wanted.carries_all(&kernel(&there[1..], &there[1..])));
    }

    #[test]
    fn a_link_is_found_by_its_mac_address() {
        let wanted = uplinks(
            &[Family::Ipv4],
            &[LinkRef::Mac(Mac::parse("52:54:00:00:00:01").expect("an address"))],
        );
        let there = [("eno1", Family::Ipv4)];
        let with_card = |on: &[(&str, Family)]| {
            let mut kernel = kernel(on, on);
            kernel.links[0].physical = true;
            // A VLAN of another profile has the card's address.
            kernel.links.push(link("eno1.200", "52:54:00:00:00:01"));
            kernel
        };
        assert!(wanted.lacking(&with_card(&there)).is_empty());
        assert_eq!(wanted.lacking(&with_card(&[])).len(), 1);
        assert_eq!(wanted.lacking(&with_card(&[("eno1.200", Family::Ipv4)])).len(), 1);
    }

    #[test]
    fn one_card_of_those_under_the_route_is_enough() {
        let there = [("br-ex", Family::Ipv4)];
        let mut kernel = kernel(&there, &there);
        for name in ["eno2", "eno3"] {
            let card = Link { physical: true, ..link(name, "52:54:00:00:00:03") };
            kernel.links.push(card);
        }
        let below = [
            ("br-ex", "bond0"),
            ("bond0", "br-ex"),
            ("bond0", "eno2"),
            ("bond0", "eno3"),
            ("storage0", "eno1"),
        ];
        let below = below.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let wants = Wants { below, ..Wants::default() };
        let links = [LinkRef::Name("br-ex".to_owned())];
        let cards = kernel.cards(&wants, &links);
        assert_eq!(cards, ["eno2", "eno3"].map(|name| LinkRef::Name(name.to_owned())));
        let wanted = Uplinks { cards, ..uplinks(&[Family::Ipv4], &links) };
        assert!(wanted.lacking(&kernel).is_empty());
        kernel.links.retain(|link| link.name != "eno2");
        assert!(wanted.lacking(&kernel).is_empty());
        kernel.links.retain(|link| link.name != "eno3");
        assert_eq!(wanted.lacking(&kernel), ["link eno2 or link eno3"]);
    }

    #[test]
    fn without_a_family_nothing_lacks() {
        assert!(uplinks(&[], &[]).lacking(&Kernel::default()).is_empty());
    }
}
