//! Attempts and pauses of dayone.service and dayone-bridge.service, in one process: units ordered after them wait
//! during all attempts, on every version of systemd.

use std::{future::Future, time::Duration};

use nmgen::chain;
use tokio::sync::watch;

use super::{Ended, pauses, signals::Signals};
use crate::{
    document::changes::Inputs,
    error::{Error, Exit},
    network::connected::Connected,
    paths::Paths,
    transaction::stopped,
};

/// The lengths of pauses, which double, and what ends one early beside a change of a file.
pub(crate) struct Pace {
    first: Duration,
    longest: Duration,
    /// Whether a card or a default route that comes does.
    follows_network: bool,
}

/// For documents.
pub(crate) const DOCUMENT: Pace = Pace {
    first: Duration::from_secs(5),
    longest: Duration::from_secs(300),
    follows_network: false,
};
/// For the automatic bridge; configure-ovs.sh pauses 15 minutes.
pub(crate) const BRIDGE: Pace = Pace {
    first: Duration::from_secs(15),
    longest: Duration::from_secs(900),
    follows_network: true,
};

impl Pace {
    /// The pause after `failures` failures in a row, counted from 1; `None`: until an input
    /// changes, since the same input fails again.
    fn pause(&self, error: &Error, failures: u32) -> Option<Duration> {
        let hopeless = matches!(error, Error::GivenUp { .. }) || error.exit() == Exit::Input;
        if hopeless {
            return None;
        }
        Some(self.doubled(failures.saturating_sub(1)))
    }

    /// The part of a pause in which the network does not end it, after as many pauses in a row that
    /// it has ended: a link that flaps starts attempts at growing distances.
    fn hold(&self, ended: u32) -> Duration {
        match ended {
            0 => Duration::ZERO,
            _ => self.doubled(ended - 1),
        }
    }

    fn doubled(&self, times: u32) -> Duration {
        (self.first * 2_u32.pow(times.min(8))).min(self.longest)
    }

    /// The pause in words.
    fn describe(&self, pause: Option<Duration>) -> String {
        let network =
            if self.follows_network { ", when a card or a default route comes" } else { "" };
        let change = format!(
            "a change below /etc/nmstate or /etc/ovnk or of dayone.toml{network}, or SIGHUP"
        );
        match pause {
            Some(pause) => format!("the next attempt is in {} s, or at {change}", pause.as_secs()),
            None => format!("the next attempt is at {change}"),
        }
    }
}

/// Turns true on SIGTERM and SIGINT.
pub(crate) type Stop = watch::Receiver<bool>;

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

/// Returns when the boot may go on, or when it is stopped during a pause.
pub(crate) async fn repeat(
    paths: &Paths,
    retry: bool,
    pace: &Pace,
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
        pauses(paths, &error, &pace.describe(bound));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::digest::Digest;

    #[test]
    fn pauses_grow() {
        let pauses = |pace: &Pace| -> Vec<u64> {
            (1..=9)
                .filter_map(|failures| pace.pause(&Error::NoLastGood, failures))
                .map(|pause| pause.as_secs())
                .collect()
        };
        assert_eq!(pauses(&DOCUMENT), [5, 10, 20, 40, 80, 160, 300, 300, 300]);
        assert_eq!(pauses(&BRIDGE), [15, 30, 60, 120, 240, 480, 900, 900, 900]);
        assert_eq!(DOCUMENT.pause(&Error::NoLastGood, u32::MAX), Some(DOCUMENT.longest));
    }

    #[test]
    fn the_network_ends_pauses_at_growing_distances() {
        let holds: Vec<u64> = (0..9).map(|ended| BRIDGE.hold(ended).as_secs()).collect();
        assert_eq!(holds, [0, 15, 30, 60, 120, 240, 480, 900, 900]);
        assert_eq!(BRIDGE.hold(u32::MAX), BRIDGE.longest);
        // Never longer than the pause: each of them has ended after a failure.
        for failures in 1..20 {
            let pause = BRIDGE.pause(&Error::NoLastGood, failures);
            assert!(pause.is_some_and(|pause| BRIDGE.hold(failures - 1) <= pause));
        }
    }

    #[test]
    fn the_same_input_is_not_tried_again() {
        let digest = Digest::of(b"");
        let given_up = Error::GivenUp { digest, count: 3, last: String::new() };
        assert_eq!(DOCUMENT.pause(&given_up, 1), None);
        let refused = Error::Check(crate::document::check::CheckError::Refused(Vec::new()));
        assert_eq!(DOCUMENT.pause(&refused, 1), None);
    }
}
