//! Reports of runs that may change the network: status file, journal, console, systemd.

use std::{path::Path, time::Duration};

use nmgen::chain;

use crate::{
    error::{Error, Exit},
    paths::Paths,
    status::{
        Outcome, Status, StatusFile,
        log::{Tone, console, message_id},
        now,
        progress::Progress,
    },
    transaction::Failure,
};

/// A status file, and the progress that keeps it up to date.
pub(super) fn told(paths: &Paths) -> (StatusFile, Progress) {
    let status = StatusFile::new(paths);
    let progress = Progress::new({
        let status = status.clone();
        move |phase, done| {
            status.update(|s| {
                s.phase = Some(phase);
                s.phases = done.to_vec();
            });
            status.write();
        }
    });
    (status, progress)
}

/// Reports the holder of the lock.
pub(super) fn waits(text: &str) {
    Progress::new(|_, _| {}).say(text, Duration::ZERO);
    tracing::warn!("{text}");
    console(Tone::Plain, &[text.to_owned()]);
}

/// Reports a run that did not begin; the status file belongs to another run.
pub(super) fn refused(error: &Error) {
    tracing::error!(dayone_exit = error.exit() as u8, "{}", chain(error));
    console(Tone::Bad, &[format!("FAILED: {}", chain(error))]);
}

/// Reports a success; readiness first, so that the boot goes on.
pub(super) fn succeeded(status: &StatusFile, progress: &Progress, outcome: Outcome) {
    end(status, progress, outcome, None);
    status.write();
    succeed(status, progress, outcome);
}

/// Reports a failure.
pub(super) fn failed(status: &StatusFile, progress: &Progress, error: &Error) {
    end(status, progress, outcome_of(error), Some(error));
    status.write();
    fail(status, error, &chain(error));
}

fn end(status: &StatusFile, progress: &Progress, outcome: Outcome, error: Option<&Error>) {
    status.update(|s| {
        s.phases = progress.phases();
        s.finished = Some(now());
        s.outcome = outcome;
        s.exit = Some(error.map_or(Exit::Done, Error::exit) as u8);
        s.error = error.map(|error| chain(error));
    });
}

/// Reports a failed document with which the boot goes on, for the reason `why`; repeated at every
/// boot.
pub(super) fn goes_on(status: &StatusFile, progress: &Progress, error: &Error, why: &str) {
    let s = status.get();
    let document = s.document.as_deref().unwrap_or(Path::new("the document")).display();
    let text = format!("{document} is NOT in force; the boot goes on: {why}");
    progress.ready(&text);
    tracing::warn!(
        message_id = message_id::GOES_ON,
        dayone_document = %document,
        "{text}; {}",
        chain(error)
    );
    console(Tone::Bad, &[text, "see: dayone status".to_owned()]);
}

/// Reports a br-ex that is not the agent's affair; the status file is another run's.
pub(super) fn no_bridge(why: &str) {
    Progress::new(|_, _| {}).ready(why);
    tracing::info!(message_id = message_id::BRIDGE_NOTHING, "{why}");
}

/// Reports a failed automatic bridge with which the boot goes on.
pub(super) fn goes_on_without_bridge(progress: &Progress, error: &Error) {
    let text = "br-ex was NOT made; the boot goes on: on-failure is \"continue\"".to_owned();
    progress.ready(&text);
    tracing::warn!(message_id = message_id::BRIDGE_GOES_ON, "{text}; {}", chain(error));
    console(Tone::Bad, &[text, "see: dayone status".to_owned()]);
}

/// Reports the pause of a service after a failure.
pub(super) fn pauses(paths: &Paths, error: &Error, next: &str) {
    // Read anew: another run may have written the file since.
    if let Ok(Some(earlier)) = StatusFile::load(paths) {
        let status = StatusFile::new(paths);
        status.update(|s| *s = Status { next: Some(next.to_owned()), ..earlier });
        status.write();
    }
    Progress::new(|_, _| {}).say(&format!("{next}; failed: {}", chain(error)), Duration::ZERO);
    tracing::info!("{next}");
    console(Tone::Plain, &[next.to_owned()]);
}

