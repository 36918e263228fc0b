//! Shared connections of the real network.

use super::{Before, NetworkError};
use crate::{
    client::{
        dbus::{Bus, BusError, Checkpoint},
        netlink::Netlink,
    },
    paths::Paths,
    settings::Wait,
};

/// Connections to the bus and to the kernel, and the bounds of the waits for them.
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

    /// Checkpoints created after the snapshot with the transaction's timeout: the agent's own and
    /// nmstate's, whose path nmstate does not return. NetworkManager does not name a checkpoint's
    /// owner, but other programs hardly use this timeout.
    pub(super) async fn own_checkpoints(
        &self,
        before: &Before,
    ) -> Result<Vec<Checkpoint>, BusError> {
        let mut own = Vec::new();
        for checkpoint in self.bus.checkpoints().await? {
            if before.checkpoints.contains(&checkpoint) {
                continue;
            }
            match self.bus.timeout_of(&checkpoint).await? {
                Some(timeout) if timeout == before.checkpoint_seconds => own.push(checkpoint),
                Some(_) => {
                    tracing::info!(?checkpoint, "leaving another program's checkpoint alone");
                }
                None => {}
            }
        }
        Ok(own)
    }
}
