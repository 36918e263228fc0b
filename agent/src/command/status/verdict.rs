//! The verdict of `dayone status`: one decision, from which come the first lines of the page and the exit code.

use super::report::{Report, Seen, Tried};
use crate::{
    error::{Error, Exit},
    status::{Fault, Open, Outcome, Status, Success, trial::State},
};

/// How good the verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    /// Good, with something to look at.
    Hint,
    Notice,
    Bad,
}

/// The verdict; an empty `next` asks for nothing.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) tone: Tone,
    pub(super) line: String,
    pub(super) reason: String,
    pub(super) next: String,
}

impl Verdict {
    fn new(
        tone: Tone,
        line: impl Into<String>,
        reason: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self { tone, line: line.into(), reason: reason.into(), next: next.into() }
    }

    /// An error unless this node's network is in force, or it needs none.
    pub(super) fn result(self) -> Result<(), Error> {
        match self.tone {
            Tone::Good | Tone::Hint => Ok(()),
            Tone::Notice | Tone::Bad => {
                Err(Error::NotInForce { line: self.line, reason: self.reason })
            }
        }
    }
}

/// The outcome of this boot's run, in words.
pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Open(Open::NotRun) => "no run yet",
        Outcome::Open(Open::Running) => "not finished",
        Outcome::Succeeded(Success::Committed) => "applied and committed",
        Outcome::Succeeded(Success::Unchanged) => "in force already, nothing done",
        Outcome::Succeeded(Success::Adopted) => "in force by another tool, recorded",
        Outcome::Succeeded(Success::Nothing) => "nothing to do",
        Outcome::Succeeded(Success::Removed) => {
            "the document in force was removed; its network stays"
        }
        Outcome::Failed(Fault::Untouched) => "failed, nothing was changed",
        Outcome::Failed(Fault::NotRecorded) => "in force, but not recorded",
        Outcome::Failed(Fault::RolledBack) => "failed and rolled back",
        Outcome::Failed(Fault::RollBackFailed) => "failed, and the roll back failed too",
        Outcome::Failed(Fault::GivenUp) => "failed too often, not tried again",
    }
}

/// The verdict on what was seen. The first question that has an answer decides: a run that is open or failed
/// comes before the record, which knows nothing of it.
pub(super) fn verdict(seen: &Seen<'_>) -> Verdict {
    let Seen { report, chosen, record, .. } = seen;
    let boot = &report.boot;
    let subject = subject(seen);
    if let Some(open) = report.trial.as_ref().filter(|it| it.is_open()) {
        return on_trial(open, seen.at_work.is_some());
    }
    if boot.outcome == Outcome::Open(Open::Running) {
        return running(seen, &subject);
    }
    if let Some(path) = &report.removed {
        return Verdict::new(
            Tone::Bad,
            format!("REMOVED: {} is gone; its network stays", path.display()),
            &chosen.reason,
            "write the document again, or a new one, then `dayone apply`",
        );
    }
    if boot.outcome == Outcome::Open(Open::NotRun) && !report.in_force {
        return Verdict::new(
            Tone::Notice,
            format!("NOT RUN: {subject} is not in force"),
            "dayone has not run in this boot",
            "`systemctl status dayone.service` shows what it waits for, or that it is disabled; \
             `dayone apply` puts the document in force now",
        );
    }
    if let Some(digest) = &report.pending {
        // A later run, of the automatic bridge, has replaced the account of the failure.
        let failures = record.failures.as_ref().filter(|it| it.digest == *digest);
        let reason = match failures {
            Some(it) => format!("it failed {} times; the last error: {}", it.count, it.last_error),
            None => "it changed after this boot's run; the next boot applies it".to_owned(),
        };
        return Verdict::new(
            Tone::Notice,
            format!("PENDING: {subject}"),
            reason,
            "`dayone check` checks it, `dayone apply --dry-run` shows what it changes, `dayone \
             apply` puts it in force now",
        );
    }
    if matches!(boot.outcome, Outcome::Failed(_)) || !report.in_force {
        return failed(boot, &subject);
    }
    if let Some(why) = &report.drift_unknown {
        return Verdict::new(
            Tone::Notice,
            format!("COMMITTED: {subject}; drift unknown"),
            why,
            "`systemctl status NetworkManager.service`",
        );
    }
    if !report.drift.is_empty() {
        return drifted(report, &subject);
    }
    let in_force = |why: &str| {
        let reason = format!("{}; {why}", outcome(boot.outcome));
        Verdict::new(Tone::Good, format!("IN FORCE: {subject}"), reason, "")
    };
    match (&chosen.document, &chosen.unmatched) {
        (Some(_), _) => in_force(&chosen.reason),
        (None, _) if report.bridge().is_some() => in_force(&boot.reason),
        (None, Some(unmatched)) => Verdict::new(
            Tone::Hint,
            format!("NO DOCUMENT: files of other nodes only ({})", unmatched.files.len()),
            unmatched.to_string(),
            "if one is meant for this node, give it one of these names, then `dayone apply`",
        ),
        (None, None) => Verdict::new(Tone::Good, "NO DOCUMENT: nothing to do", &chosen.reason, ""),
    }
}

