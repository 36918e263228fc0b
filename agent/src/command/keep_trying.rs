//! `--keep-trying`, for dayone.service and dayone-bridge.service. Units ordered after them wait
//! during all attempts, on every version of systemd.

use std::{future::Future, time::Duration};

use nmgen::chain;
use tokio::sync::watch;

use super::{
    attempt::{Ended, attempt},
    bridge, outcome, retry,
    signals::Signals,
};
use crate::{
    document::changes::Inputs, error::Error, network::connected::Connected, paths::Paths,
    transaction::stopped,
};

/// Turns true on SIGTERM and SIGINT.
type Stop = watch::Receiver<bool>;

/// The reason a pause ended.
#[derive(Debug, PartialEq, Eq)]
enum Woken {
    /// The pause is over.
    Time,
    /// A document or the settings changed.
    Change,
    /// A card or a default route came.
    Network,
    /// SIGHUP.
    Asked,
    /// SIGTERM or SIGINT.
    Stopped,
}

/// `dayone apply --keep-trying`.
pub(crate) async fn keep_applying(paths: &Paths, retry: bool) -> Result<(), Error> {
    let once = async |stop: &Stop, forgive| attempt(paths, stop, forgive, true).await;
    repeat(paths, retry, &retry::DOCUMENT, once).await
}

/// `dayone bridge --keep-trying`.
pub(crate) async fn keep_bridging(paths: &Paths) -> Result<(), Error> {
    let once = async |stop: &Stop, _| bridge::attempt(paths, stop, true).await;
    repeat(paths, false, &retry::BRIDGE, once).await
}

/// Returns when the boot may go on, or when it is stopped during a pause.
async fn repeat(
    paths: &Paths,
    retry: bool,
    pace: &retry::Pace,
    mut once: impl AsyncFnMut(&Stop, bool) -> Ended,
) -> Result<(), Error> {
    let mut signals = Signals::listen()?;
    let mut forgive = retry;
    let mut failures = 0;
    // Pauses in a row that the network has ended.
    let mut ended = 0;
    loop {
        // Read before the attempt, so that a change during it counts.
        let inputs = Inputs::now(paths);
        let connected = if pace.follows_network { connected_now().await } else { None };
        let error = match once(&signals.stop, forgive).await {
            Ended::Good | Ended::GoesOn(_) => return Ok(()),
            Ended::Failed(error) => error,
        };
        if *signals.stop.borrow() {
            return Err(error);
        }
        failures += 1;
        let bound = pace.pause(&error, failures);
        outcome::pauses(paths, &error, &pace.describe(bound));
        let grown = network_has_grown(connected, pace.hold(ended));
        let woken = pause(paths, &inputs, bound, grown, &mut signals).await?;
        tracing::info!(dayone_woken = ?woken, "the pause is over");
        if woken == Woken::Stopped {
            return Ok(());
        }
        forgive = woken == Woken::Asked;
        if matches!(woken, Woken::Change | Woken::Asked) {
            failures = 0;
        }
        ended = if woken == Woken::Network { ended + 1 } else { 0 };
    }
}

/// The network before an attempt.
async fn connected_now() -> Option<Connected> {
    let now = Connected::now().await;
    now.inspect_err(|error| tracing::warn!("no pause follows the network: {}", chain(error))).ok()
}

/// Returns when the network has more than before the attempt, but not during `hold`. If it cannot
/// be watched, the time ends the pause.
async fn network_has_grown(before: Option<Connected>, hold: Duration) {
    if let Some(before) = before {
        tokio::time::sleep(hold).await;
        match before.has_grown().await {
            Ok(()) => return,
            Err(error) => tracing::warn!("the pause has its whole length: {}", chain(&error)),
        }
    }
    std::future::pending::<()>().await;
}

async fn pause(
    paths: &Paths,
    inputs: &Inputs,
    bound: Option<Duration>,
    grown: impl Future<Output = ()>,
    signals: &mut Signals,
) -> Result<Woken, Error> {
    let time = async {
        match bound {
            Some(bound) => tokio::time::sleep(bound).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        () = stopped(signals.stop.clone()) => Ok(Woken::Stopped),
        () = signals.hangup() => Ok(Woken::Asked),
        changed = inputs.changed(paths) => Ok(changed.map(|()| Woken::Change)?),
        () = grown => Ok(Woken::Network),
        () = time => Ok(Woken::Time),
    }
}
