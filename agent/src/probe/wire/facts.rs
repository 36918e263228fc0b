//! The node's side of the wire, read once for all probes.

use std::net::IpAddr;

use crate::{
    client::netlink::{Netlink, NetlinkError},
    model::{Address, Bond, Link, Neighbouring, Route, Vlan},
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
        Ok(Self {
            links: netlink.links().await?,
            addresses: netlink.addresses().await?,
            defaults: netlink.default_routes().await?,
            next_hops: netlink.next_hops().await?,
            neighbours: netlink.neighbours().await?,
            bonds,
            vlans,
        })
    }

    pub(super) fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    /// The link that leads to this address: that of its own network, else that of the default route.
    pub(super) fn link_to(&self, ip: IpAddr) -> Option<&Link> {
        let near = self.addresses.iter().filter(|address| address.on.reaches(ip));
        let near = near.max_by_key(|it| it.on.prefix).map(|it| it.on.link.as_str());
        let of_family =
            self.defaults.iter().filter(|route| route.gateway.is_ipv4() == ip.is_ipv4());
        let far = of_family.min_by_key(|it| it.metric).map(|it| it.link.as_str());
        near.or(far).and_then(|name| self.link(name))
    }
}
