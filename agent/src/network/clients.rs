//! Connections that the real network shares.

use super::{Before, NetworkError};
use crate::{
    client::{
        dbus::{Bus, BusError, Checkpoint},
        netlink::Netlink,
    },
    paths::Paths,
    settings::Wait,
};

/// Connections to the bus and to the kernel, and the bounds of waiting for what is behind them.
pub(super) struct Clients<'a> {
    pub(super) paths: &'a Paths,
    pub(super) wait: &'a Wait,
    pub(super) bus: Bus,
    pub(super) netlink: Netlink,
}

impl<'a> Clients<'a> {
    /// Connects; neither NetworkManager nor OVSDB need be there yet.
    pub(super) async fn connect(paths: &'a Paths, wait: &'a Wait) -> Result<Self, NetworkError> {
        Ok(Self { paths, wait, bus: Bus::connect().await?, netlink: Netlink::connect()? })
    }

    /// Checkpoints that were not there before: the agent's own and nmstate's.
    pub(super) async fn own_checkpoints(
        &self,
        before: &Before,
    ) -> Result<Vec<Checkpoint>, BusError> {
        let mut all = self.bus.checkpoints().await?;
        all.retain(|c| !before.checkpoints.contains(c));
        Ok(all)
    }
}
