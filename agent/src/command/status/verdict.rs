//! The first lines: what is the case, why, and what to do.

use super::report::{Report, Seen};
use crate::{
    error::Exit,
    status::{Outcome, Status},
};

/// How good the verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
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
    pub(super) fn new(
        tone: Tone,
        line: impl Into<String>,
        reason: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self { tone, line: line.into(), reason: reason.into(), next: next.into() }
    }
}

/// The outcome of this boot's run, in words.
pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::NotRun => "no run yet",
        Outcome::Running => "not finished",
        Outcome::Committed => "applied and committed",
        Outcome::Unchanged => "in force already, nothing done",
        Outcome::Adopted => "in force by another tool, recorded",
        Outcome::Nothing => "nothing to do",
        Outcome::Removed => "the document in force was removed; its network stays",
        Outcome::Failed => "failed, nothing was changed",
        Outcome::RolledBack => "failed and rolled back",
        Outcome::RollBackFailed => "failed, and the roll back failed too",
        Outcome::GivenUp => "failed too often, not tried again",
    }
}

/// The verdict on what was seen, where no trial is open.
pub(super) fn verdict(seen: &Seen<'_>) -> Verdict {
    let Seen { report, chosen, record, at_work: _ } = seen;
    let boot = &report.boot;
    let subject = subject(seen);
    if boot.outcome == Outcome::Running {
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
    if boot.outcome == Outcome::NotRun && !report.in_force {
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
    if !report.in_force {
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
    match (&chosen.document, &chosen.unmatched) {
        (Some(_), _) => {
            let reason = format!("{}; {}", outcome(boot.outcome), chosen.reason);
            Verdict::new(Tone::Good, format!("IN FORCE: {subject}"), reason, "")
        }
        (None, _) if is_bridge(boot) => {
            let reason = format!("{}; {}", outcome(boot.outcome), boot.reason);
            Verdict::new(Tone::Good, format!("IN FORCE: {subject}"), reason, "")
        }
        (None, Some(unmatched)) => Verdict::new(
            Tone::Notice,
            format!("NO DOCUMENT: files of other nodes only ({})", unmatched.files.len()),
            unmatched.to_string(),
            "if one is meant for this node, give it one of these names, then `dayone apply`",
        ),
        (None, None) => Verdict::new(Tone::Good, "NO DOCUMENT: nothing to do", &chosen.reason, ""),
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

fn is_bridge(boot: &Status) -> bool {
    boot.bridge.as_ref().is_some_and(|it| !it.uplink.is_empty())
}

/// The document, or the automatic bridge.
fn subject(seen: &Seen<'_>) -> String {
    match (&seen.chosen.document, &seen.report.boot.bridge) {
        (Some(document), _) => document.path.display().to_string(),
        (None, Some(bridge)) if !bridge.uplink.is_empty() => format!("br-ex on {}", bridge.uplink),
        (None, Some(_)) => "br-ex".to_owned(),
        (None, None) => "this node's network".to_owned(),
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

fn failed(boot: &Status, subject: &str) -> Verdict {
    let carried =
        if boot.last_good_in_force { "; the last good network carries the node" } else { "" };
    let line = format!("NOT IN FORCE: {subject}{carried}");
    let reason = match &boot.error {
        Some(error) => format!("{}: {error}", outcome(boot.outcome)),
        None => format!("it is not committed; this boot: {}", outcome(boot.outcome)),
    };
    let what = match (boot.outcome, &boot.bridge) {
        (_, Some(_)) => {
            "`dayone plan` shows the choice of the uplink; to have configure-ovs make br-ex, \
             disable dayone-bridge.service and reboot"
        }
        (Outcome::GivenUp, None) => {
            "correct the document, or `dayone apply --retry` if its network was at fault"
        }
        (Outcome::RollBackFailed, None) => {
            "`dayone apply` undoes the rest and tries again; see dayone-runbook(7)"
        }
        (Outcome::Failed, None) if boot.exit == Some(Exit::Input as u8) => {
            "correct the document; `dayone check` tells whether it is right"
        }
        (Outcome::Failed, None) => "repair what the reason names, then `dayone apply`",
        (_, None) => {
            "correct the document or what did not answer, then `dayone apply`; see \
             dayone-runbook(7)"
        }
    };
    let next = match &boot.next {
        Some(next) => format!("{what}; {next}"),
        None => what.to_owned(),
    };
    Verdict::new(Tone::Bad, line, reason, next)
}
