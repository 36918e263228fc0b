//! Shared connections of the real network.

use std::time::Duration;

use nix::time::ClockId;

use super::Result;
use crate::{
    client::{
        dbus::{Bus, Deadline},
        netlink::Netlink,
    },
    model::{Before, Checkpoint},
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
    pub(super) async fn connect(paths: &'a Paths, wait: &'a Wait) -> Result<Self> {
        Ok(Self { paths, wait, bus: Bus::connect().await?, netlink: Netlink::connect()? })
    }

    /// Checkpoints created after the snapshot with the transaction's timeout, renewed or not: the
    /// agent's own and nmstate's, whose path nmstate does not return. NetworkManager does not name a
    /// checkpoint's owner, but other programs hardly use such a timeout.
    pub(super) async fn own_checkpoints(&self, before: &Before) -> Result<Vec<Checkpoint>> {
        let mut own = Vec::new();
        for checkpoint in self.bus.checkpoints().await? {
            if before.checkpoints.contains(&checkpoint) {
                continue;
            }
            match self.bus.deadline(&checkpoint).await? {
                Some(deadline) if is_own(deadline, boot_time(), before.checkpoint_seconds) => {
                    own.push(checkpoint);
                }
                Some(_) => {
                    tracing::info!(?checkpoint, "leaving another program's checkpoint alone");
                }
                None => {}
            }
        }
        Ok(own)
    }
}

/// Whether a checkpoint was made with this timeout. nmstate renews it while it applies, and
/// NetworkManager then adds the time since its creation, rounded to a second.
fn is_own(deadline: Deadline, now: Duration, seconds: u32) -> bool {
    let age = now.saturating_sub(deadline.created).as_secs() + 1;
    let latest = u64::from(seconds) + age;
    (u64::from(seconds)..=latest).contains(&u64::from(deadline.seconds))
}

/// Returns the time of this boot, by the clock of checkpoints. It exists on every Linux; without it only a checkpoint that was
/// never renewed would be the agent's.
pub(crate) fn boot_time() -> Duration {
    ClockId::CLOCK_BOOTTIME.now().map(Duration::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Deadline, Duration, is_own};

    #[test]
    fn a_renewed_checkpoint_is_still_the_agents() {
        let own = |seconds, age| {
            let created = Duration::from_millis(5_600);
            is_own(Deadline { created, seconds }, created + Duration::from_millis(age), 217)
        };
        assert!(own(217, 0), "never renewed");
        assert!(own(218, 600), "renewed after 0.6 s, which NetworkManager rounds");
        assert!(own(240, 90_000), "renewed after 23 s, and older now");
        assert!(!own(216, 90_000), "shorter than the agent's");
        assert!(!own(300, 10_000), "longer than any renewal could have made it");
        assert!(!own(0, 10_000), "without an end");
    }
}
