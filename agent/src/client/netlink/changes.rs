//! Changes of a link.

use rtnetlink::LinkUnspec;

use super::{Netlink, NetlinkError, cannot};
use crate::model::{Link, Mac};

impl Netlink {
    /// Has the card pass all multicast packets to the kernel.
    pub(crate) async fn receive_all_multicast(&self, link: &str) -> Result<(), NetlinkError> {
        let Some(found) = self.links().await?.into_iter().find(|card| card.name == link) else {
            return Ok(());
        };
        let change = LinkUnspec::new_with_index(found.index).allmulticast(true).build();
        let set = self.handle.link().set(change).execute().await;
        set.map_err(cannot(format!("have {link} receive all multicast packets")))
    }

    /// Sets a link's MTU.
    pub(crate) async fn set_mtu(&self, link: &Link, mtu: u32) -> Result<(), NetlinkError> {
        let change = LinkUnspec::new_with_index(link.index).mtu(mtu).build();
        let set = self.handle.link().set(change).execute().await;
        set.map_err(cannot(format!("set the MTU {mtu} of {}", link.name)))
    }

    /// Sets the MAC address of a link; a bond gives it to its ports.
    pub(crate) async fn set_mac(&self, link: &Link, mac: &Mac) -> Result<(), NetlinkError> {
        let change =
            LinkUnspec::new_with_index(link.index).address(mac.as_bytes().to_vec()).build();
        let set = self.handle.link().set(change).execute().await;
        set.map_err(cannot(format!("set the MAC address of {}", link.name)))
    }

    /// Sets a link up.
    pub(crate) async fn set_up(&self, link: &Link) -> Result<(), NetlinkError> {
        let change = LinkUnspec::new_with_index(link.index).up().build();
        let set = self.handle.link().set(change).execute().await;
        set.map_err(cannot(format!("set {} up", link.name)))
    }

    /// Removes a link.
    pub(crate) async fn remove(&self, link: &Link) -> Result<(), NetlinkError> {
        let removed = self.handle.link().del(link.index).execute().await;
        removed.map_err(cannot(format!("remove {}", link.name)))
    }
}
