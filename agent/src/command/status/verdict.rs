//! The verdict of `dayone status`: one decision, from which come the first lines of the page, the words for programs and
//! the exit code.

use super::{
    report::{Report, Seen, Tried},
    word::{Code, Word},
};
use crate::{
    error::{Error, Exit},
    model::facts::Service,
    status::{Fault, Open, Outcome, Status, Success, phase::Phase, trial::State},
};

/// How good the verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    /// Good, with something to look at.
    Hint,
    Notice,
    Bad,
}

/// The verdict; an empty `next` asks for nothing.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) word: Word,
    pub(super) code: Option<Code>,
    pub(super) tone: Tone,
    pub(super) line: String,
    pub(super) reason: String,
    pub(super) next: String,
}

impl Verdict {
    fn new(
        (word, code): (Word, impl Into<Option<Code>>),
        tone: Tone,
        about: impl AsRef<str>,
        reason: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        let line = format!("{}: {}", word.text(), about.as_ref());
        Self { word, code: code.into(), tone, line, reason: reason.into(), next: next.into() }
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
pub(super) fn outcome(boot: &Status) -> &'static str {
    match boot.outcome {
        Outcome::Open(Open::NotRun) => "no run yet",
        Outcome::Open(Open::Running) => "not finished",
        Outcome::Succeeded(Success::Committed) => "applied and committed",
        Outcome::Succeeded(Success::Unchanged) if boot.has_returned() => {
            "in force already, its network came after a failed attempt"
        }
        Outcome::Succeeded(Success::Unchanged) if boot.is_repaired() => {
            "in force already, its profiles were activated again"
        }
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

/// The verdict on what was seen. The first question is whether the boot is held; a service that is down is named before
/// everything that follows from it.
pub(super) fn verdict(seen: &Seen<'_>) -> Verdict {
    let report = seen.report;
    let mut it = of_run_and_record(seen);
    // A trial at work may be the cause.
    let is_confirmed = report.trial.as_ref().is_some_and(|it| it.trial.state == State::Confirmed);
    let lacks_service = !matches!(it.word, Word::NoDocument | Word::Removed | Word::Trial)
        || (it.word == Word::Trial && is_confirmed);
    if let Some(down) = report.down.as_ref().filter(|_| lacks_service) {
        it.code = Some(code_of_service(down.service));
        if it.word != Word::Committed {
            it.reason = format!("{down}; {}", it.reason);
        }
        it.next = match (it.word, report.held) {
            (Word::Committed, false) => down.start.clone(),
            (_, true) => format!("{}; the service goes on by itself", down.start),
            (_, false) => format!("{}, then `dayone apply`", down.start),
        };
    }
    if report.held { waiting(seen, it) } else { it }
}

/// A boot that is held, whatever the record says.
fn waiting(seen: &Seen<'_>, it: Verdict) -> Verdict {
    let is_decided = matches!(it.tone, Tone::Notice | Tone::Bad);
    let reason = match is_decided {
        true => format!("{}; {}", it.line, it.reason),
        false => "no run of this boot has decided yet".to_owned(),
    };
    if seen.report.stays_held {
        return Verdict::new(
            (Word::Waiting, Code::HeldOnPurpose),
            Tone::Bad,
            "kubelet does not start: on-failure is \"hold\"",
            reason,
            format!(
                "{}; `systemctl stop dayone.service`, then `dayone rollback`, let the boot go on with \
                 the last good network",
                it.next
            ),
        );
    }
    let code = it.code.filter(|_| is_decided).unwrap_or(match seen.at_work {
        Some(_) => Code::AtWork,
        None => Code::NotRun,
    });
    let next = match it.next.is_empty() {
        true => "`systemctl status dayone.service dayone-bridge.service`".to_owned(),
        false => it.next,
    };
    Verdict::new((Word::Waiting, code), Tone::Bad, "kubelet does not start", reason, next)
}

/// The first question that has an answer decides: a run that is open or failed comes before the record, which knows
/// nothing of it.
fn of_run_and_record(seen: &Seen<'_>) -> Verdict {
    let Seen { report, record, .. } = seen;
    let boot = &report.boot;
    let subject = subject(seen);
    if let Some(open) = report.trial.as_ref().filter(|it| it.is_open()) {
        // A refusal by the next boot is told before that boot.
        return match (open.trial.state, &report.refused) {
            (State::Confirmed, Some(why)) => refused(&subject, why),
            _ => on_trial(open, seen.at_work.is_some()),
        };
    }
    if boot.outcome == Outcome::Open(Open::Running) {
        return running(seen, &subject);
    }
    let has_failed = matches!(boot.outcome, Outcome::Failed(_)) && !seen.is_back();
    if let Some(path) = &report.removed {
        // The automatic bridge takes its place: its failure is the news.
        if has_failed && boot.bridge.is_some() {
            return failed(boot, &subject);
        }
        return gone(seen, &path.display().to_string());
    }
    if boot.outcome == Outcome::Open(Open::NotRun) && (report.held || !report.in_force) {
        return Verdict::new(
            (Word::NotRun, Code::NotRun),
            Tone::Notice,
            format!("{subject} is not in force"),
            "dayone has not run in this boot",
            "`systemctl status dayone.service` shows what it waits for, or that it is disabled; \
             `dayone apply` puts the document in force now",
        );
    }
    if let Some(why) = &report.refused {
        return refused(&subject, why);
    }
    if let Some(digest) = &report.pending {
        // A later run, of the automatic bridge, has replaced the account of the failure.
        let failures = record.failures.as_ref().filter(|it| it.digest == *digest);
        let what = match boot.digest.as_deref() == Some(&*digest.to_string()) {
            true => "files of /etc/nmstate, which are applied with it, changed",
            false => "it changed",
        };
        let reason = match (failures, report.units.first()) {
            (Some(it), _) => {
                format!("it failed {} times; the last error: {}", it.count, it.last_error)
            }
            (None, Some(disabled)) => format!("{what} after this boot's run; {disabled}"),
            (None, None) => format!("{what} after this boot's run; the next boot applies it"),
        };
        return Verdict::new(
            (Word::Pending, Code::DocumentChanged),
            Tone::Notice,
            &subject,
            reason,
            "`dayone check` checks it, `dayone apply --dry-run` shows what it changes, `dayone \
             apply` puts it in force now",
        );
    }
    if has_failed || !report.in_force {
        return failed(boot, &subject);
    }
    if let Some(why) = &report.drift_unknown {
        let (about, reason) = match &report.down {
            Some(down) => {
                (format!("{subject}; {down}"), format!("{}; differences cannot be told", down.why))
            }
            None => (format!("{subject}; drift unknown"), why.clone()),
        };
        let next = "`systemctl status NetworkManager.service`";
        return Verdict::new(
            (Word::Committed, Code::Unreadable),
            Tone::Notice,
            about,
            reason,
            next,
        );
    }
    if !report.drift.is_empty() || !report.saved.is_empty() {
        return drifted(report, &subject);
    }
    in_force(seen, &subject)
}

/// A document that the next boot will not apply.
fn refused(subject: &str, why: &str) -> Verdict {
    Verdict::new(
        (Word::Refused, Code::DocumentRefused),
        Tone::Bad,
        subject,
        format!("the next boot will refuse it: {why}"),
        "correct the document; `dayone check` tells whether it is right",
    )
}

/// A document in force without a file that is this node's.
fn gone(seen: &Seen<'_>, path: &str) -> Verdict {
    let Seen { report, chosen, .. } = seen;
    let (about, next) = match report.is_anothers {
        true => (
            format!("{path} is not this node's under the name {}", chosen.hostname),
            "give the node its name back, or write the document of this name, then `dayone apply`",
        ),
        false => (
            format!("{path} is gone"),
            "write the document again, which `dayone export --last-good` prints, or a new one, then `dayone apply`",
        ),
    };
    Verdict::new(
        (Word::Removed, Code::DocumentGone),
        Tone::Bad,
        format!("{about}; its network stays"),
        &chosen.reason,
        format!(
            "{next}; the next boot makes the automatic br-ex where dayone-bridge.service is enabled"
        ),
    )
}

/// Verdict on a network that has everything of the document: the first thing that needs attention, now or at the next boot; else
/// good.
fn in_force(seen: &Seen<'_>, subject: &str) -> Verdict {
    let Seen { report, chosen, .. } = seen;
    let boot = &report.boot;
    let of_boot = match seen.is_back() {
        true => "another document failed, and this one is back",
        false => outcome(boot),
    };
    if let Some(why) = &report.silent {
        return Verdict::new(
            (Word::InForce, Code::GatewaySilent),
            Tone::Notice,
            format!("{subject}; no gateway answers"),
            format!("{why}; {of_boot}"),
            "`dayone probe` looks at the cable, the switch and the gateway: this node has everything \
             that the document asks for",
        );
    }
    if !report.units.is_empty() {
        return Verdict::new(
            (Word::InForce, Code::Disabled),
            Tone::Notice,
            format!("{subject}; disabled"),
            report.units.join("; "),
            "`systemctl unmask` and `systemctl enable` with these units; see dayone-runbook(7)",
        );
    }
    if let Some(migration) = report.mtu_migration.as_ref().filter(|it| it.is_below()) {
        return Verdict::new(
            (Word::InForce, Code::MtuMigration),
            Tone::Notice,
            format!("{subject}; its MTU is too small for the cluster"),
            migration.to_string(),
            migration.next(),
        );
    }
    if let Some(change) = &report.adopted {
        return Verdict::new(
            (Word::InForce, Code::ChangeAdopted),
            Tone::Hint,
            format!("{subject}; with an adopted change"),
            change.to_string(),
            "`dayone diff` shows it; `dayone rollback` puts the document's network back, `dayone adopt \
             --forget` makes it drift again",
        );
    }
    let in_force = |why: &str| {
        let reason = format!("{of_boot}; {why}");
        Verdict::new((Word::InForce, None), Tone::Good, subject, reason, "")
    };
    match (&chosen.document, &chosen.unmatched) {
        (Some(_), _) => in_force(&chosen.reason),
        (None, Some(unmatched)) => {
            let others = format!("files of other nodes only ({})", unmatched.files.len());
            let (word, about) = match report.bridge() {
                Some(_) => (Word::InForce, format!("{subject}; {others}")),
                None => (Word::NoDocument, others),
            };
            Verdict::new(
                (word, Code::OtherNodesDocuments),
                Tone::Hint,
                about,
                unmatched.to_string(),
                "if one is meant for this node, give it one of these names, then `dayone apply`",
            )
        }
        (None, None) if report.bridge().is_some() => in_force(&boot.reason),
        (None, None) => {
            Verdict::new((Word::NoDocument, None), Tone::Good, "nothing to do", &chosen.reason, "")
        }
    }
}

/// The document, or the automatic bridge.
fn subject(seen: &Seen<'_>) -> String {
    match (&seen.chosen.document, seen.report.bridge()) {
        (None, _) if seen.report.is_unread => "this node's document".to_owned(),
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
    let trial = |tone, about: String, reason: &str, next: &str| -> Verdict {
        Verdict::new((Word::Trial, Code::OnTrial), tone, about, reason, next)
    };
    match (open.trial.state, is_at_work) {
        (State::Applying | State::Waiting, false) => trial(
            Tone::Bad,
            format!("{document} is interrupted"),
            "its agent was killed; dayone-trial.service starts again by itself and undoes it",
            "`dayone apply` undoes it where dayone-trial.service is stopped",
        ),
        (State::Waiting, true) => trial(
            Tone::Notice,
            format!("{document}; {} s left", open.left.unwrap_or_default()),
            "it is applied, and the old network returns by itself unless it is confirmed",
            "`dayone confirm` keeps it until the next boot, `systemctl stop dayone-trial.service` \
             ends it now",
        ),
        (State::Confirmed, _) => trial(
            Tone::Notice,
            format!("{document} stays until the next boot"),
            "it is confirmed, and is not this node's document",
            "to keep it for good, make it this node's document; `dayone apply` ends it now",
        ),
        (State::RollBackFailed, _) => trial(
            Tone::Bad,
            format!("{document} is over, the old network is not back"),
            open.trial.reason.as_deref().unwrap_or_default(),
            "dayone-trial.service tries it again by itself, and so does `dayone apply`; see \
             dayone-runbook(7)",
        ),
        (State::Asked | State::Applying | State::Undone | State::Failed, _) => trial(
            Tone::Notice,
            format!("{document} is being applied"),
            &phase,
            "wait for its end; `journalctl --boot --follow --identifier=dayone` shows each phase",
        ),
    }
}

/// A run without an end: at work, or killed.
fn running(seen: &Seen<'_>, subject: &str) -> Verdict {
    let phase =
        seen.report.boot.phase.map_or_else(|| "it began".to_owned(), |it: Phase| it.to_string());
    match &seen.at_work {
        Some(holder) => Verdict::new(
            (Word::Running, Code::AtWork),
            Tone::Notice,
            subject,
            format!("{phase}; by {holder}"),
            "wait for its end; `journalctl --boot --follow --identifier=dayone` shows each phase",
        ),
        None => Verdict::new(
            (Word::Interrupted, Code::Interrupted),
            Tone::Bad,
            subject,
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
    let now = (!report.drift.is_empty())
        .then(|| format!("the current state lacks parts of it: {}", report.drift.join(", ")));
    let then = (!report.saved.is_empty()).then(|| {
        format!("the next activation of the saved profiles changes it: {}", report.saved.join(", "))
    });
    let code = if now.is_some() { Code::NetworkDiffers } else { Code::SavedProfileDiffers };
    let reason = now.into_iter().chain(then).collect::<Vec<_>>().join("; ");
    Verdict::new((Word::Drifted, code), Tone::Notice, subject, reason, next)
}

/// A failed run, whatever the record says of an earlier one, and a document that is not committed.
fn failed(boot: &Status, subject: &str) -> Verdict {
    let words = outcome(boot);
    let reason = match &boot.error {
        Some(error) if boot.outcome == Outcome::Failed(Fault::NotRecorded) => error.clone(),
        Some(error) => format!("{words}: {error}"),
        None => format!("it is not committed; this boot: {words}"),
    };
    let (word, about) = match (boot.outcome, boot.last_good_in_force) {
        (Outcome::Failed(Fault::NotRecorded), _) => {
            (Word::NotRecorded, format!("{subject} is in force"))
        }
        (_, true) => (
            Word::FellBack,
            format!("{subject} is not in force; the last good network carries the node"),
        ),
        (_, false) => (Word::NotInForce, subject.to_owned()),
    };
    let what = match (boot.outcome, &boot.bridge) {
        (Outcome::Failed(Fault::NotRecorded), _) => {
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
            "correct the document or what did not answer (`dayone probe` asks the wire), then \
             `dayone apply`; see dayone-runbook(7)"
        }
    };
    let next = boot.next.as_ref().map_or(what.to_owned(), |next| format!("{what}; {next}"));
    Verdict::new((word, code_of(boot)), Tone::Bad, about, reason, next)
}

fn code_of_service(service: Service) -> Code {
    match service {
        Service::OpenVswitch => Code::OpenVswitchDown,
        Service::NetworkManager => Code::NetworkManagerDown,
        Service::Bus => Code::BusDown,
    }
}

fn code_of(boot: &Status) -> Code {
    match boot.outcome {
        Outcome::Failed(Fault::NotRecorded) => Code::NotRecorded,
        Outcome::Failed(Fault::RolledBack) => Code::RolledBack,
        Outcome::Failed(Fault::RollBackFailed) => Code::RollBackFailed,
        Outcome::Failed(Fault::GivenUp) => Code::GivenUp,
        Outcome::Failed(Fault::Untouched) if boot.exit == Some(Exit::Input as u8) => {
            Code::DocumentRefused
        }
        Outcome::Failed(Fault::Untouched) => Code::Failed,
        Outcome::Open(_) | Outcome::Succeeded(_) => Code::NotRun,
    }
}

#[cfg(test)]
mod tests;
