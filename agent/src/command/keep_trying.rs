//! `dayone apply --keep-trying`: run by dayone.service. Units ordered after it wait during all
//! attempts, on every version of systemd.

use std::time::Duration;

use super::{
    attempt::{Ended, attempt},
    outcome, retry,
    signals::Signals,
};
use crate::{document::changes::Inputs, error::Error, paths::Paths, transaction::stopped};

/// The reason a pause ended.
#[derive(Debug, PartialEq, Eq)]
enum Woken {
    /// The pause is over.
    Time,
    /// A document or the settings changed.
    Change,
    /// SIGHUP.
    Asked,
    /// SIGTERM or SIGINT.
    Stopped,
}

/// Returns when the boot may go on, or when it is stopped during a pause.
pub(crate) async fn keep_trying(paths: &Paths, retry: bool) -> Result<(), Error> {
    let mut signals = Signals::listen()?;
    let mut forgive = retry;
    let mut failures = 0;
    loop {
        // Read before the attempt, so that a change during it counts.
        let inputs = Inputs::now(paths);
        let error = match attempt(paths, &signals.stop, forgive, true).await {
            Ended::Good | Ended::GoesOn(_) => return Ok(()),
            Ended::Failed(error) => error,
        };
        if *signals.stop.borrow() {
            return Err(error);
        }
        failures += 1;
        let bound = retry::pause(&error, failures);
        outcome::pauses(paths, &error, &retry::describe(bound));
        let woken = pause(paths, &inputs, bound, &mut signals).await?;
        tracing::info!(dayone_woken = ?woken, "the pause is over");
        if woken == Woken::Stopped {
            return Ok(());
        }
        forgive = woken == Woken::Asked;
        if woken != Woken::Time {
            failures = 0;
        }
    }
}

async fn pause(
    paths: &Paths,
    inputs: &Inputs,
    bound: Option<Duration>,
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
        () = time => Ok(Woken::Time),
    }
}
