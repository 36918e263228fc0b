//! How a run that may change the network is told: status file, journal, console, systemd.

use nmgen::chain;

use crate::{
    error::{Error, Exit},
    paths::Paths,
    status::{
        Outcome, StatusFile,
        log::{Tone, console, message_id},
        now,
        progress::Progress,
    },
    transaction::Failure,
};

/// A status file, and a teller that keeps it up to date.
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

/// Tells the end; `good` is done on success, before anyone hears of it.
pub(super) fn tell(
    status: &StatusFile,
    progress: &Progress,
    result: Result<Outcome, Error>,
    good: impl FnOnce(),
) -> Result<(), Error> {
    let error = result.as_ref().err().map(|error| chain(error));
    status.update(|s| {
        s.phases = progress.phases();
        s.finished = Some(now());
        s.outcome = result.as_ref().map_or_else(outcome_of, |outcome| *outcome);
        s.exit = Some(result.as_ref().map_or_else(Error::exit, |_| Exit::Done) as u8);
        s.error.clone_from(&error);
    });
    match result {
        Ok(outcome) => {
            good();
            status.write();
            succeed(status, progress, outcome);
            Ok(())
        }
        Err(error) => {
            status.write();
            fail(status, &error, &chain(&error));
            Err(error)
        }
    }
}

fn outcome_of(error: &Error) -> Outcome {
    match error {
        Error::Transaction(Failure::RolledBack { .. }) => Outcome::RolledBack,
        Error::Transaction(Failure::RollBackFailed { .. }) | Error::Recover { .. } => {
            Outcome::RollBackFailed
        }
        Error::GivenUp { .. } => Outcome::GivenUp,
        Error::Transaction(Failure::Untouched { .. } | Failure::NotRecorded { .. })
        | Error::Settings(_)
        | Error::Document(_)
        | Error::Check(_)
        | Error::File(_)
        | Error::Network(_)
        | Error::State(_)
        | Error::Runtime(_)
        | Error::Signals(_)
        | Error::Output(_)
        | Error::NoLastGood
        | Error::NotInForce { .. } => Outcome::Failed,
    }
}

fn succeed(status: &StatusFile, progress: &Progress, outcome: Outcome) {
    let s = status.get();
    let (id, text) = match outcome {
        Outcome::Committed => (message_id::COMMITTED, "the network is in force"),
        Outcome::Unchanged => (message_id::UNCHANGED, "in force already, nothing to do"),
        Outcome::Nothing
        | Outcome::Running
        | Outcome::Failed
        | Outcome::RolledBack
        | Outcome::RollBackFailed
        | Outcome::GivenUp => (message_id::NOTHING, "nothing to do"),
    };
    let text = format!("{text} ({})", s.reason);
    // First of all: everything else can wait.
    progress.ready(&text);
    tracing::info!(
        message_id = id,
        dayone_document = %s.document.as_deref().unwrap_or(std::path::Path::new("")).display(),
        dayone_digest = s.digest.as_deref().unwrap_or_default(),
        "{text}"
    );
    let tone = if outcome == Outcome::Nothing { Tone::Plain } else { Tone::Good };
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
    let id = match s.outcome {
        Outcome::RolledBack => message_id::ROLLED_BACK,
        Outcome::RollBackFailed => message_id::ROLL_BACK_FAILED,
        Outcome::Failed
        | Outcome::GivenUp
        | Outcome::Running
        | Outcome::Committed
        | Outcome::Unchanged
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
