//! Permanent neighbours, which people and programs write, so that they can be restored: OVN-Kubernetes has those of addresses
//! that no machine answers for.

use std::net::IpAddr;

use rtnetlink::packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};

use crate::model::Link;

/// A permanent neighbour on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptNeighbour {
    /// The link's name.
    pub(crate) link: String,
    pub(super) ip: IpAddr,
    pub(super) address: Vec<u8>,
}

/// Returns the neighbour if it is permanent, on one of `links` with a name in `over`.
pub(super) fn kept(
    entry: &NeighbourMessage,
    links: &[Link],
    over: &[String],
) -> Option<KeptNeighbour> {
    if entry.header.state != NeighbourState::Permanent {
        return None;
    }
    let link = links.iter().find(|link| link.index == entry.header.ifindex)?;
    let (mut ip, mut address) = (None, None);
    for attribute in &entry.attributes {
        #[allow(clippy::wildcard_enum_match_arm, reason = "non-exhaustive upstream")]
        match attribute {
            NeighbourAttribute::Destination(NeighbourAddress::Inet(of)) => ip = Some((*of).into()),
            NeighbourAttribute::Destination(NeighbourAddress::Inet6(of)) => ip = Some((*of).into()),
            NeighbourAttribute::LinkLayerAddress(of) => address = Some(of.clone()),
            _ => {}
        }
    }
    let kept = KeptNeighbour { link: link.name.clone(), ip: ip?, address: address? };
    over.contains(&kept.link).then_some(kept)
}
