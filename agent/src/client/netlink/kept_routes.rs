//! Routes of other programs, with the kernel's own message, so that they can be restored.

use rtnetlink::packet_route::route::{
    RouteAttribute, RouteFlags, RouteMessage, RouteNextHopFlags, RouteProtocol, RouteType,
};

use super::{Netlink, Result, cannot, routes::table};
use crate::model::Link;

/// OVN-Kubernetes copies the routes of a link with an egress address into the table of this number and the link's
/// (`CalculateRouteTableID`), each with its protocol.
const TABLES_OF_LINKS: u32 = 1000;

/// A route, and the names of the links that its message has by index.
#[derive(Clone, Debug)]
pub(crate) struct KeptRoute {
    links: Vec<(u32, String)>,
    message: RouteMessage,
}

impl KeptRoute {
    /// Whether all of its links are among these.
    pub(crate) fn is_over(&self, links: &[&str]) -> bool {
        self.links.iter().all(|(_, name)| links.contains(&name.as_str()))
    }
}

impl Netlink {
    /// Routes over those of `links` with a name in `over` that are neither NetworkManager's nor the kernel's own, of every table:
    /// those of FRR, of OVN-Kubernetes and of people.
    pub(crate) async fn routes_of_others(
        &self,
        links: &[Link],
        over: &[String],
    ) -> Result<Vec<KeptRoute>> {
        let kept = self.routes().await?.into_iter().filter_map(|route| kept(route, links, over));
        Ok(kept.collect())
    }

    /// Restores a route over the links of now; succeeds if it is there, or if one of its links is gone.
    pub(crate) async fn put_back_route(&self, kept: &KeptRoute, links: &[Link]) -> Result {
        let index = |before: u32| {
            let (_, name) = kept.links.iter().find(|(index, _)| *index == before)?;
            links.iter().find(|link| link.name == *name).map(|link| link.index)
        };
        let Some(message) = renumbered(&kept.message, index) else { return Ok(()) };
        match self.handle.route().add(message).execute().await {
            Err(rtnetlink::Error::NetlinkError(refusal))
                if refusal.raw_code() == -(nix::errno::Errno::EEXIST as i32) =>
            {
                Ok(())
            }
            done => done.map_err(cannot("restore a route of another program")),
        }
    }
}

fn kept(mut route: RouteMessage, links: &[Link], over: &[String]) -> Option<KeptRoute> {
    let others = !matches!(
        route.header.protocol,
        RouteProtocol::Kernel
            | RouteProtocol::Static
            | RouteProtocol::Dhcp
            | RouteProtocol::Ra
            | RouteProtocol::IcmpRedirect
    );
    if route.header.kind != RouteType::Unicast {
        return None;
    }
    let named = |index: u32| {
        links.iter().find(|link| link.index == index).map(|link| (index, link.name.clone()))
    };
    let used: Vec<(u32, String)> = indices(&route).into_iter().filter_map(named).collect();
    let is_copy = used.iter().any(|(index, _)| table(&route) == TABLES_OF_LINKS + index);
    if !(others || is_copy) || !used.iter().any(|(_, name)| over.contains(name)) {
        return None;
    }
    if !others {
        // The link may get another number, and the rule keeps the table: the next change would take it for NetworkManager's.
        route.header.protocol = RouteProtocol::Boot;
    }
    // The others are the kernel's account of the link.
    route.header.flags &= RouteFlags::Onlink;
    route.attributes.retain(|attribute| !matches!(attribute, RouteAttribute::CacheInfo(_)));
    for attribute in &mut route.attributes {
        if let RouteAttribute::MultiPath(hops) = attribute {
            for hop in hops {
                hop.flags &= RouteNextHopFlags::Onlink;
            }
        }
    }
    Some(KeptRoute { links: used, message: route })
}

fn indices(route: &RouteMessage) -> Vec<u32> {
    let mut found = Vec::new();
    for attribute in &route.attributes {
        match attribute {
            RouteAttribute::Oif(index) => found.push(*index),
            RouteAttribute::MultiPath(hops) => {
                found.extend(hops.iter().map(|hop| hop.interface_index));
            }
            _ => {}
        }
    }
    found
}

/// The message with the indices of now; `None` if a link is gone.
fn renumbered(route: &RouteMessage, index: impl Fn(u32) -> Option<u32>) -> Option<RouteMessage> {
    let mut route = route.clone();
    for attribute in &mut route.attributes {
        match attribute {
            RouteAttribute::Oif(oif) => *oif = index(*oif)?,
            RouteAttribute::MultiPath(hops) => {
                for hop in hops {
                    hop.interface_index = index(hop.interface_index)?;
                }
            }
            _ => {}
        }
    }
    Some(route)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The protocol of the route over link 6, `br-data`, that is kept from a change of that link.
    fn kept_as(protocol: RouteProtocol, table: u32) -> Option<RouteProtocol> {
        let mut route = RouteMessage::default();
        (route.header.kind, route.header.protocol) = (RouteType::Unicast, protocol);
        route.attributes = vec![RouteAttribute::Table(table), RouteAttribute::Oif(6)];
        let links = [Link { index: 6, name: "br-data".into(), ..Link::default() }];
        let kept = kept(route, &links, &["br-data".into()])?;
        Some(kept.message.header.protocol)
    }

    #[test]
    fn routes_of_others_are_kept_with_their_protocol() {
        for table in [254, 1006, 1009] {
            assert_eq!(kept_as(RouteProtocol::Other(85), table), Some(RouteProtocol::Other(85)));
        }
    }

    #[test]
    fn routes_of_the_kernel_and_of_networkmanager_are_kept_as_copies_alone() {
        for protocol in [RouteProtocol::Kernel, RouteProtocol::Static, RouteProtocol::Dhcp] {
            assert_eq!(kept_as(protocol, 254), None);
            assert_eq!(kept_as(protocol, 1009), None, "the table of another link");
            assert_eq!(kept_as(protocol, 1006), Some(RouteProtocol::Boot));
        }
    }
}
