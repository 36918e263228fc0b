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
    let address =
        first!(entry.attributes, NeighbourAttribute::LinkLayerAddress(bytes) => bytes.clone())?;
    let kept = KeptNeighbour { link: link.name.clone(), ip: destination(entry)?, address };
    over.contains(&kept.link).then_some(kept)
}

/// Returns the neighbour's address.
pub(super) fn destination(entry: &NeighbourMessage) -> Option<IpAddr> {
    first!(
        entry.attributes,
        NeighbourAttribute::Destination(NeighbourAddress::Inet(ip)) => (*ip).into(),
        NeighbourAttribute::Destination(NeighbourAddress::Inet6(ip)) => (*ip).into(),
    )
}
