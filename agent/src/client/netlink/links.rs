//! Network devices.

use crate::model::{Lacp, Layer, Link, Mac};
use nmstate::PciAddress;
use rtnetlink::packet_route::link::{
    InfoBondPort, InfoKind, InfoPortData, LacpState, LinkAttribute, LinkFlags, LinkInfo,
    LinkLayerType, LinkMessage, Prop, State,
};

pub(super) fn links(messages: Vec<LinkMessage>) -> Vec<Link> {
    let mut links = Vec::new();
    let mut controllers = Vec::new();
    for message in messages {
        controllers.push(controller(&message));
        links.push(link(message));
    }
    let names: Vec<Option<String>> = controllers
        .into_iter()
        .map(|index| {
            links.iter().find(|link| Some(link.index) == index).map(|link| link.name.clone())
        })
        .collect();
    for (link, name) in links.iter_mut().zip(names) {
        link.controller = name;
    }
    links
}

pub(super) fn controller(message: &LinkMessage) -> Option<u32> {
    first!(message.attributes, LinkAttribute::Controller(index) => *index)
}

fn link(message: LinkMessage) -> Link {
    let mut link = Link { index: message.header.index, ..Link::default() };
    let mut kind = None;
    let mut is_up = false;
    for attribute in message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => link.name = name,
            LinkAttribute::Address(mac) => link.mac = Mac::of_ethernet(&mac),
            LinkAttribute::PermAddress(mac) => link.permanent_mac = Mac::of_ethernet(&mac),
            LinkAttribute::ParentDevName(name) => {
                // Another bus has other names.
                let address = PciAddress::try_from(name.as_str()).ok();
                link.pci_address = address.map(|address| address.to_string());
            }
            LinkAttribute::Mtu(mtu) => link.mtu = Some(mtu),
            // Without a carrier to report, the kernel says "unknown".
            LinkAttribute::OperState(state) => is_up = matches!(state, State::Up | State::Unknown),
            LinkAttribute::PropList(props) => {
                link.alt_names.extend(props.into_iter().filter_map(|p| match p {
                    Prop::AltIfName(name) => Some(name),
                    _ => None,
                }));
            }
            LinkAttribute::LinkInfo(infos) => {
                for info in infos {
                    match info {
                        LinkInfo::Kind(found) => kind = Some(found),
                        LinkInfo::PortData(InfoPortData::BondPort(port)) => link.lacp = lacp(&port),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    let header = &message.header;
    link.is_set_up = header.flags.contains(LinkFlags::Up);
    link.has_carrier = is_up && link.is_set_up;
    link.layer = layer(header.link_layer_type);
    link.physical = header.link_layer_type == LinkLayerType::Ether
        && !header.flags.contains(LinkFlags::Loopback)
        && matches!(kind, None | Some(InfoKind::Veth));
    link.kind = kind.map(|kind| kind.to_string());
    link
}

fn layer(kind: LinkLayerType) -> Layer {
    match kind {
        LinkLayerType::Ether => Layer::Ethernet,
        LinkLayerType::Infiniband => Layer::Infiniband,
        LinkLayerType::Loopback => Layer::Loopback,
        _ => Layer::Other,
    }
}

/// A port of a bond in another mode has no aggregator, or 0.
fn lacp(port: &[InfoBondPort]) -> Option<Lacp> {
    let forwards =
        |state: &LacpState| state.contains(LacpState::COLLECTING | LacpState::DISTRIBUTING);
    let mut has_aggregator = false;
    let mut states = Vec::new();
    for attribute in port {
        match attribute {
            InfoBondPort::AdAggregatorId(id) => has_aggregator = *id != 0,
            InfoBondPort::AdActorOperPortState(state)
            | InfoBondPort::AdPartnerOperPortState(state) => states.push(forwards(state)),
            _ => {}
        }
    }
    let is_settled = states.len() == 2 && states.iter().all(|forwards| *forwards);
    has_aggregator.then_some(if is_settled { Lacp::Settled } else { Lacp::Settling })
}
