//! Links, addresses, default routes, neighbours and events over rtnetlink, which only this file
//! uses.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "the kernel's types are non-exhaustive upstream"
)]

/// Returns what the first attribute of one of these forms has.
macro_rules! first {
    ($attributes:expr, $($form:pat => $content:expr),+ $(,)?) => {
        $attributes.iter().find_map(|attribute| match attribute {
            $($form => Some($content),)+
            _ => None,
        })
    };
}

mod changes;
#[cfg(any(test, feature = "fuzzing"))]
mod dump;
mod kept_neighbours;
mod kept_routes;
mod links;
mod routes;
mod wire;

use std::{borrow::Cow, io::ErrorKind, net::IpAddr, sync::Arc};

use futures_util::{StreamExt as _, TryStreamExt as _};
use rtnetlink::{
    Handle, IpVersion, MulticastGroup, RouteMessageBuilder,
    packet_core::NetlinkMessage,
    packet_route::{
        AddressFamily, RouteNetlinkMessage,
        address::{
            AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage, AddressScope,
        },
        neighbour::{NeighbourFlags, NeighbourMessage, NeighbourState},
        route::{RouteFlags, RouteMessage},
    },
    sys::SocketAddr,
};
use thiserror::Error;
use tokio::sync::Mutex;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use self::dump::Dump;
pub(crate) use self::kept_neighbours::KeptNeighbour;
use self::kept_neighbours::destination;
pub(crate) use self::kept_routes::KeptRoute;
pub(crate) use self::routes::RouteAnswer;
use crate::model::{Address, Link, OnLink, Route, Scope};

/// A failed operation of the kernel.
#[derive(Debug, Error)]
pub(crate) enum NetlinkError {
    #[error("cannot open a netlink socket")]
    Open { source: std::io::Error },
    #[error("cannot {what}")]
    Request { what: Cow<'static, str>, source: rtnetlink::Error },
    #[error("netlink events ended")]
    EventsEnded,
}

/// What a request to the kernel comes to.
pub(crate) type Result<T = (), E = NetlinkError> = std::result::Result<T, E>;

fn cannot(what: impl Into<Cow<'static, str>>) -> impl FnOnce(rtnetlink::Error) -> NetlinkError {
    |source| NetlinkError::Request { what: what.into(), source }
}

/// An address with the kernel's own message, so that label, flags and lifetimes can be restored too.
#[derive(Clone, Debug)]
pub(crate) struct KeptAddress {
    pub(crate) address: Address,
    message: AddressMessage,
}

/// State of a neighbour entry, reduced to the needs of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbour {
    Answers,
    /// Something came from it, such as a router's advertisement, which answers nothing (RFC 4861, 7.3.1).
    Heard,
    Unknown,
    Failed,
}

/// A connection to the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Netlink {
    handle: Handle,
    /// The kernel serves one dump at a time on a socket, and answers EBUSY to a second one.
    turn: Arc<Mutex<()>>,
}

/// Changes of links, addresses, routes and neighbours, without their content: a waiter reads the
/// state anew.
pub(crate) struct Events {
    receiver:
        futures_channel::mpsc::UnboundedReceiver<(NetlinkMessage<RouteNetlinkMessage>, SocketAddr)>,
}

/// The groups of events: those of links and addresses, those of routes, and that of neighbours.
const GROUPS: [MulticastGroup; 6] = [
    MulticastGroup::Link,
    MulticastGroup::Ipv4Ifaddr,
    MulticastGroup::Ipv6Ifaddr,
    MulticastGroup::Ipv4Route,
    MulticastGroup::Ipv6Route,
    MulticastGroup::Neigh,
];

impl Events {
    pub(crate) fn subscribe() -> Result<Self> {
        Self::of(&GROUPS)
    }

    /// Subscribes to addresses, and to links, which come and go with them.
    pub(crate) fn addresses() -> Result<Self> {
        Self::of(&GROUPS[..3])
    }

    pub(crate) fn links_addresses_and_routes() -> Result<Self> {
        Self::of(&GROUPS[..5])
    }

    fn of(groups: &[MulticastGroup]) -> Result<Self> {
        let (connection, _handle, receiver) = rtnetlink::new_multicast_connection(groups)
            .map_err(|source| NetlinkError::Open { source })?;
        tokio::spawn(connection);
        Ok(Self { receiver })
    }

    /// Returns at the next change; queued changes count as one.
    pub(crate) async fn changed(&mut self) -> Result {
        if self.receiver.next().await.is_none() {
            return Err(NetlinkError::EventsEnded);
        }
        while let Ok(_more) = self.receiver.try_recv() {}
        Ok(())
    }
}

