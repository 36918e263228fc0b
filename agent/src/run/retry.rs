//! Attempts and pauses of dayone.service and dayone-bridge.service, in one process: units ordered after them wait
//! during all attempts, on every version of systemd.

use std::{future::Future, time::Duration};

use futures_util::future::{Either, join, select};
use nmgen::chain;
use tokio::sync::watch;

use super::{
    AttemptKind, Caller, Extent, answers,
    attempt::attempt,
    decision::{Decision, ReleaseReason, fault_of},
    hostname, late, pauses,
    signals::Signals,
};
use crate::{
    client::{dbus::start_unit_out_of_turn, netlink::Netlink},
    document::changes::Inputs,
    error::{Error, Exit, Result},
    model::memory::Memory,
    network::{boot_time, connected::Connected},
    paths::Paths,
    probe::wire::{self, Asked},
    settings::Usable,
    status::{Fault, log},
    transaction::{memory, stopped},
    warn::OrWarn as _,
};

/// The lengths of pauses, which double.
struct Pace {
    first: Duration,
    longest: Duration,
}

const DOCUMENT: Pace = Pace { first: Duration::from_secs(5), longest: Duration::from_secs(300) };
/// For the automatic bridge, which needs more time for an attempt. configure-ovs.sh pauses 15 minutes: no fault that ends without
/// an event of the network, such as a full disk, may hold kubelet as long.
const BRIDGE: Pace = Pace { first: Duration::from_secs(15), longest: Duration::from_secs(300) };

impl Pace {
    fn of(kind: AttemptKind) -> Self {
        match kind {
            AttemptKind::Document => DOCUMENT,
            AttemptKind::Bridge => BRIDGE,
        }
    }

    /// The pause after this many failures in a row, counted from 1. It is the longest at once where the same input must fail again:
    /// only a changed network can help.
    fn pause(&self, error: &Error, failures: u32) -> Duration {
        if is_hopeless(error) { self.longest } else { self.doubled(failures.saturating_sub(1)) }
    }

    /// The first part of a pause, which no event of the network ends. It doubles with each pause that the network has ended, so
    /// that a flapping link causes attempts at growing intervals.
    fn hold(&self, ended: u32) -> Duration {
        match ended {
            0 => Duration::ZERO,
            _ => self.doubled(ended - 1),
        }
    }

    fn doubled(&self, times: u32) -> Duration {
        (self.first * 2_u32.pow(times.min(8))).min(self.longest)
    }
}

/// Whether the same input fails again.
fn is_hopeless(error: &Error) -> bool {
    matches!(error, Error::GivenUp { .. }) || error.exit() == Exit::Input
}

/// Whether a given-up document was refused by an answer of the old network: such an answer may have been away for the moment of
/// each attempt, so that the document is tried on, at the longest distance.
fn has_refused(paths: &Paths, error: &Error) -> bool {
    matches!(error, Error::GivenUp { .. }) && memory::load(paths).has_refused()
}

/// The time until an answer is given up that this boot had.
fn patience(paths: &Paths) -> Duration {
    let bound = Usable::load(paths).settings.wait.answer.get();
    memory::load(paths).patience(boot_time(), bound).unwrap_or(Duration::MAX)
}

/// The pause in words.
fn describe(error: &Error, pause: Duration, is_refused: bool) -> String {
    let next = match is_hopeless(error) && !is_refused {
        true => "the network is asked again",
        false => "the next attempt is",
    };
    format!(
        "{next} in {} s, at a change below /etc/nmstate or /etc/ovnk or of dayone.toml, when a card, an address or a default \
         route comes, when a silent gateway answers or a taken address is free, or at SIGHUP",
        pause.as_secs()
    )
}

#[derive(Debug, PartialEq, Eq)]
enum PauseEnd {
    /// The pause is over.
    Time,
    /// A document or the settings changed.
    Change,
    /// A card, an address or a default route came.
    Network,
    /// A silent gateway answers, or an address is free that another machine had.
    Answer,
    /// SIGHUP.
    Asked,
    /// SIGTERM or SIGINT.
    Stopped,
}

