//! Ends the process when its runtime stands still: a call that blocks for ever would otherwise hold the boot for ever, as every
//! bound of a phase is a timer of the runtime. systemd's `WatchdogSec=` begins with READY, when the work is over.

use std::{
    future::Future,
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use tokio::time::MissedTickBehavior;

use crate::status::log;

/// A standstill of this length ends the process.
const LIMIT: Duration = Duration::from_secs(180);
/// Number of slices that have to pass without a sign of life. A machine that was suspended lets one pass at most.
const SLICES: u32 = 10;
/// Bound on the message: journald may be the cause.
const MESSAGE: Duration = Duration::from_secs(5);

/// Runs `work`; a thread ends the process by SIGABRT if the runtime does not get to run for three minutes. systemd starts
/// dayone.service again, and the next run undoes the open transaction.
pub(crate) async fn guarded<T>(work: impl Future<Output = T>) -> T {
    let slice = limit() / SLICES;
    let (alive, signs) = mpsc::channel();
    if let Err(error) = thread::Builder::new().name("watchdog".into()).spawn(move || {
        if stands_still(&signs, slice) {
            // From a thread of its own: the write may block too.
            log::within(MESSAGE, || {
                tracing::error!("made no progress for {} s; ends itself", limit().as_secs());
            });
            std::process::abort();
        }
    }) {
        tracing::warn!(error = %error, "no thread to end the process when it stands still");
    }
    beside_signs_of_life(work, &alive, slice / 2).await
}

/// Runs `work`, and gives a sign of life at each interval.
async fn beside_signs_of_life<T>(
    work: impl Future<Output = T>,
    alive: &Sender<()>,
    interval: Duration,
) -> T {
    let mut interval = tokio::time::interval(interval);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            _ = interval.tick() => {
                // Without a thread nobody listens.
                let _ = alive.send(());
            }
        }
    }
}

/// Returns true after a standstill, false at the end of the work.
fn stands_still(signs: &Receiver<()>, slice: Duration) -> bool {
    let mut missed = 0;
    while missed < SLICES {
        match signs.recv_timeout(slice) {
            Ok(()) => missed = 0,
            Err(RecvTimeoutError::Timeout) => missed += 1,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
    true
}

#[cfg(not(debug_assertions))]
const fn limit() -> Duration {
    LIMIT
}

/// For the lab, in debug builds alone: `DAYONE_STANDSTILL` is the limit in seconds.
#[cfg(debug_assertions)]
fn limit() -> Duration {
    let seconds = std::env::var("DAYONE_STANDSTILL").ok().and_then(|text| text.parse().ok());
    seconds.map_or(LIMIT, Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_a_standstill_and_the_end_is_none() {
        let slice = Duration::from_millis(5);
        let (alive, signs) = mpsc::channel();
        assert!(stands_still(&signs, slice));
        assert_eq!(alive.send(()), Ok(()));
        drop(alive);
        assert!(!stands_still(&signs, slice));
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_wait_gives_signs_of_life() {
        let (alive, signs) = mpsc::channel();
        let slice = LIMIT / SLICES;
        beside_signs_of_life(tokio::time::sleep(3 * LIMIT), &alive, slice).await;
        assert!(signs.try_iter().count() >= 30);
    }
}
