//! Permanent neighbours, which people and programs write, so that they can be restored: OVN-Kubernetes has those of addresses that no
//! machine answers for.

use std::net::IpAddr;

use futures_util::TryStreamExt as _;
use rtnetlink::packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};

use super::{Netlink, Result, cannot};
use crate::model::Link;

/// A permanent neighbour on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptNeighbour {
    /// The link's name.
    pub(crate) link: String,
    ip: IpAddr,
    address: Vec<u8>,
}

impl Netlink {
    /// Permanent neighbours of those of `links` with a name in `over`, of both families.
    pub(crate) async fn permanent_neighbours(
        &self,
        links: &[Link],
        over: &[String],
    ) -> Result<Vec<KeptNeighbour>> {
        let _turn = self.turn.lock().await;
        let entries = self.handle.neighbours().get().execute().try_collect().await;
        let entries: Vec<NeighbourMessage> = entries.map_err(cannot("list neighbours"))?;
        Ok(entries.iter().filter_map(|entry| kept(entry, links, over)).collect())
    }

    /// Restores a neighbour on the link of that name, if there is one by now.
    pub(crate) async fn put_back_neighbour(&self, kept: &KeptNeighbour, links: &[Link]) -> Result {
        let Some(link) = links.iter().find(|link| link.name == kept.link) else { return Ok(()) };
        let request = self.handle.neighbours().add(link.index, kept.ip);
        let done = request.link_layer_address(&kept.address).replace().execute().await;
        done.map_err(cannot(format!("restore the neighbour {}", kept.ip)))
    }
}

fn kept(entry: &NeighbourMessage, links: &[Link], over: &[String]) -> Option<KeptNeighbour> {
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
