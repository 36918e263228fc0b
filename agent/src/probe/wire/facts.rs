//! The node's side of the wire, read once for all probes.

use std::net::IpAddr;

use crate::{
    client::{
        netlink::{Netlink, NetlinkError},
        ovsdb::Ovsdb,
    },
    model::{Address, Bond, Link, Neighbouring, Oversized, Route, Vlan},
    paths::Paths,
};

#[derive(Default)]
pub(super) struct WireFacts {
    pub(super) links: Vec<Link>,
    pub(super) addresses: Vec<Address>,
    pub(super) defaults: Vec<Route>,
    pub(super) next_hops: Vec<Neighbouring>,
    pub(super) neighbours: Vec<Neighbouring>,
    pub(super) bonds: Vec<Bond>,
    pub(super) vlans: Vec<Vlan>,
    /// Interfaces that are larger than what carries them.
    pub(super) oversized: Vec<Oversized>,
}

impl WireFacts {
    pub(super) async fn read(netlink: &Netlink, paths: &Paths) -> Result<Self, NetlinkError> {
        let (mut bonds, vlans) = netlink.bonds_and_vlans().await?;
        for port in bonds.iter_mut().flat_map(|bond| &mut bond.ports) {
            let file = paths.under(&format!("/sys/class/net/{}/speed", port.name));
            // A card without a carrier says -1, or nothing.
            let text = std::fs::read_to_string(file).unwrap_or_default();
            port.speed = text.trim().parse().ok().filter(|speed| *speed != 0);
        }
        let links = netlink.links().await?;
        let oversized = Oversized::among(&links, &below(&links, paths).await);
        Ok(Self {
            links,
            addresses: netlink.addresses().await?,
            defaults: netlink.default_routes().await?,
            next_hops: netlink.next_hops().await?,
            neighbours: netlink.neighbours().await?,
            bonds,
            vlans,
            oversized,
        })
    }

    pub(super) fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    /// The link that leads to this address: that of its own network, else that of the default route.
    pub(super) fn link_to(&self, ip: IpAddr) -> Option<&Link> {
        let near = self.addresses.iter().filter(|address| address.on.reaches(ip));
        let near =
            near.max_by_key(|address| address.on.prefix).map(|address| address.on.link.as_str());
        let of_family =
            self.defaults.iter().filter(|route| route.gateway.is_ipv4() == ip.is_ipv4());
        let far = of_family.min_by_key(|route| route.metric).map(|route| route.link.as_str());
        near.or(far).and_then(|name| self.link(name))
    }
}

/// Pairs of a bridge's own interface and a port of it. The kernel keeps a VLAN at its base's MTU by itself.
async fn below(links: &[Link], paths: &Paths) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = links
        .iter()
        .filter_map(|port| Some((port.controller.clone()?, port.name.clone())))
        .filter(|(bridge, _)| {
            links.iter().any(|link| link.name == *bridge && link.kind.as_deref() == Some("bridge"))
        })
        .collect();
    let bridges = match Ovsdb::connect(&paths.ovsdb_socket()).await {
        Ok(mut ovsdb) => ovsdb.bridges().await.unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    for bridge in &bridges {
        let own = bridge.name.clone();
        pairs.extend(bridge.system_interfaces().map(|port| (own.clone(), port.to_owned())));
    }
    pairs
}
