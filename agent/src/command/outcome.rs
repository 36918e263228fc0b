//! Reports of runs that may change the network: status file, journal, console, systemd.

use std::{path::Path, time::Duration};

use nmgen::chain;
use tracing::field;

use crate::{
    error::{Error, Exit},
    model::ProbeResult,
    paths::Paths,
    status::{
        Fault, Outcome, Status, StatusFile, Success,
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
pub(super) fn succeeded(status: &StatusFile, progress: &Progress, success: Success) {
    end(status, progress, Outcome::Succeeded(success), None);
    let s = status.get();
    let (id, tone, text) = match (success, s.bridge.is_some()) {
        (Success::Committed, true) => {
            (message_id::BRIDGE_COMMITTED, Tone::Good, "br-ex is in force")
        }
        (Success::Unchanged, true) => {
            (message_id::BRIDGE_UNCHANGED, Tone::Good, "br-ex is in force already, nothing to do")
        }
        (Success::Committed, false) => {
            (message_id::COMMITTED, Tone::Good, "the network is in force")
        }
        (Success::Unchanged, false) => {
            (message_id::UNCHANGED, Tone::Good, "in force already, nothing to do")
        }
        (Success::Adopted, _) => {
            (message_id::ADOPTED, Tone::Good, "in force by another tool, recorded")
        }
        (Success::Removed, _) => {
            (message_id::REMOVED, Tone::Bad, "the document in force was removed; its network stays")
        }
        (Success::Nothing, _) => (message_id::NOTHING, Tone::Plain, "nothing to do"),
    };
    let text = format!("{text} ({})", s.reason);
    // Readiness first: the boot waits for it.
    progress.ready(&text);
    tracing::info!(
        message_id = id,
        dayone_document = %s.document.as_deref().unwrap_or(Path::new("")).display(),
        dayone_digest = s.digest.as_deref().unwrap_or_default(),
        "{text}"
    );
    let mut lines = vec![text];
    lines.extend(s.probes_after.iter().map(probe_line));
    console(tone, &lines);
}

/// Reports a failure.
pub(super) fn failed(status: &StatusFile, progress: &Progress, error: &Error) {
    let fault = fault_of(error);
    end(status, progress, Outcome::Failed(fault), Some(error));
    let s = status.get();
    let id = match (fault, s.bridge.is_some()) {
        (Fault::RolledBack, true) => message_id::BRIDGE_ROLLED_BACK,
        (Fault::RollBackFailed, true) => message_id::BRIDGE_ROLL_BACK_FAILED,
        (Fault::NotRecorded, _) => message_id::NOT_RECORDED,
        (Fault::Untouched | Fault::GivenUp, true) => message_id::BRIDGE_FAILED,
        (Fault::RolledBack, false) => message_id::ROLLED_BACK,
        (Fault::RollBackFailed, false) => message_id::ROLL_BACK_FAILED,
        (Fault::Untouched | Fault::GivenUp, false) => message_id::FAILED,
    };
    let text = chain(error);
    tracing::error!(
        message_id = id,
        dayone_document = %s.document.as_deref().unwrap_or(Path::new("")).display(),
        dayone_exit = error.exit() as u8,
        "{text}"
    );
    let mut lines = vec![format!("FAILED: {text}")];
    lines.extend(s.last_good);
    console(Tone::Bad, &lines);
}

fn end(status: &StatusFile, progress: &Progress, outcome: Outcome, error: Option<&Error>) {
    status.update(|s| {
        s.phases = progress.phases();
        s.finished = Some(now());
        s.outcome = outcome;
        s.exit = Some(error.map_or(Exit::Done, Error::exit) as u8);
        s.error = error.map(|error| chain(error));
    });
    status.write();
}

/// The fault of a run that ended with `error`.
pub(super) fn fault_of(error: &Error) -> Fault {
    match (error, error.exit()) {
        (Error::GivenUp { .. }, _) => Fault::GivenUp,
        (Error::Transaction(Failure::NotRecorded { .. }), _) => Fault::NotRecorded,
        (_, Exit::RolledBack) => Fault::RolledBack,
        (_, Exit::RollBackFailed) => Fault::RollBackFailed,
        (_, Exit::Done | Exit::Machine | Exit::Input) => Fault::Untouched,
    }
}

/// Reports a failure with which the boot goes on, for the reason in `text`; repeated at every boot.
pub(super) fn goes_on(
    status: &StatusFile,
    progress: &Progress,
    error: &Error,
    id: &'static str,
    text: String,
) {
    progress.ready(&text);
    let document = status.get().document;
    tracing::warn!(
        message_id = id,
        dayone_document = document.as_ref().map(|it| field::display(it.display())),
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

fn probe_line(result: &ProbeResult) -> String {
    let verdict = if result.ok { "ok" } else { "FAILED" };
    format!("  {}: {verdict}, {} ({} ms)", result.name, result.detail, result.milliseconds)
}