fn outcome_of(error: &Error) -> Outcome {
    match error {
        Error::Transaction(Failure::RolledBack { .. }) => Outcome::RolledBack,
        Error::Transaction(Failure::RollBackFailed { .. }) | Error::Recover { .. } => {
            Outcome::RollBackFailed
        }
        Error::GivenUp { .. } => Outcome::GivenUp,
        Error::TrialStays(_) => Outcome::RollBackFailed,
        Error::Transaction(Failure::Untouched { .. } | Failure::NotRecorded { .. })
        | Error::Settings(_)
        | Error::Document(_)
        | Error::Check(_)
        | Error::File(_)
        | Error::Network(_)
        | Error::Gather(_)
        | Error::Plan(_)
        | Error::State(_)
        | Error::Lock(_)
        | Error::Inputs(_)
        | Error::Watch { .. }
        | Error::Stopped
        | Error::Runtime(_)
        | Error::Signals(_)
        | Error::Output(_)
        | Error::DocumentFirst
        | Error::NoLastGood
        | Error::Trial(_)
        | Error::Start(_)
        | Error::NotInForce { .. } => Outcome::Failed,
    }
}

fn succeed(status: &StatusFile, progress: &Progress, outcome: Outcome) {
    let s = status.get();
    let (id, text) = match outcome {
        Outcome::Committed if s.bridge.is_some() => {
            (message_id::BRIDGE_COMMITTED, "br-ex is in force")
        }
        Outcome::Unchanged if s.bridge.is_some() => {
            (message_id::BRIDGE_UNCHANGED, "br-ex is in force already, nothing to do")
        }
        Outcome::Committed => (message_id::COMMITTED, "the network is in force"),
        Outcome::Unchanged => (message_id::UNCHANGED, "in force already, nothing to do"),
        Outcome::Adopted => (message_id::ADOPTED, "in force by another tool, recorded"),
        Outcome::Removed => {
            (message_id::REMOVED, "the document in force was removed; its network stays")
        }
        Outcome::Nothing
        | Outcome::NotRun
        | Outcome::Running
        | Outcome::Failed
        | Outcome::RolledBack
        | Outcome::RollBackFailed
        | Outcome::GivenUp => (message_id::NOTHING, "nothing to do"),
    };
    let text = format!("{text} ({})", s.reason);
    // Readiness first: the boot waits for it.
    progress.ready(&text);
    tracing::info!(
        message_id = id,
        dayone_document = %s.document.as_deref().unwrap_or(std::path::Path::new("")).display(),
        dayone_digest = s.digest.as_deref().unwrap_or_default(),
        "{text}"
    );
    let tone = match outcome {
        Outcome::Nothing => Tone::Plain,
        Outcome::Removed => Tone::Bad,
        Outcome::Committed
        | Outcome::Unchanged
        | Outcome::Adopted
        | Outcome::NotRun
        | Outcome::Running
        | Outcome::Failed
        | Outcome::RolledBack
        | Outcome::RollBackFailed
        | Outcome::GivenUp => Tone::Good,
    };
    let mut lines = vec![text];
    lines.extend(s.probes_after.iter().map(probe_line));
    console(tone, &lines);
}

fn probe_line(result: &crate::probe::ProbeResult) -> String {
    let verdict = if result.ok { "ok" } else { "FAILED" };
    format!("  {}: {verdict}, {} ({} ms)", result.name, result.detail, result.milliseconds)
}

fn fail(status: &StatusFile, error: &Error, text: &str) {
    let s = status.get();
    let is_bridge = s.bridge.is_some();
    let id = match s.outcome {
        Outcome::RolledBack if is_bridge => message_id::BRIDGE_ROLLED_BACK,
        Outcome::RollBackFailed if is_bridge => message_id::BRIDGE_ROLL_BACK_FAILED,
        Outcome::Failed if is_bridge => message_id::BRIDGE_FAILED,
        Outcome::RolledBack => message_id::ROLLED_BACK,
        Outcome::RollBackFailed => message_id::ROLL_BACK_FAILED,
        Outcome::Failed
        | Outcome::GivenUp
        | Outcome::NotRun
        | Outcome::Running
        | Outcome::Committed
        | Outcome::Unchanged
        | Outcome::Adopted
        | Outcome::Removed
        | Outcome::Nothing => message_id::FAILED,
    };
    tracing::error!(
        message_id = id,
        dayone_document = %s.document.as_deref().unwrap_or(std::path::Path::new("")).display(),
        dayone_exit = error.exit() as u8,
        "{text}"
    );
    let mut lines = vec![format!("FAILED: {text}")];
    lines.extend(s.last_good.clone());
    console(Tone::Bad, &lines);
}
