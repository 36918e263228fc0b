//! How a phase runs: bounded, told, stopped by signals or not.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use super::{
    Transaction,
    failure::{PhaseError, Phased},
};
use crate::{durable::FileError, network::Network, status::phase::Phase};

/// Phases whose work keeps its own, more telling bounds get this much on top.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// Readiness waits for several things, each with its own bound.
pub(super) const LONG: Duration = Duration::from_secs(600);

impl<N: Network> Transaction<'_, N> {
    /// Runs a phase: bounded, stopped by signals.
    pub(super) async fn phase<T, E: Into<PhaseError>>(
        &self,
        phase: Phase,
        bound: Duration,
        work: impl Future<Output = Result<T, E>>,
    ) -> Phased<T> {
        let mut stop = self.stop.clone();
        let stopped = async move {
            // A sender that is gone cannot stop anyone any more.
            if stop.wait_for(|stop| *stop).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let start = self.progress.enter(phase, bound);
        let result = tokio::select! {
            biased;
            () = stopped => Err(PhaseError::Stopped),
            result = bounded(bound, held(phase, work)) => result,
        };
        self.finish(phase, start, result)
    }

    /// Runs a phase of the way back, which no signal stops: systemd's kill is the only bound.
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

    /// A phase that only writes files.
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
        Err(_) => Err(PhaseError::TimedOut { seconds: bound.as_secs_f64() }),
    }
}

/// For the lab's fault injection: `DAYONE_HOLD_AT` names a phase that does its work and then
/// hangs, so that a test can kill the agent right there.
#[cfg(feature = "fault-injection")]
async fn held<T>(phase: Phase, work: impl Future<Output = T>) -> T {
    let done = work.await;
    let name = serde_json::to_string(&phase).unwrap_or_default();
    if std::env::var("DAYONE_HOLD_AT").is_ok_and(|at| name == format!("\"{at}\"")) {
        tracing::warn!(dayone_held = true, "held after {phase}");
        std::future::pending::<()>().await;
    }
    done
}

#[cfg(not(feature = "fault-injection"))]
async fn held<T>(_: Phase, work: impl Future<Output = T>) -> T {
    work.await
}
