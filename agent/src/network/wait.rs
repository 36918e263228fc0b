//! The wait for events: a look at the node, and another one after each event, until the deadline.

use std::time::Duration;

use futures_util::future::OptionFuture;
use tokio::time::{Instant, sleep_until};

use super::Result;
use crate::client::{
    dbus::{Bus, Signals},
    netlink::Events,
};

/// Events of the kernel and of NetworkManager. Subscribe before the first look: a change in between
/// becomes an event.
pub(super) struct Changes {
    kernel: Option<Events>,
    manager: Option<Signals>,
    at_least: Option<Duration>,
}

impl Changes {
    /// Links, addresses, routes and neighbours.
    pub(super) fn of_kernel() -> Result<Self> {
        Ok(Self { kernel: Some(Events::subscribe()?), manager: None, at_least: None })
    }

    /// Signals of NetworkManager.
    pub(super) async fn of_manager(bus: &Bus) -> Result<Self> {
        Ok(Self { kernel: None, manager: Some(bus.signals().await?), at_least: None })
    }

    pub(super) async fn of_both(bus: &Bus) -> Result<Self> {
        Ok(Self { manager: Some(bus.signals().await?), ..Self::of_kernel()? })
    }

    /// A look also after this time without an event: not everything that is awaited has one.
    pub(super) fn at_least_every(self, time: Duration) -> Self {
        Self { at_least: Some(time), ..self }
    }

    /// Returns at the next event, or at `deadline`.
    pub(super) async fn next(&mut self, deadline: Option<Instant>) -> Result {
        let again = self.at_least.map(|time| Instant::now() + time);
        let again = again.into_iter().chain(deadline).min();
        let kernel = OptionFuture::from(self.kernel.as_mut().map(Events::changed));
        let manager = OptionFuture::from(self.manager.as_mut().map(Signals::changed));
        let time = OptionFuture::from(again.map(sleep_until));
        tokio::select! {
            Some(changed) = kernel => changed?,
            Some(changed) = manager => changed?,
            Some(()) = time => {}
        }
        Ok(())
    }
}

/// Looks until `look` returns `Ok`, after each event and at the deadline for the last time; then with
/// its last `Err`, the reason to wait. An outer error ends the wait.
pub(super) async fn wait_until<T, L>(
    changes: &mut Changes,
    deadline: Instant,
    mut look: impl AsyncFnMut() -> Result<Result<T, L>>,
) -> Result<Result<T, L>> {
    loop {
        let is_last = Instant::now() >= deadline;
        match look().await? {
            Err(_) if !is_last => changes.next(Some(deadline)).await?,
            seen => return Ok(seen),
        }
    }
}

/// Looks until `look` returns `Some`, after each event; the caller has the bound.
pub(super) async fn wait_for<T>(
    changes: &mut Changes,
    mut look: impl AsyncFnMut() -> Result<Option<T>>,
) -> Result<T> {
    loop {
        match look().await? {
            Some(seen) => return Ok(seen),
            None => changes.next(None).await?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkError;

    #[tokio::test(start_paused = true)]
    async fn the_last_look_is_at_the_deadline_and_its_reason_is_told() {
        let second = Duration::from_secs(1);
        let silent = || Changes { kernel: None, manager: None, at_least: None };
        for (at_least, looks) in [(None, 2), (Some(second), 4), (Some(second * 2), 3)] {
            let (mut changes, start) = (Changes { at_least, ..silent() }, Instant::now());
            let mut count = 0;
            let waited = wait_until(&mut changes, start + second * 3, async || {
                count += 1;
                Ok(Err::<(), _>(count))
            });
            assert!(matches!(waited.await, Ok(Err(last)) if last == looks), "{at_least:?}");
            assert_eq!((count, start.elapsed()), (looks, second * 3));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_that_succeeds_or_fails_ends_the_wait() {
        let mut changes = Changes { kernel: None, manager: None, at_least: None };
        let seen = wait_for(&mut changes, async || Ok(Some(7))).await;
        assert!(matches!(seen, Ok(7)));
        let failed = async || Err::<Result<(), ()>, _>(NetworkError::NoProfile);
        assert!(wait_until(&mut changes, Instant::now(), failed).await.is_err());
    }
}
