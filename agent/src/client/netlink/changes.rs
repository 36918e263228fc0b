//! Changes of a link.

use rtnetlink::LinkUnspec;

use super::{Netlink, Result, cannot};
use crate::model::{Link, Mac};

impl Netlink {
    /// Has the card pass all multicast packets to the kernel.
    pub(crate) async fn receive_all_multicast(&self, link: &str) -> Result {
        let Some(found) = self.links().await?.into_iter().find(|card| card.name == link) else {
            return Ok(());
        };
        let change = LinkUnspec::new_with_index(found.index).allmulticast(true).build();
        let set = self.handle.link().set(change).execute().await;
        set.map_err(cannot(format!("have {link} receive all multicast packets")))
    }

    pub(crate) async fn set_mtu(&self, link: &Link, mtu: u32) -> Result {
        let change = LinkUnspec::new_with_index(link.index).mtu(mtu).build();
        let set = self.handle.link().set(change).execute().await;
        set.map_err(cannot(format!("set the MTU {mtu} of {}", link.name)))
    }

    /// Sets the MAC address of a link; a bond gives it to its ports.
    pub(crate) async fn set_mac(&self, link: &Link, mac: &Mac) -> Result {
        let change =
            LinkUnspec::new_with_index(link.index).address(mac.as_bytes().to_vec()).build();
        let set = self.handle.link().set(change).execute().await;
        set.map_err(cannot(format!("set the MAC address of {}", link.name)))
    }

    pub(crate) async fn set_up(&self, link: &Link) -> Result {
        let change = LinkUnspec::new_with_index(link.index).up().build();
        let set = self.handle.link().set(change).execute().await;
        set.map_err(cannot(format!("set {} up", link.name)))
    }

    pub(crate) async fn remove(&self, link: &Link) -> Result {
        let removed = self.handle.link().del(link.index).execute().await;
        removed.map_err(cannot(format!("remove {}", link.name)))
    }
}
