//! A trial: the verdict while the network is the trial's, and the line about one that is over.

use super::{
    report::{Seen, Tried},
    verdict::{Tone, Verdict},
};
use crate::status::trial::State;

/// The verdict, where a trial is open.
pub(super) fn verdict(seen: &Seen<'_>) -> Option<Verdict> {
    let tried = seen.report.trial.as_ref().filter(|it| it.is_open())?;
    let document = tried.trial.document.display();
    let dead = "its agent was killed; dayone-trial.service starts again by itself and undoes it";
    let phase = tried.trial.phase.map_or_else(|| "it begins".to_owned(), |it| it.to_string());
    Some(match (tried.trial.state, &seen.at_work) {
        (State::Applying | State::Waiting, None) => Verdict::new(
            Tone::Bad,
            format!("TRIAL: {document} is interrupted"),
            dead,
            "`dayone apply` undoes it where dayone-trial.service is stopped",
        ),
        (State::Waiting, Some(_)) => Verdict::new(
            Tone::Notice,
            format!("TRIAL: {document}; {} s left", tried.left.unwrap_or_default()),
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
            tried.trial.reason.clone().unwrap_or_default(),
            "dayone-trial.service tries it again by itself, and so does `dayone apply`; see \
             dayone-runbook(7)",
        ),
        (State::Asked | State::Applying | State::Undone | State::Failed, _) => Verdict::new(
            Tone::Notice,
            format!("TRIAL: {document} is being applied"),
            phase,
            "wait for its end; `journalctl --boot --follow --identifier=dayone` shows each phase",
        ),
    })
}

/// The state of a trial in words.
pub(super) fn state(tried: &Tried) -> String {
    let document = tried.trial.document.display();
    let reason = tried.trial.reason.as_deref().unwrap_or_default();
    match tried.trial.state {
        State::Asked => format!("{document}, not begun"),
        State::Applying => format!("{document}, being applied"),
        State::Waiting => {
            format!("{document}, {} s left", tried.left.unwrap_or_default())
        }
        State::Confirmed => format!("{document}, confirmed until the next boot"),
        State::Undone => format!("{document}, over, the old network is back: {reason}"),
        State::Failed => format!("{document}, failed, nothing was changed: {reason}"),
        State::RollBackFailed => {
            format!("{document}, over, the old network is not back: {reason}")
        }
    }
}