/// Returns when the boot may go on, or when it is stopped during a pause.
pub(crate) async fn repeat(paths: &Paths, kind: AttemptKind, mut extent: Extent) -> Result {
    let pace = Pace::of(kind);
    let mut signals = Signals::listen()?;
    let mut failures = 0;
    // Pauses that the network has ended since the last change.
    let mut ended = 0;
    let mut told = Vec::new();
    let mut awaited = answers::Awaited::default();
    loop {
        // Read before the attempt, so that a change during it counts.
        let inputs = Inputs::now(paths);
        let connected = connected_now().await;
        let attempted = match failures {
            // Files that change all the time must not end every attempt.
            0 => attempt(paths, &signals.stop, kind, extent, Caller::Service).await,
            _ => attempt_again(paths, &inputs, &signals.stop, (kind, extent)).await,
        };
        let error = match attempted {
            Ok(Decision::Release(ReleaseReason::InForce | ReleaseReason::Removed)) => {
                let families = late::record_families(paths, &signals.stop);
                join(families, hostname::keep(paths, &signals.stop)).await;
                return Ok(());
            }
            Ok(Decision::Release(ReleaseReason::NoDocument)) => {
                answers::activate_freed(paths, &signals.stop).await;
                return Ok(());
            }
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        if *signals.stop.borrow() {
            return Err(error);
        }
        failures += 1;
        // The early network comes up beside the first attempt: it is no other one.
        let now = connected_now().await;
        let known = if failures == 1 { now.clone() } else { connected.clone() };
        let connected = match (connected, now) {
            // The attempt has changed the network, and a roll back has returned it.
            (Some(before), Some(now))
                if matches!(fault_of(&error), Fault::RolledBack | Fault::RollBackFailed) =>
            {
                Some(before.with_network_of(&now))
            }
            (before, _) => before,
        };
        if failures == 1 && log::is_service() {
            let_people_log_in().await;
        }
        // What answered earlier in this boot refuses a document only for a time.
        let is_refused = has_refused(paths, &error);
        let bound = pace.pause(&error, failures).min(patience(paths).max(pace.first));
        if Inputs::now(paths) == inputs {
            pauses(paths, &error, &describe(&error, bound, is_refused));
        }
        let grown = async {
            let grown = std::pin::pin!(network_has_grown(connected, pace.hold(ended)));
            // The network's return does not wait for the account of the wire.
            match select(grown, std::pin::pin!(tell_of_the_wire(paths, &error, &mut told))).await {
                Either::Left(_) => {}
                Either::Right(((), grown)) => grown.await,
            }
        };
        let answered = answers::changed(paths, pace.hold(ended), &mut awaited);
        let woken = pause(paths, &inputs, bound, (grown, answered), &mut signals).await?;
        tracing::info!(dayone_woken = ?woken, "the pause is over");
        if woken == PauseEnd::Stopped {
            pauses(paths, &error, "the service was stopped: `systemctl start` of it tries again");
            return Ok(());
        }
        extent = match woken {
            PauseEnd::Asked => Extent::Forgiving,
            PauseEnd::Time if is_refused => Extent::Grown,
            PauseEnd::Time if is_hopeless(&error) => Extent::ProofAlone,
            PauseEnd::Network if is_more_than(known).await => Extent::Grown,
            PauseEnd::Answer => Extent::Grown,
            PauseEnd::Time | PauseEnd::Change | PauseEnd::Network | PauseEnd::Stopped => {
                Extent::Whole
            }
        };
        if matches!(woken, PauseEnd::Change | PauseEnd::Asked) {
            failures = 0;
            awaited = answers::Awaited::default();
            memory::update(paths, Memory::forget);
        }
        // A link that flaps rarely ends pauses by its return as well as one that does so at once.
        ended = match woken {
            PauseEnd::Network | PauseEnd::Answer => ended + 1,
            PauseEnd::Change | PauseEnd::Asked => 0,
            PauseEnd::Time | PauseEnd::Stopped => ended,
        };
    }
}

/// Tries once more. Whoever corrects the document meanwhile need not wait for the end of an attempt with the one that failed: the
/// attempt is stopped as by SIGTERM, and the next one begins at once.
async fn attempt_again(
    paths: &Paths,
    inputs: &Inputs,
    stop: &watch::Receiver<bool>,
    (kind, extent): (AttemptKind, Extent),
) -> Result<Decision> {
    let (sender, ends) = watch::channel(false);
    let correction = async {
        tokio::select! {
            () = stopped(stop.clone()) => {}
            corrected = inputs.corrected(paths) => match corrected {
                Ok(()) => tracing::info!("a document or the settings changed: the attempt is stopped"),
                Err(error) => {
                    tracing::warn!("a correction waits for the attempt's end: {}", chain(&error));
                    stopped(stop.clone()).await;
                }
            }
        }
        // Without a receiver the attempt is over already.
        let _ = sender.send(true);
        std::future::pending().await
    };
    tokio::select! {
        biased;
        attempted = attempt(paths, &ends, kind, extent, Caller::Service) => attempted,
        never = correction => never,
    }
}

/// Ends the time in which root alone may log in (pam_nologin(8)). With a network mount, systemd-user-sessions.service waits for the
/// network, and with it each getty: on a node that waits for its network nobody could log in to mend it.
async fn let_people_log_in() {
    let started = start_unit_out_of_turn("systemd-user-sessions.service");
    let why = match tokio::time::timeout(ANSWER, started).await {
        Ok(Ok(())) => return,
        Ok(Err(error)) => chain(&error),
        Err(_) => "systemd does not answer".to_owned(),
    };
    tracing::warn!("logins may have to wait for the network: {why}");
}

/// The time for an answer of systemd: a bus that says nothing must not end the attempts.
const ANSWER: Duration = Duration::from_secs(5);

/// The time for an account of the wire: a silent VLAN or gateway takes the longest.
const WIRE: Duration = Duration::from_secs(10);

/// Tells on the console what is wrong with the cable, unless it was told before or the document is at fault. It ends with the
/// pause, and delays nothing.
async fn tell_of_the_wire(paths: &Paths, error: &Error, told: &mut Vec<String>) {
    if error.exit() == Exit::Input {
        return;
    }
    let asked = Asked::of(&Usable::load(paths).settings.probe);
    let look = async { wire::in_three_lines(&asked, paths, &Netlink::connect()?).await };
    match tokio::time::timeout(WIRE, look).await {
        Ok(Ok(lines)) if lines != *told => {
            lines.iter().for_each(|line| tracing::info!("the wire: {line}"));
            log::console(log::Tone::Bad, &lines);
            *told = lines;
        }
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::warn!("the wire cannot be asked: {}", chain(&error)),
        Err(_late) => tracing::warn!("the wire was asked in vain for {} s", WIRE.as_secs()),
    }
}

/// The network before an attempt.
async fn connected_now() -> Option<Connected> {
    let now = Connected::now().await;
    now.or_warn_of("no pause follows the network")
}

/// Whether the network has more than the attempt had.
async fn is_more_than(known: Option<Connected>) -> bool {
    match (known, connected_now().await) {
        (Some(known), Some(now)) => now.is_more_than(&known),
        _ => false,
    }
}

/// Returns when the network has more than before the attempt, but not during `hold`. If it cannot
/// be watched, the time ends the pause.
async fn network_has_grown(before: Option<Connected>, hold: Duration) {
    if let Some(before) = before {
        tokio::time::sleep(hold).await;
        let grown = before.has_grown().await.or_warn_of("the pause has its whole length");
        if grown.is_some() {
            return;
        }
    }
    std::future::pending::<()>().await;
}

async fn pause(
    paths: &Paths,
    inputs: &Inputs,
    bound: Duration,
    (grown, answered): (impl Future<Output = ()>, impl Future<Output = ()>),
    signals: &mut Signals,
) -> Result<PauseEnd> {
    tokio::select! {
        biased;
        () = stopped(signals.stop.clone()) => Ok(PauseEnd::Stopped),
        () = signals.hangup() => Ok(PauseEnd::Asked),
        changed = inputs.changed(paths) => changed.map(|()| PauseEnd::Change).map_err(Error::Inputs),
        () = grown => Ok(PauseEnd::Network),
        () = answered => Ok(PauseEnd::Answer),
        () = tokio::time::sleep(bound) => Ok(PauseEnd::Time),
    }
}

#[cfg(test)]
mod tests {
    mod histories;

    use super::*;

    #[test]
    fn pauses_grow() {
        let pauses = |pace: &Pace| -> Vec<u64> {
            (1..=9).map(|failures| pace.pause(&Error::NoLastGood, failures).as_secs()).collect()
        };
        assert_eq!(pauses(&DOCUMENT), [5, 10, 20, 40, 80, 160, 300, 300, 300]);
        assert_eq!(pauses(&BRIDGE), [15, 30, 60, 120, 240, 300, 300, 300, 300]);
        assert_eq!(DOCUMENT.pause(&Error::NoLastGood, u32::MAX), DOCUMENT.longest);
    }

    #[test]
    fn the_network_ends_pauses_at_growing_distances() {
        let holds: Vec<u64> = (0..9).map(|ended| BRIDGE.hold(ended).as_secs()).collect();
        assert_eq!(holds, [0, 15, 30, 60, 120, 240, 300, 300, 300]);
        assert_eq!(BRIDGE.hold(u32::MAX), BRIDGE.longest);
        // Never longer than the pause: each of them has ended after a failure.
        for failures in 1..20 {
            let pause = BRIDGE.pause(&Error::NoLastGood, failures);
            assert!(BRIDGE.hold(failures - 1) <= pause);
        }
    }

    #[test]
    fn after_a_hopeless_failure_the_network_is_asked_at_least_every_five_minutes() {
        let given_up = Error::GivenUp { count: 3, last: String::new() };
        let refused = Error::Check(crate::document::check::CheckError::Refused(Vec::new()));
        for error in [given_up, refused] {
            assert_eq!(DOCUMENT.pause(&error, 1).as_secs(), 300);
            assert!(
                describe(&error, DOCUMENT.longest, false)
                    .starts_with("the network is asked again in 300 s, ")
            );
        }
    }
}
