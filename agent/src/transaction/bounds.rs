//! Running a phase: bounded, reported, with or without a stop by signals.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::{
    Transaction,
    failure::{PhaseError, Phased},
};
use crate::{durable::FileError, network::Network, status::phase::Phase};

/// Extra time for phases whose work has its own bounds, with more precise errors.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// Bound of the readiness phase; each of its waits has its own bound.
pub(super) const LONG: Duration = Duration::from_secs(600);

/// Returns at a stop signal.
pub(crate) async fn stopped(mut stop: watch::Receiver<bool>) {
    // Without a sender no stop can arrive.
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl<N: Network> Transaction<'_, N> {
    /// Runs a phase: bounded, stopped by signals.
    pub(super) async fn phase<T, E: Into<PhaseError>>(
        &self,
        phase: Phase,
        bound: Duration,
        work: impl Future<Output = Result<T, E>>,
    ) -> Phased<T> {
        let start = self.progress.enter(phase, bound);
        let result = tokio::select! {
            biased;
            () = stopped(self.stop.clone()) => Err(PhaseError::Stopped),
            result = bounded(bound, held(phase, work)) => result,
        };
        self.finish(phase, start, result)
    }

    /// Runs a phase of the roll back, which no signal stops: only systemd's SIGKILL ends it early.
    pub(super) async fn unstoppable<T, E: Into<PhaseError>>(
        &self,
        phase: Phase,
        bound: Duration,
        work: impl Future<Output = Result<T, E>>,
    ) -> Phased<T> {
        let start = self.progress.enter(phase, bound);
        let result = bounded(bound, held(phase, work)).await;
        self.finish(phase, start, result)
    }

    fn finish<T>(&self, phase: Phase, start: Instant, result: Result<T, PhaseError>) -> Phased<T> {
        self.progress.leave(phase, start, result.is_ok());
        result.map_err(|error| (phase, error))
    }

    /// Runs a phase that only writes files.
    pub(super) async fn step(
        &self,
        phase: Phase,
        work: impl FnOnce() -> Result<(), FileError>,
    ) -> Phased<()> {
        let start = self.progress.enter(phase, GRACE);
        let result = held(phase, async { work() }).await;
        self.finish(phase, start, result.map_err(PhaseError::File))
    }
}

async fn bounded<T, E: Into<PhaseError>>(
    bound: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, PhaseError> {
    match tokio::time::timeout(bound, work).await {
        Ok(result) => result.map_err(Into::into),
        Err(_) => Err(PhaseError::TimedOut(bound)),
    }
}

/// For the lab's fault injection, in debug builds alone: `DAYONE_HOLD_AT` names a phase that does its work and then
/// hangs, so that a test can kill the agent right there, until the file `DAYONE_HOLD_UNTIL` is
/// there; `DAYONE_BLOCK_AT` one that blocks its thread, and with it the runtime and every bound.
#[cfg(debug_assertions)]
async fn held<T>(phase: Phase, work: impl Future<Output = T>) -> T {
    let done = work.await;
    let name = serde_json::to_string(&phase).unwrap_or_default();
    let is_at = |variable| std::env::var(variable).is_ok_and(|at| name == format!("\"{at}\""));
    if is_at("DAYONE_HOLD_AT") {
        tracing::warn!(dayone_held = true, "held after {phase}");
        released().await;
    }
    if is_at("DAYONE_BLOCK_AT") {
        tracing::warn!(dayone_held = true, "blocked after {phase}");
        loop {
            std::thread::park();
        }
    }
    done
}

#[cfg(debug_assertions)]
async fn released() {
    let file = std::env::var_os("DAYONE_HOLD_UNTIL").map(std::path::PathBuf::from);
    while let Some((file, directory)) = file.as_ref().and_then(|file| Some((file, file.parent()?)))
        && let Ok(change) = crate::client::watch::Watch::on(&[directory])
    {
        // The watch is older than this look.
        if file.exists() {
            return;
        }
        if change.changed().await.is_err() {
            break;
        }
    }
    std::future::pending::<()>().await;
}

#[cfg(not(debug_assertions))]
async fn held<T>(_: Phase, work: impl Future<Output = T>) -> T {
    work.await
}