impl Netlink {
    pub(crate) fn connect() -> Result<Self> {
        let (connection, handle, _) =
            rtnetlink::new_connection().map_err(|source| NetlinkError::Open { source })?;
        tokio::spawn(connection);
        Ok(Self { handle, turn: Arc::default() })
    }

    pub(crate) async fn links(&self) -> Result<Vec<Link>> {
        let _turn = self.turn.lock().await;
        let messages = self.handle.link().get().execute().try_collect::<Vec<_>>().await;
        Ok(links::links(messages.map_err(cannot("list links"))?))
    }

    /// All addresses, of both families.
    pub(crate) async fn addresses(&self) -> Result<Vec<Address>> {
        Ok(self.kept_addresses().await?.into_iter().map(|kept| kept.address).collect())
    }

    /// All addresses, each with what the kernel needs to have it back.
    pub(crate) async fn kept_addresses(&self) -> Result<Vec<KeptAddress>> {
        let links = self.links().await?;
        self.kept_addresses_of(&links).await
    }

    pub(crate) async fn addresses_of(&self, links: &[Link]) -> Result<Vec<Address>> {
        Ok(self.kept_addresses_of(links).await?.into_iter().map(|kept| kept.address).collect())
    }

    pub(crate) async fn kept_addresses_of(&self, links: &[Link]) -> Result<Vec<KeptAddress>> {
        let _turn = self.turn.lock().await;
        let messages = self.handle.address().get().execute().try_collect::<Vec<_>>().await;
        let messages = messages.map_err(cannot("list addresses"))?;
        Ok(messages.into_iter().filter_map(|m| address(m, links)).collect())
    }

    /// Restores an address with label, scope, flags and lifetimes.
    pub(crate) async fn put_back(&self, kept: &KeptAddress) -> Result {
        let KeptAddress { address, message } = kept;
        let Some(link) = self.links().await?.into_iter().find(|l| l.name == address.on.link) else {
            // The interface was removed on purpose, and its addresses with it.
            return Ok(());
        };
        let mut message = message.clone();
        message.header.index = link.index;
        let mut request =
            self.handle.address().add(link.index, address.on.ip, address.on.prefix).replace();
        *request.message_mut() = message;
        request.execute().await.map_err(cannot(format!("restore the address {}", address.on)))
    }

    /// Default routes of the main table, one for each next hop.
    pub(crate) async fn default_routes(&self) -> Result<Vec<Route>> {
        let links = self.links().await?;
        self.default_routes_of(&links).await
    }

    /// Default routes of the main table by these links.
    pub(crate) async fn default_routes_of(&self, links: &[Link]) -> Result<Vec<Route>> {
        let mut found = Vec::new();
        for route in self.routes().await? {
            found.extend(routes::default_routes(&route, links));
        }
        Ok(found)
    }

    /// Returns the way that the kernel gives packets to this address by one of these links; `None` if no route leads there.
    pub(crate) async fn way_to(&self, ip: IpAddr, links: &[Link]) -> Result<Option<RouteAnswer>> {
        let route = self.route_to(ip, RouteFlags::empty()).await?;
        Ok(route.and_then(|route| routes::way(&route, links)))
    }

    /// Returns the command that removes the route of packets to this address, if no configuration has it.
    pub(crate) async fn removal_of_added_route(
        &self,
        ip: IpAddr,
        links: &[Link],
    ) -> Result<Option<String>> {
        let route = self.route_to(ip, RouteFlags::FibMatch).await?;
        Ok(route.and_then(|route| routes::removal(&route, links)))
    }

    async fn route_to(&self, ip: IpAddr, flags: RouteFlags) -> Result<Option<RouteMessage>> {
        let query = routes::query(ip, flags);
        match self.handle.route().get(query).execute().try_next().await {
            Ok(route) => Ok(route),
            Err(rtnetlink::Error::NetlinkError(refusal)) if is_without_route(&refusal.to_io()) => {
                Ok(None)
            }
            Err(error) => Err(cannot(format!("ask for the route to {ip}"))(error)),
        }
    }

    /// The kernel's routes of both families.
    async fn routes(&self) -> Result<Vec<RouteMessage>> {
        let mut found = Vec::new();
        for version in [IpVersion::V4, IpVersion::V6] {
            let query = match version {
                IpVersion::V4 => RouteMessageBuilder::<std::net::Ipv4Addr>::new().build(),
                IpVersion::V6 => RouteMessageBuilder::<std::net::Ipv6Addr>::new().build(),
            };
            let _turn = self.turn.lock().await;
            let routes = self.handle.route().get(query).execute().try_collect::<Vec<_>>().await;
            found.extend(routes.map_err(cannot("list routes"))?);
        }
        Ok(found)
    }