/// The document, or the automatic bridge.
fn subject(seen: &Seen<'_>) -> String {
    match (&seen.chosen.document, seen.report.bridge()) {
        (Some(document), _) => document.path.display().to_string(),
        (None, Some(bridge)) => format!("br-ex on {}", bridge.uplink),
        (None, None) if seen.report.boot.bridge.is_some() => "br-ex".to_owned(),
        (None, None) => "this node's network".to_owned(),
    }
}

/// A trial whose network is, or may be, the node's.
fn on_trial(open: &Tried, is_at_work: bool) -> Verdict {
    let document = open.trial.document.display();
    let phase = open.trial.phase.map_or_else(|| "it begins".to_owned(), |it| it.to_string());
    match (open.trial.state, is_at_work) {
        (State::Applying | State::Waiting, false) => Verdict::new(
            Tone::Bad,
            format!("TRIAL: {document} is interrupted"),
            "its agent was killed; dayone-trial.service starts again by itself and undoes it",
            "`dayone apply` undoes it where dayone-trial.service is stopped",
        ),
        (State::Waiting, true) => Verdict::new(
            Tone::Notice,
            format!("TRIAL: {document}; {} s left", open.left.unwrap_or_default()),
            "it is applied, and the old network returns by itself unless it is confirmed",
            "`dayone confirm` keeps it until the next boot, `systemctl stop dayone-trial.service` \
             ends it now",
        ),
        (State::Confirmed, _) => Verdict::new(
            Tone::Notice,
            format!("TRIAL: {document} stays until the next boot"),
            "it is confirmed, and is not this node's document",
            "to keep it for good, make it this node's document; `dayone apply` ends it now",
        ),
        (State::RollBackFailed, _) => Verdict::new(
            Tone::Bad,
            format!("TRIAL: {document} is over, the old network is not back"),
            open.trial.reason.clone().unwrap_or_default(),
            "dayone-trial.service tries it again by itself, and so does `dayone apply`; see \
             dayone-runbook(7)",
        ),
        (State::Asked | State::Applying | State::Undone | State::Failed, _) => Verdict::new(
            Tone::Notice,
            format!("TRIAL: {document} is being applied"),
            phase,
            "wait for its end; `journalctl --boot --follow --identifier=dayone` shows each phase",
        ),
    }
}

/// A run without an end: at work, or killed.
fn running(seen: &Seen<'_>, subject: &str) -> Verdict {
    let phase = seen.report.boot.phase.map_or_else(|| "it began".to_owned(), |it| it.to_string());
    match &seen.at_work {
        Some(holder) => Verdict::new(
            Tone::Notice,
            format!("RUNNING: {subject}"),
            format!("{phase}; by {holder}"),
            "wait for its end; `journalctl --boot --follow --identifier=dayone` shows each phase",
        ),
        None => Verdict::new(
            Tone::Bad,
            format!("INTERRUPTED: {subject}"),
            format!("the run ended without an account, the last phase: {phase}"),
            "dayone.service starts again by itself and undoes what is left; `dayone apply` does it \
             where the service is stopped",
        ),
    }
}

fn drifted(report: &Report, subject: &str) -> Verdict {
    let next = match report.boot.bridge {
        None => "`dayone diff` shows the difference, `dayone rollback` puts the document's back",
        Some(_) => "`dayone diff` shows the difference, `dayone bridge` makes br-ex anew",
    };
    let reason = format!("the current state lacks parts of it: {}", report.drift.join(", "));
    Verdict::new(Tone::Notice, format!("DRIFTED: {subject}"), reason, next)
}

/// A failed run, whatever the record says of an earlier one, and a document that is not committed.
fn failed(boot: &Status, subject: &str) -> Verdict {
    let words = outcome(boot.outcome);
    let reason = match &boot.error {
        Some(error) if boot.outcome == Outcome::Failed(Fault::NotRecorded) => error.clone(),
        Some(error) => format!("{words}: {error}"),
        None => format!("it is not committed; this boot: {words}"),
    };
    let carried =
        if boot.last_good_in_force { "; the last good network carries the node" } else { "" };
    let mut line = format!("NOT IN FORCE: {subject}{carried}");
    let what = match (boot.outcome, &boot.bridge) {
        (Outcome::Failed(Fault::NotRecorded), _) => {
            line = format!("NOT RECORDED: {subject} is in force");
            "repair what the reason names; the next boot writes the record before NetworkManager \
             starts, `dayone apply` writes it now"
        }
        (_, Some(_)) => {
            "`dayone plan` shows the choice of the uplink; to have configure-ovs make br-ex, \
             disable dayone-bridge.service and reboot"
        }
        (Outcome::Failed(Fault::GivenUp), None) => {
            "correct the document, or `dayone apply --retry` if its network was at fault"
        }
        (Outcome::Failed(Fault::RollBackFailed), None) => {
            "`dayone apply` undoes the rest and tries again; see dayone-runbook(7)"
        }
        (Outcome::Failed(Fault::Untouched), None) if boot.exit == Some(Exit::Input as u8) => {
            "correct the document; `dayone check` tells whether it is right"
        }
        (Outcome::Failed(Fault::Untouched), None) => {
            "repair what the reason names, then `dayone apply`"
        }
        (_, None) => {
            "correct the document or what did not answer, then `dayone apply`; see \
             dayone-runbook(7)"
        }
    };
    let next = boot.next.as_ref().map_or(what.to_owned(), |next| format!("{what}; {next}"));
    Verdict::new(Tone::Bad, line, reason, next)
}

#[cfg(test)]
mod tests;
