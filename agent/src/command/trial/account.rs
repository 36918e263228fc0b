//! The end of a trial, told: its account, the history, the journal, the console.

use nmgen::chain;

use crate::{
    durable::{self, record},
    error::{Error, Exit},
    paths::Paths,
    status::{
        log::{Tone, console, message_id},
        trial::{State, Trial, TrialError, TrialFile},
    },
    transaction::{Failure, PhaseError},
};

/// Tells the end of a run of dayone-trial.service.
pub(super) fn end(paths: &Paths, file: &TrialFile, done: &Result<(), Error>) {
    let before = file.get().state;
    // The undo of a killed agent's trial is told where it is done, in the recovery.
    let is_told = matches!(done, Err(Error::Trial(_)));
    let (state, reason) = match done {
        Ok(()) => (State::Confirmed, None),
        Err(error) => (state_of(error), Some(reason(error))),
    };
    file.update(|it| {
        it.state = state;
        it.reason.clone_from(&reason);
    });
    if let Err(error) = durable::remove(&paths.trial_document()) {
        tracing::warn!("{}", chain(&error));
    }
    let trial = file.get();
    let document = trial.document.as_path();
    let reason = reason.unwrap_or_default();
    let (id, tone, text) = match state {
        State::Confirmed => {
            let text = "is confirmed: it stays until the next boot or run of dayone".to_owned();
            (message_id::TRIAL_CONFIRMED, Tone::Good, text)
        }
        State::Undone => {
            let text = format!("was on trial; the old network is back: {reason}");
            (message_id::TRIAL_UNDONE, Tone::Bad, text)
        }
        State::RollBackFailed => {
            let text = format!("was on trial; the old network is NOT back: {reason}");
            (message_id::TRIAL_STAYS, Tone::Bad, text)
        }
        State::Failed | State::Asked | State::Applying | State::Waiting => {
            let text = format!("is not on trial, nothing was changed: {reason}");
            (message_id::TRIAL_FAILED, Tone::Bad, text)
        }
    };
    let text = format!("{} {text}", document.display());
    tracing::warn!(
        message_id = (!is_told).then_some(id),
        dayone_document = %document.display(),
        dayone_digest = %trial.digest,
        dayone_exit = done.as_ref().map_or_else(Error::exit, |()| Exit::Done) as u8,
        "{text}"
    );
    console(tone, &[text]);
    // A roll back that fails again and again must not displace the history of others.
    if state != before && !is_told {
        note(paths, &trial, &reason);
    }
}

/// A line of history.
fn note(paths: &Paths, trial: &Trial, reason: &str) {
    let outcome = match trial.state {
        State::Confirmed => "trial-confirmed",
        State::Undone => "trial-undone",
        State::RollBackFailed => "trial-roll-back-failed",
        State::Failed | State::Asked | State::Applying | State::Waiting => return,
    };
    let why = Some(reason).filter(|reason| !reason.is_empty());
    let noted = record::append(paths, &trial.digest, &trial.document, outcome, why);
    if let Err(error) = noted {
        tracing::warn!("the history is incomplete: {}", chain(&error));
    }
}

fn state_of(error: &Error) -> State {
    match error.exit() {
        Exit::RolledBack => State::Undone,
        Exit::RollBackFailed => State::RollBackFailed,
        Exit::Done | Exit::Machine | Exit::Input => State::Failed,
    }
}

/// The cause, without the layers that every trial has.
fn reason(error: &Error) -> String {
    if let Error::Trial(TrialError::Undone { reason, .. }) = error {
        return reason.clone();
    }
    let Error::Transaction(Failure::RolledBack { phase, source }) = error else {
        return chain(error);
    };
    let cause = chain(&**source);
    match **source {
        PhaseError::NotConfirmed { .. } => cause,
        PhaseError::Stopped | PhaseError::TimedOut(_) => format!("{phase} {cause}"),
        PhaseError::Network(_)
        | PhaseError::File(_)
        | PhaseError::State(_)
        | PhaseError::ServiceFile { .. }
        | PhaseError::Probes(_)
        | PhaseError::Request(_)
        | PhaseError::RollBackSteps { .. } => format!("{phase}: {cause}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::phase::Phase;

    fn rolled_back(phase: Phase, source: PhaseError) -> Error {
        Error::Transaction(Failure::RolledBack { phase, source: Box::new(source) })
    }

    #[test]
    fn an_end_has_its_cause_and_its_state() {
        let document = || "/root/new.yml".into();
        let killed = "its agent was killed".to_owned();
        for (error, state, text) in [
            (
                rolled_back(Phase::Confirm, PhaseError::NotConfirmed { seconds: 60 }),
                State::Undone,
                "no confirmation came within 60 s",
            ),
            (
                rolled_back(Phase::Confirm, PhaseError::Stopped),
                State::Undone,
                "waiting for the confirmation was stopped by a signal",
            ),
            (
                rolled_back(Phase::Probe, PhaseError::Probes(Vec::new())),
                State::Undone,
                "probing the new network: ",
            ),
            (
                TrialError::Undone { document: document(), reason: killed.clone() }.into(),
                State::Undone,
                &killed,
            ),
            (
                Error::TrialStays(Box::new(Error::Stopped)),
                State::RollBackFailed,
                "the trial cannot be undone: stopped by a signal; nothing was changed",
            ),
            (Error::Stopped, State::Failed, "stopped by a signal; nothing was changed"),
        ] {
            assert_eq!((state_of(&error), &*reason(&error)), (state, text));
        }
    }
}
