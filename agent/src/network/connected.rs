//! Cards with a carrier, addresses and default routes: a pause between two attempts ends when one comes. Kernel only, no D-Bus.

use std::{collections::BTreeSet, net::IpAddr};

use crate::{
    client::netlink::{Events, Netlink, NetlinkError},
    model::Link,
};

/// Cards with a carrier, addresses and default routes of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Connected {
    /// Links of bridges, bonds and the like come and go with an attempt itself.
    cards: BTreeSet<String>,
    /// Addresses that others may reach, each with its link.
    addresses: BTreeSet<(String, IpAddr)>,
    routes: BTreeSet<(String, IpAddr)>,
}

impl Connected {
    pub(crate) async fn now() -> Result<Self, NetlinkError> {
        Self::look(&Netlink::connect()?).await
    }

    async fn look(netlink: &Netlink) -> Result<Self, NetlinkError> {
        let links = netlink.links().await?;
        let addresses = netlink.addresses_of(&links).await?.into_iter();
        let usable = addresses
            .filter(|address| address.is_global() && !address.tentative && !address.duplicate);
        let routes = netlink.default_routes_of(&links).await?.into_iter();
        Ok(Self {
            addresses: usable.map(|address| (address.on.link, address.on.ip)).collect(),
            cards: links.into_iter().filter(is_card).map(|link| link.name).collect(),
            routes: routes.map(|route| (route.link, route.gateway)).collect(),
        })
    }

    /// These, with the addresses and default routes of `now`: a roll back has brought them, and they are no other network.
    pub(crate) fn with_network_of(mut self, now: &Self) -> Self {
        self.addresses.extend(now.addresses.iter().cloned());
        self.routes.extend(now.routes.iter().cloned());
        self
    }

    /// Returns when there is a card, an address or a default route that is not among these.
    pub(crate) async fn has_grown(&self) -> Result<(), NetlinkError> {
        let netlink = Netlink::connect()?;
        let mut events = Events::links_addresses_and_routes()?;
        while !Self::look(&netlink).await?.is_more_than(self) {
            events.changed().await?;
        }
        Ok(())
    }

    /// Whether there is a card, an address or a default route that is not among the earlier ones.
    pub(crate) fn is_more_than(&self, earlier: &Self) -> bool {
        !self.cards.is_subset(&earlier.cards)
            || !self.addresses.is_subset(&earlier.addresses)
            || !self.routes.is_subset(&earlier.routes)
    }
}

/// A card with a carrier. One end of a container's cable is in a bridge, under a new name at each start.
fn is_card(link: &Link) -> bool {
    let is_of_a_container = link.kind.as_deref() == Some("veth") && link.controller.is_some();
    link.physical && link.has_carrier && !is_of_a_container
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connected(cards: &[&str], routes: &[(&str, u8)]) -> Connected {
        let route = |(link, last): &(&str, u8)| ((*link).to_owned(), [192, 0, 2, *last].into());
        Connected {
            cards: cards.iter().map(|card| (*card).to_owned()).collect(),
            addresses: [("eno1".to_owned(), [192, 0, 2, 10].into())].into(),
            routes: routes.iter().map(route).collect(),
        }
    }

    #[test]
    fn the_cable_of_a_container_is_no_card() {
        let link = |kind: Option<&str>, controller: Option<&str>| Link {
            physical: true,
            has_carrier: true,
            kind: kind.map(str::to_owned),
            controller: controller.map(str::to_owned),
            ..Link::default()
        };
        assert!(is_card(&link(None, None)));
        assert!(is_card(&link(None, Some("bond0"))));
        assert!(is_card(&link(Some("veth"), None)));
        assert!(!is_card(&link(Some("veth"), Some("podman0"))));
    }

    #[test]
    fn what_a_roll_back_has_brought_is_known() {
        let earlier = Connected { addresses: [].into(), ..connected(&["eno1"], &[]) };
        let now = connected(&["eno1", "eno2"], &[("eno1", 1)]);
        let known = earlier.with_network_of(&now);
        assert!(now.is_more_than(&known), "a card is none of a roll back's");
        assert!(!connected(&["eno1"], &[("eno1", 1)]).is_more_than(&known));
        assert!(connected(&["eno1"], &[("eno1", 2)]).is_more_than(&known));
    }

    #[test]
    fn more_is_a_card_an_address_or_a_route_that_was_not_there() {
        let earlier = connected(&["eno1", "eno2"], &[("eno1", 1)]);
        for (now, is_more) in [
            (earlier.clone(), false),
            (connected(&[], &[]), false),
            (connected(&["eno1"], &[("eno1", 1)]), false),
            (Connected { addresses: [].into(), ..earlier.clone() }, false),
            (
                Connected {
                    addresses: [("eno2".to_owned(), [192, 0, 2, 10].into())].into(),
                    ..earlier.clone()
                },
                true,
            ),
            // In place of another one.
            (connected(&["eno3"], &[]), true),
            (connected(&["eno1", "eno2"], &[("eno1", 2)]), true),
            (connected(&["eno1", "eno2"], &[("eno2", 1), ("eno1", 1)]), true),
        ] {
            assert_eq!(now.is_more_than(&earlier), is_more, "{now:?}");
        }
    }
}
