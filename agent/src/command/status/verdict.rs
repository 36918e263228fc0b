//! The verdict of `dayone status`: one decision, from which come the first lines of the page, the words for programs and
//! the exit code.

mod table;

pub(crate) use self::table::{Code, GracePeriod, Tone, Verdict};
use super::{
    next_boot,
    report::{NodeStatus, StatusReport, TrialReport},
};
use crate::{
    error::{Error, Exit, Result},
    model::facts::StoppedService,
    network::causes::Cause,
    status::{Fault, Open, Outcome, Status, Success, phase::Phase, trial::TrialState},
};

/// A verdict with its texts; an empty `next` asks for nothing.
#[derive(Debug)]
pub(crate) struct Assessment {
    pub(crate) verdict: Verdict,
    pub(crate) code: Option<Code>,
    pub(crate) line: String,
    pub(crate) reason: String,
    pub(super) next: String,
}

impl Assessment {
    fn new(
        verdict: Verdict,
        about: impl AsRef<str>,
        reason: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        let row = verdict.row();
        let line = format!("{}: {}", row.word, about.as_ref());
        Self { verdict, code: row.code, line, reason: reason.into(), next: next.into() }
    }

    /// An error unless this node's network is in force, or it needs none.
    pub(super) fn result(self) -> Result {
        match self.verdict.row().is_good() {
            true => Ok(()),
            false => Err(Error::NotInForce { line: self.line, reason: self.reason }),
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

/// Returns the verdict on a node. The first question is whether the boot is held; a service that is down is named before
/// everything that follows from it.
pub(super) fn assess(node: &NodeStatus) -> Assessment {
    let report = &node.report;
    let own = of_run_and_record(node);
    let mut assessment = match report.trial.as_ref().filter(|trial| trial.is_open()) {
        // A refusal by the next boot is told before that boot.
        Some(open) => match (open.trial.state, &report.refused) {
            (TrialState::Confirmed, Some(why)) => refused(&subject(node), why),
            _ => on_trial(open, node.at_work.is_some()),
        },
        None => own,
    };
    // A trial at work may be the cause.
    let needs_none = matches!(
        assessment.verdict,
        Verdict::NoDocument | Verdict::OthersDocuments | Verdict::Removed
    );
    let is_on_trial = matches!(assessment.verdict, Verdict::OnTrial | Verdict::TrialFailed);
    let is_confirmed =
        report.trial.as_ref().is_some_and(|trial| trial.trial.state == TrialState::Confirmed);
    let lacks_service = !needs_none && (!is_on_trial || is_confirmed);
    if let Some(down) = report.down.as_ref().filter(|_| lacks_service) {
        assessment.code = Some(match down.service {
            StoppedService::OpenVswitch => Code::OpenVswitchDown,
            StoppedService::NetworkManager => Code::NetworkManagerDown,
            StoppedService::Bus => Code::BusDown,
        });
        if assessment.verdict != Verdict::Unreadable {
            assessment.reason = format!("{down}; {}", assessment.reason);
        }
        assessment.next = match (assessment.verdict, report.held) {
            (Verdict::Unreadable, false) => down.start.clone(),
            (_, true) => format!(
                "{}; the service goes on by itself, and kubelet by `systemctl start kubelet` if its \
                 start has failed",
                down.start
            ),
            (_, false) => format!("{}, then `dayone apply`", down.start),
        };
        if assessment.verdict == Verdict::OnTrial {
            assessment.verdict = Verdict::TrialDown;
        }
    }
    let assessment =
        if report.held { waiting(node, assessment) } else { before_its_turn(node, assessment) };
    with_causes(assessment, &report.causes)
}

/// A boot that is not held yet: the agent's unit waits for another one, and kubelet for it.
fn before_its_turn(node: &NodeStatus, assessment: Assessment) -> Assessment {
    let Some(turn) = &node.report.turn else { return assessment };
    let has_not_begun = matches!(
        assessment.verdict,
        Verdict::NoDocument | Verdict::OthersDocuments | Verdict::NotRun
    );
    if !has_not_begun {
        return assessment;
    }
    let next = "`systemctl list-jobs` has every unit that waits, `systemctl status` of the unit before it says why";
    let held = Assessment::new(Verdict::HeldByRun, "kubelet does not start", turn, next);
    Assessment { code: Some(Code::NotRun), ..held }
}

/// Names the causes before what follows from them, and what mends the first one before anything else.
fn with_causes(mut assessment: Assessment, causes: &[Cause]) -> Assessment {
    let Some(first) = causes.first() else { return assessment };
    if assessment.verdict.has_no_network() {
        let named: Vec<&str> = causes.iter().map(|cause| cause.what.as_str()).collect();
        assessment.reason = format!("{}; {}", named.join("; "), assessment.reason);
        assessment.next = format!("{}; {}", first.remedy, assessment.next);
    }
    assessment
}

/// A boot that is held, whatever the record says.
fn waiting(node: &NodeStatus, assessment: Assessment) -> Assessment {
    let is_decided = !assessment.verdict.row().is_good();
    let reason = match is_decided {
        true => format!("{}; {}", assessment.line, assessment.reason),
        false => "no run of this boot has decided yet".to_owned(),
    };
    if node.report.stays_held {
        return Assessment::new(
            Verdict::HeldOnPurpose,
            "kubelet does not start: on-failure is \"hold\"",
            reason,
            format!(
                "{}; `systemctl stop dayone.service`, then `dayone rollback`, let the boot go on with \
                 the last good network",
                assessment.next
            ),
        );
    }
    // A document that has changed since this boot's run has a run ahead.
    let is_over = is_decided && assessment.verdict != Verdict::Pending;
    let code = assessment.code.filter(|_| is_over).unwrap_or(match node.at_work {
        Some(_) => Code::AtWork,
        None => Code::NotRun,
    });
    let next = match assessment.next.is_empty() {
        true => "`systemctl status dayone.service dayone-bridge.service`".to_owned(),
        false => assessment.next,
    };
    let waits_for_a_run = matches!(code, Code::AtWork | Code::NotRun);
    let verdict = if waits_for_a_run { Verdict::HeldByRun } else { Verdict::Held };
    let held = Assessment::new(verdict, "kubelet does not start", reason, next);
    Assessment { code: Some(code), ..held }
}

/// The first question that has an answer decides: a run that is open or failed comes before the record, which knows
/// nothing of it.
fn of_run_and_record(node: &NodeStatus) -> Assessment {
    let NodeStatus { report, record, .. } = node;
    let boot = &report.boot;
    let subject = subject(node);
    if boot.outcome == Outcome::Open(Open::Running) {
        return running(node, &subject);
    }
    let has_failed = matches!(boot.outcome, Outcome::Failed(_)) && !node.is_back();
    if let Some(path) = &report.removed {
        // The automatic bridge takes its place: its failure is the news.
        if has_failed && boot.bridge.is_some() {
            return failed(boot, &subject);
        }
        return gone(node, &path.display().to_string());
    }
    if boot.outcome == Outcome::Open(Open::NotRun) && (report.held || !report.in_force) {
        return Assessment::new(
            Verdict::NotRun,
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
        let failures = record.known_failures(digest);
        let what = match boot.digest.as_deref() == Some(&*digest.to_string()) {
            true => "files of /etc/nmstate, which are applied with it, changed",
            false => "it changed",
        };
        let failed = failures.map(|failures| failures.in_words(""));
        if boot.last_good_in_force
            && let Some(reason) = failed
        {
            return Assessment::new(
                Verdict::FellBack,
                format!("{subject} is not in force; the last good network carries the node"),
                reason,
                "correct the document; `dayone check` reports whether it is right, and the next boot \
                 tries it once",
            );
        }
        let reason = match (failed, report.units.first()) {
            (Some(failed), _) => failed,
            (None, Some(disabled)) => format!("{what} after this boot's run; {disabled}"),
            (None, None) => format!("{what} after this boot's run; the next boot applies it"),
        };
        return Assessment::new(
            Verdict::Pending,
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
        return Assessment::new(Verdict::Unreadable, about, reason, next);
    }
    if !report.drift.is_empty() || !report.saved.is_empty() {
        return drifted(report, &subject);
    }
    in_force(node, &subject)
}

/// A document that the next boot will not apply.
fn refused(subject: &str, why: &str) -> Assessment {
    Assessment::new(
        Verdict::Refused,
        subject,
        format!("the next boot will refuse it: {why}"),
        "correct the document; `dayone check` reports whether it is right",
    )
}

/// A document in force without a file that is this node's.
fn gone(node: &NodeStatus, path: &str) -> Assessment {
    let NodeStatus { report, chosen, .. } = node;
    let (about, next) = match report.is_anothers {
        true => (
            format!("{path} is not this node's under the name {}", chosen.hostname),
            "give the node its name back, or write the document of this name, then `dayone apply`",
        ),
        false => (
            match path.ends_with("/applied") {
                // The record is lost, and with it the file's name.
                true => format!("the file of the document in {path} is gone"),
                false => format!("{path} is gone"),
            },
            "write the document again, which `dayone export --last-good` prints, or a new one, then `dayone apply`",
        ),
    };
    Assessment::new(
        Verdict::Removed,
        format!("{about}; its network stays"),
        &chosen.reason,
        format!(
            "{next}; the next boot makes the automatic br-ex where dayone-bridge.service is enabled"
        ),
    )
}

/// Verdict on a network that has everything of the document: the first thing that needs attention, now or at the next boot; else
/// good.
fn in_force(node: &NodeStatus, subject: &str) -> Assessment {
    let NodeStatus { report, chosen, .. } = node;
    let boot = &report.boot;
    let of_boot = match node.is_back() {
        true => "another document failed, and this one is back",
        false => outcome(boot),
    };
    if let Some(why) = &report.silent {
        return Assessment::new(
            Verdict::GatewaySilent,
            format!("{subject}; no gateway answers"),
            format!("{why}; {of_boot}"),
            match report.adopted {
                None => {
                    "`dayone probe` asks the cable, the switch and the gateway: this node has \
                     everything that the document asks for"
                }
                Some(_) => {
                    "`dayone diff` shows the adopted change, `dayone rollback` puts the document's \
                     network back; `dayone probe` asks the cable, the switch and the gateway"
                }
            },
        );
    }
    if !report.units.is_empty() {
        return Assessment::new(
            Verdict::UnitsDisabled,
            format!("{subject}; disabled"),
            report.units.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            next_boot::remedy(&report.units),
        );
    }
    if let Some(migration) = report.mtu_migration.as_ref().filter(|migration| migration.is_below())
    {
        return Assessment::new(
            Verdict::MtuTooSmall,
            format!("{subject}; its MTU is too small for the cluster"),
            migration.to_string(),
            migration.next(),
        );
    }
    if !boot.unproved.is_empty() {
        return Assessment::new(
            Verdict::Unproved,
            format!("{subject}; without an answer of {}", boot.unproved.join(", ")),
            format!(
                "it answered earlier in this boot, and no network of this node had an answer since; {of_boot}"
            ),
            "`dayone probe` looks at the way there; `dayone apply` takes this back",
        );
    }
    if !report.missing_families.is_empty() {
        let families: Vec<String> =
            report.missing_families.iter().map(ToString::to_string).collect();
        return Assessment::new(
            Verdict::FamilyMissing,
            format!("{subject}; without {}", families.join(" and ")),
            format!(
                "the network had it at the commit, and nothing gives it now: kubelet registers with the other family; {of_boot}"
            ),
            "`dayone probe` asks the gateways; where the family is gone for good, take it out of the document",
        );
    }
    if let Some(change) = &report.adopted {
        return Assessment::new(
            Verdict::ChangeAdopted,
            format!("{subject}; with an adopted change"),
            change.to_string(),
            "`dayone diff` shows it; `dayone rollback` puts the document's network back, `dayone adopt \
             --forget` makes it drift again",
        );
    }
    let in_force = |why: &str| {
        let reason = format!("{of_boot}; {why}");
        Assessment::new(Verdict::InForce, subject, reason, "")
    };
    match (&chosen.document, &chosen.unmatched) {
        (Some(_), _) => in_force(&chosen.reason),
        (None, Some(unmatched)) => {
            let others = format!("files of other nodes only ({})", unmatched.files.len());
            let (verdict, about) = match report.bridge() {
                Some(_) => (Verdict::BesideOthers, format!("{subject}; {others}")),
                None => (Verdict::OthersDocuments, others),
            };
            Assessment::new(
                verdict,
                about,
                unmatched.to_string(),
                "if one is meant for this node, give it one of these names, then `dayone apply`",
            )
        }
        (None, None) if report.bridge().is_some() => in_force(&boot.reason),
        (None, None) => {
            let about_br_ex = match report.awaits_kubelet {
                true => {
                    "; br-ex is made when kubelet starts: ovs-configuration.service starts \
                     dayone-bridge.service"
                }
                false => "",
            };
            Assessment::new(
                Verdict::NoDocument,
                "nothing to do",
                format!("{}{about_br_ex}", chosen.reason),
                "a document of this node goes to /etc/nmstate/openshift; `dayone export` writes one \
                 of the network that is there",
            )
        }
    }
}

/// The document, or the automatic bridge.
fn subject(node: &NodeStatus) -> String {
    match (&node.chosen.document, node.report.bridge()) {
        (None, _) if node.report.is_unread => "this node's document".to_owned(),
        (Some(document), _) => document.path.display().to_string(),
        (None, Some(bridge)) => format!("br-ex on {}", bridge.uplink),
        (None, None) if node.report.boot.bridge.is_some() => "br-ex".to_owned(),
        (None, None) => "this node's network".to_owned(),
    }
}

/// A trial whose network is, or may be, the node's.
fn on_trial(open: &TrialReport, is_at_work: bool) -> Assessment {
    let document = open.trial.document.display();
    let phase = open.trial.phase.map_or_else(|| "it begins".to_owned(), |phase| phase.to_string());
    match (open.trial.state, is_at_work) {
        (TrialState::Applying | TrialState::Waiting, false) => Assessment::new(
            Verdict::TrialFailed,
            format!("{document} is interrupted"),
            "its agent was killed; dayone-trial.service starts again by itself and undoes it",
            "`dayone apply` undoes it where dayone-trial.service is stopped",
        ),
        (TrialState::Waiting, true) => Assessment::new(
            Verdict::OnTrial,
            format!("{document}; {} s left", open.left.unwrap_or_default()),
            "it is applied, and the old network returns by itself unless it is confirmed",
            "`dayone confirm` keeps it until the next boot, `systemctl stop dayone-trial.service` \
             ends it now",
        ),
        (TrialState::Confirmed, _) => Assessment::new(
            Verdict::OnTrial,
            format!("{document} stays until the next boot"),
            "it is confirmed, and is not this node's document",
            "to keep it for good, make it this node's document; `dayone apply` ends it now",
        ),
        (TrialState::RollBackFailed, _) => Assessment::new(
            Verdict::TrialFailed,
            format!("{document} is over, the old network is not back"),
            open.trial.reason.as_deref().unwrap_or_default(),
            "dayone-trial.service tries it again by itself, and so does `dayone apply`; see \
             dayone-runbook(7)",
        ),
        (TrialState::Asked | TrialState::Applying | TrialState::Undone | TrialState::Failed, _) => {
            Assessment::new(
                Verdict::OnTrial,
                format!("{document} is being applied"),
                phase,
                "wait for its end; `journalctl --boot --follow --identifier=dayone` shows each phase",
            )
        }
    }
}

/// A run without an end: at work, or killed.
fn running(node: &NodeStatus, subject: &str) -> Assessment {
    let phase = node
        .report
        .boot
        .phase
        .map_or_else(|| "it began".to_owned(), |phase: Phase| phase.to_string());
    let boot = &node.report.boot;
    let before = boot.failed_before.as_ref().map_or_else(String::new, |error| {
        format!("; this is attempt {}, and the one before failed: {error}", boot.attempt)
    });
    match &node.at_work {
        Some(holder) => Assessment::new(
            Verdict::Running,
            subject,
            format!("{phase}; by {holder}{before}"),
            "wait for its end; `journalctl --boot --follow --identifier=dayone` shows each phase",
        ),
        None => {
            // After the boot is decided no service starts again.
            let next = match node.report.held {
                true => {
                    "dayone.service starts again by itself and undoes what is left; `dayone apply` \
                     does it where the service is stopped"
                }
                false => {
                    "`dayone apply` undoes what is left and puts the document in force, `dayone \
                     recover` undoes it only"
                }
            };
            let reason =
                format!("the run ended without an account, the last phase: {phase}{before}");
            Assessment::new(Verdict::Interrupted, subject, reason, next)
        }
    }
}

fn drifted(report: &StatusReport, subject: &str) -> Assessment {
    let next = match report.boot.bridge {
        None => {
            "`dayone diff` shows the difference, `dayone rollback` puts the document's network back, \
             `dayone adopt` keeps the difference"
        }
        Some(_) => "`dayone diff` shows the difference, `dayone bridge` makes br-ex again",
    };
    let now = (!report.drift.is_empty())
        .then(|| format!("the current state lacks parts of it: {}", report.drift.join(", ")));
    let then = (!report.saved.is_empty()).then(|| {
        format!("the next activation of the saved profiles changes it: {}", report.saved.join(", "))
    });
    let verdict = if now.is_some() { Verdict::NetworkDrifted } else { Verdict::ProfilesDrifted };
    let reason = now.into_iter().chain(then).collect::<Vec<_>>().join("; ");
    Assessment::new(verdict, subject, reason, next)
}

/// A failed run, whatever the record says of an earlier one, and a document that is not committed.
fn failed(boot: &Status, subject: &str) -> Assessment {
    let words = outcome(boot);
    let reason = match &boot.error {
        // Any other error says itself how the run has ended.
        Some(error) if boot.outcome == Outcome::Failed(Fault::Untouched) => {
            format!("{words}: {error}")
        }
        Some(error) => error.clone(),
        None => format!("it is not committed; this boot: {words}"),
    };
    let (verdict, about) = match (boot.outcome, boot.last_good_in_force) {
        (Outcome::Failed(Fault::NotRecorded), _) => {
            (Verdict::NotRecorded, format!("{subject} is in force"))
        }
        (_, true) => (
            Verdict::FellBack,
            format!("{subject} is not in force; the last good network carries the node"),
        ),
        (_, false) => (Verdict::NotInForce, subject.to_owned()),
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
            "correct the document; `dayone check` reports whether it is right"
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
    let failed = Assessment::new(verdict, about, reason, next);
    Assessment { code: Some(code_of(boot)), ..failed }
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