    /// Makes the kernel resolve a neighbour anew. An old entry proves nothing, so it is deleted; one that is being resolved is not
    /// old, and has the first datagrams of other probes.
    pub(crate) async fn solicit(&self, index: u32, ip: IpAddr) -> Result {
        if let Some(entry) = self.neighbour_entry(index, ip).await?
            && entry.header.state != NeighbourState::Incomplete
        {
            // The entry may have expired meanwhile.
            let _ = self.handle.neighbours().del(entry).execute().await;
        }
        self.handle
            .neighbours()
            .add(index, ip)
            .state(NeighbourState::None)
            .flags(NeighbourFlags::Use)
            .replace()
            .execute()
            .await
            .map_err(cannot(format!("ask for the neighbour {ip}")))
    }

    /// The state of the kernel's neighbour entry.
    pub(crate) async fn neighbour(&self, index: u32, ip: IpAddr) -> Result<Neighbour> {
        let entry = self.neighbour_entry(index, ip).await?;
        Ok(match entry.map(|e| e.header.state) {
            Some(NeighbourState::Reachable | NeighbourState::Permanent | NeighbourState::Noarp) => {
                Neighbour::Answers
            }
            Some(NeighbourState::Stale | NeighbourState::Delay | NeighbourState::Probe) => {
                Neighbour::Heard
            }
            Some(NeighbourState::Failed) => Neighbour::Failed,
            _ => Neighbour::Unknown,
        })
    }

    /// Permanent neighbours of those of `links` with a name in `over`, of both families.
    pub(crate) async fn permanent_neighbours(
        &self,
        links: &[Link],
        over: &[String],
    ) -> Result<Vec<KeptNeighbour>> {
        let entries = self.neighbour_entries(AddressFamily::Unspec).await?;
        Ok(entries.iter().filter_map(|entry| kept_neighbours::kept(entry, links, over)).collect())
    }

    /// Restores a neighbour on the link of that name, if there is one by now.
    pub(crate) async fn put_back_neighbour(&self, kept: &KeptNeighbour, links: &[Link]) -> Result {
        let Some(link) = links.iter().find(|link| link.name == kept.link) else { return Ok(()) };
        let request = self.handle.neighbours().add(link.index, kept.ip);
        let done = request.link_layer_address(&kept.address).replace().execute().await;
        done.map_err(cannot(format!("restore the neighbour {}", kept.ip)))
    }

    async fn neighbour_entry(&self, index: u32, ip: IpAddr) -> Result<Option<NeighbourMessage>> {
        let family = if ip.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
        let mut entries = self.neighbour_entries(family).await?.into_iter();
        Ok(entries.find(|entry| entry.header.ifindex == index && destination(entry) == Some(ip)))
    }

    async fn neighbour_entries(&self, family: AddressFamily) -> Result<Vec<NeighbourMessage>> {
        let _turn = self.turn.lock().await;
        let entries = self.handle.neighbours().get().set_address_family(family).execute();
        entries.try_collect().await.map_err(cannot("list neighbours"))
    }
}

/// Returns whether the kernel has no route, or one of the types unreachable, blackhole (EINVAL) or prohibit (EACCES).
fn is_without_route(error: &std::io::Error) -> bool {
    use ErrorKind::{HostUnreachable, InvalidInput, NetworkUnreachable, PermissionDenied};
    matches!(error.kind(), NetworkUnreachable | HostUnreachable | InvalidInput | PermissionDenied)
}

fn address(message: AddressMessage, links: &[Link]) -> Option<KeptAddress> {
    let header = &message.header;
    let link = links.iter().find(|l| l.index == header.index)?.name.clone();
    let mut ip = None;
    let mut flags = AddressFlags::from_bits_retain(u32::from(header.flags.bits()));
    for attribute in &message.attributes {
        match attribute {
            // For IPv4 the local address belongs to the node; the other may be the peer's.
            AddressAttribute::Local(local) => ip = Some(*local),
            AddressAttribute::Address(address) => ip = ip.or(Some(*address)),
            AddressAttribute::Flags(all) => flags = *all,
            _ => {}
        }
    }
    let prefix = header.prefix_len;
    let address = Address {
        on: OnLink { link, ip: ip?, prefix },
        tentative: flags.contains(AddressFlags::Tentative),
        duplicate: flags.contains(AddressFlags::Dadfailed),
        dynamic: !header.flags.contains(AddressHeaderFlags::Permanent),
        scope: scope(header.scope),
    };
    Some(KeptAddress { address, message })
}

fn scope(scope: AddressScope) -> Scope {
    match scope {
        AddressScope::Universe => Scope::Global,
        AddressScope::Link => Scope::Link,
        AddressScope::Host => Scope::Host,
        _ => Scope::Site,
    }
}
