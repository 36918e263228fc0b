//! Bonds, VLANs, next hops and neighbours, for the probes of the wire.

use std::net::IpAddr;

use futures_util::TryStreamExt as _;
use rtnetlink::packet_route::{
    AddressFamily,
    link::{
        BondAdInfo, BondLacpRate, BondMode, InfoBond, InfoBondPort, InfoData, InfoPortData,
        InfoVlan, LacpState, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, State,
    },
    neighbour::{NeighbourMessage, NeighbourState},
    route::{RouteAddress, RouteAttribute, RouteMessage},
};

use super::{Netlink, Result, cannot, kept_neighbours::destination, links::controller};
use crate::model::{Bond, BondPort, Mac, Neighbouring, Vlan};

impl Netlink {
    /// The kernel's bonds with their ports, and its VLANs.
    pub(crate) async fn bonds_and_vlans(&self) -> Result<(Vec<Bond>, Vec<Vlan>)> {
        let _turn = self.turn.lock().await;
        let links = self.handle.link().get().execute().try_collect().await;
        let links: Vec<LinkMessage> = links.map_err(cannot("list links"))?;
        Ok((bonds(&links), vlans(&links)))
    }

    /// Every gateway of a route in any table.
    pub(crate) async fn next_hops(&self) -> Result<Vec<Neighbouring>> {
        Ok(self.routes().await?.iter().filter_map(next_hop).collect())
    }

    /// Neighbours that the kernel has heard of.
    pub(crate) async fn neighbours(&self) -> Result<Vec<Neighbouring>> {
        let entries = self.neighbour_entries(AddressFamily::Unspec).await?;
        Ok(entries.iter().filter_map(neighbour).collect())
    }
}

fn neighbour(entry: &NeighbourMessage) -> Option<Neighbouring> {
    let is_of_a_host = matches!(
        entry.header.state,
        NeighbourState::Reachable
            | NeighbourState::Stale
            | NeighbourState::Delay
            | NeighbourState::Probe
    );
    let ip = destination(entry).filter(|_| is_of_a_host)?;
    Some(Neighbouring { index: entry.header.ifindex, ip })
}

fn next_hop(route: &RouteMessage) -> Option<Neighbouring> {
    let (mut ip, mut index) = (None, None);
    for attribute in &route.attributes {
        match attribute {
            RouteAttribute::Gateway(RouteAddress::Inet(it)) => ip = Some(IpAddr::V4(*it)),
            RouteAttribute::Gateway(RouteAddress::Inet6(it)) => ip = Some(IpAddr::V6(*it)),
            RouteAttribute::Oif(it) => index = Some(*it),
            _ => {}
        }
    }
    Some(Neighbouring { index: index?, ip: ip? })
}

fn name(link: &LinkMessage) -> String {
    let name = link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::IfName(name) => Some(name.clone()),
        _ => None,
    });
    name.unwrap_or_default()
}

fn infos(link: &LinkMessage) -> &[LinkInfo] {
    let infos = link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::LinkInfo(infos) => Some(infos.as_slice()),
        _ => None,
    });
    infos.unwrap_or_default()
}

fn vlans(links: &[LinkMessage]) -> Vec<Vlan> {
    let vlan = |link: &LinkMessage| {
        let id = infos(link).iter().find_map(|info| match info {
            LinkInfo::Data(InfoData::Vlan(data)) => {
                data.iter().find_map(|attribute| match attribute {
                    InfoVlan::Id(id) => Some(*id),
                    _ => None,
                })
            }
            _ => None,
        })?;
        let below = link.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::Link(index) => Some(*index),
            _ => None,
        });
        let base = links.iter().find(|link| Some(link.header.index) == below).map(name);
        Some(Vlan {
            index: link.header.index,
            name: name(link),
            id,
            base: base.unwrap_or_default(),
        })
    };
    links.iter().filter_map(vlan).collect()
}

fn bonds(links: &[LinkMessage]) -> Vec<Bond> {
    let bond = |link: &LinkMessage| {
        let data = infos(link).iter().find_map(|link_info| match link_info {
            LinkInfo::Data(InfoData::Bond(data)) => Some(data),
            _ => None,
        })?;
        let ports = links.iter().filter(|port| controller(port) == Some(link.header.index));
        Some(with_data(name(link), data, ports.map(port).collect()))
    };
    links.iter().filter_map(bond).collect()
}

fn with_data(name: String, data: &[InfoBond], ports: Vec<BondPort>) -> Bond {
    let mut bond = Bond { name, ports, ..Bond::default() };
    for attribute in data {
        match attribute {
            InfoBond::Mode(mode) => bond.is_lacp = *mode == BondMode::Ieee8023Ad,
            InfoBond::AdLacpRate(rate) => bond.is_fast = *rate == BondLacpRate::Fast,
            InfoBond::AdInfo(infos) => {
                for info in infos {
                    match info {
                        BondAdInfo::Aggregator(id) => bond.aggregator = Some(*id),
                        BondAdInfo::PartnerMac(mac) if *mac != [0; 6] => {
                            bond.partner = Mac::of_ethernet(mac);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    bond
}

fn port(link: &LinkMessage) -> BondPort {
    let is_up = link
        .attributes
        .iter()
        .any(|attribute| matches!(attribute, LinkAttribute::OperState(State::Up)));
    let mut port = BondPort {
        name: name(link),
        has_carrier: is_up && link.header.flags.contains(LinkFlags::Up),
        ..BondPort::default()
    };
    let data = infos(link).iter().find_map(|link_info| match link_info {
        LinkInfo::PortData(InfoPortData::BondPort(data)) => Some(data.as_slice()),
        _ => None,
    });
    let carries = |state: &LacpState| {
        state.contains(LacpState::SYNCHRONIZATION | LacpState::COLLECTING | LacpState::DISTRIBUTING)
    };
    let (mut own, mut partner) = (false, false);
    for attribute in data.unwrap_or_default() {
        match attribute {
            InfoBondPort::AdAggregatorId(id) => port.aggregator = Some(*id).filter(|id| *id != 0),
            InfoBondPort::AdActorOperPortState(state) => {
                port.is_alone = state.intersects(LacpState::DEFAULTED | LacpState::EXPIRED);
                own = carries(state);
            }
            InfoBondPort::AdPartnerOperPortState(state) => {
                port.partner_is_fast = state.contains(LacpState::LACP_TIMEOUT);
                partner = carries(state);
            }
            _ => {}
        }
    }
    port.carries = own && partner;
    port
}
