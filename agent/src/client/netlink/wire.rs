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
    let ip = first!(
        route.attributes,
        RouteAttribute::Gateway(RouteAddress::Inet(ip)) => IpAddr::V4(*ip),
        RouteAttribute::Gateway(RouteAddress::Inet6(ip)) => IpAddr::V6(*ip),
    )?;
    let index = first!(route.attributes, RouteAttribute::Oif(index) => *index)?;
    Some(Neighbouring { index, ip })
}

fn name(link: &LinkMessage) -> String {
    first!(link.attributes, LinkAttribute::IfName(name) => name.clone()).unwrap_or_default()
}

fn infos(link: &LinkMessage) -> &[LinkInfo] {
    first!(link.attributes, LinkAttribute::LinkInfo(infos) => infos.as_slice()).unwrap_or_default()
}

fn vlans(links: &[LinkMessage]) -> Vec<Vlan> {
    let vlan = |link: &LinkMessage| {
        let data = first!(infos(link), LinkInfo::Data(InfoData::Vlan(data)) => data)?;
        let id = first!(data, InfoVlan::Id(id) => *id)?;
        let below = first!(link.attributes, LinkAttribute::Link(index) => *index);
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
        let data = first!(infos(link), LinkInfo::Data(InfoData::Bond(data)) => data)?;
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
    let data =
        first!(infos(link), LinkInfo::PortData(InfoPortData::BondPort(data)) => data.as_slice());
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
