//! `dayone trial`, run by dayone-trial.service: one transaction, whose commit waits for the confirmation.

use nmgen::chain;

use super::{Run, last_good::last_good_if_readable, marks, recover, refused, signals::Signals};
use crate::{
    document::{Document, check, service_files::ServiceFiles},
    durable::{self, record_file},
    error::{Error, Exit, Result},
    paths::Paths,
    status::{
        log::{Tone, console, message_id},
        progress::Progress,
        trial::{self, Trial, TrialError, TrialFile, TrialState},
    },
    transaction::{Change, DocumentChange, Failure, PhaseError},
    warn::OrWarn as _,
};

/// Carries out the trial that was asked for, or undoes one whose agent was killed.
pub(crate) async fn trial(paths: &Paths) -> Result {
    let stop = Signals::listen()?.stop;
    let mut run = Run::begin(paths, "trial", &stop).await;
    let done = carry_out(paths, &mut run).await;
    if let Ok(run) = run {
        marks::ended(paths);
        // The lock is held until the process ends.
        std::mem::forget(run);
    }
    done
}

async fn carry_out(paths: &Paths, run: &mut Result<Run<'_>>) -> Result {
    // Read under the lock: another trial may have been asked for meanwhile.
    let asked = asked(paths).inspect_err(refused)?;
    let state = asked.state;
    if matches!(state, TrialState::Confirmed | TrialState::Undone | TrialState::Failed) {
        return Ok(());
    }
    let file = TrialFile::new(paths, asked);
    let done = match run {
        Ok(run) => {
            let account = file.clone();
            run.progress = Progress::new(move |phase, _| {
                account.update(|account| account.phase = Some(phase));
            });
            if state == TrialState::Asked {
                Box::pin(apply(run, &file)).await
            } else {
                Box::pin(undo(run)).await
            }
        }
        Err(_) if state == TrialState::Asked => Err(TrialError::NoTurn.into()),
        Err(_) => Err(Error::TrialStays(Box::new(TrialError::NoTurn.into()))),
    };
    end(paths, &file, &done);
    done
}

fn asked(paths: &Paths) -> Result<Trial> {
    Ok(Trial::load(paths)?.ok_or(TrialError::None)?)
}

/// Applies the document, and returns when it is confirmed.
async fn apply(run: &Run<'_>, file: &TrialFile) -> Result {
    // A confirmed trial goes back first: each one begins from the network before it.
    let record = recover::online(run).await?;
    file.update(|file| file.state = TrialState::Applying);
    let path = file.get().document;
    let document = Document { path, ..Document::read(run.paths.trial_document())? };
    let parsed = check::check(&document)?;
    let network = run.connect().await?;
    // As for a document of this node: leftovers of an unreadable last good document stay.
    let previous = last_good_if_readable(&record);
    let change = DocumentChange {
        document: &document,
        parsed: &parsed,
        service_files: &ServiceFiles::none_due(Vec::new()),
        previous: previous.as_ref(),
    };
    Ok(run.transact(&network, &Change::Trial(change, file)).await?)
}

/// Undoes the trial of a killed agent. Any failure is one to repeat.
async fn undo(run: &Run<'_>) -> Result {
    recover::online(run).await.map_err(|error| Error::TrialStays(Box::new(error)))?;
    // It may have been killed before it had a journal.
    trial::undone(run.paths);
    Ok(asked(run.paths)?.result()?)
}

/// Tells the end: in the trial's account, the history, the journal and on the console.
fn end(paths: &Paths, file: &TrialFile, done: &Result) {
    let before = file.get().state;
    // The undo of a killed agent's trial is told where it is done, in the recovery.
    let is_told = matches!(done, Err(Error::Trial(_)));
    let error = done.as_ref().err();
    let reason = error.map(reason);
    let tone = if error.is_none() { Tone::Good } else { Tone::Bad };
    let (state, id, history, text) = end_of(error);
    file.update(|file| {
        file.state = state;
        file.reason.clone_from(&reason);
    });
    durable::remove(&paths.trial_document()).or_warn();
    let trial = file.get();
    let document = trial.document.as_path();
    let text = format!("{} {text}{}", document.display(), reason.as_deref().unwrap_or_default());
    tracing::warn!(
        message_id = (!is_told).then_some(id),
        dayone_document = %document.display(),
        dayone_digest = %trial.digest,
        dayone_exit = error.map_or(Exit::Done, Error::exit) as u8,
        "{text}"
    );
    console(tone, &[text]);
    // A roll back that fails again and again must not displace the history of others.
    if let Some(outcome) = history.filter(|_| state != before && !is_told) {
        let why = reason.as_deref().filter(|reason| !reason.is_empty());
        record_file::append(paths, &trial.digest, document, outcome, why)
            .or_warn_of("the history is incomplete");
    }
}

/// Returns the state, the journal's `MESSAGE_ID`, the word of the history and the line to which the reason is added. The history
/// has no line of a trial that changed nothing.
fn end_of(error: Option<&Error>) -> (TrialState, &'static str, Option<&'static str>, &'static str) {
    match error.map(Error::exit) {
        None => (
            TrialState::Confirmed,
            message_id::TRIAL_CONFIRMED,
            Some("trial-confirmed"),
            "is confirmed: it stays until the next boot or run of dayone",
        ),
        Some(Exit::RolledBack) => (
            TrialState::Undone,
            message_id::TRIAL_UNDONE,
            Some("trial-undone"),
            "was on trial; the old network is back: ",
        ),
        Some(Exit::RollBackFailed) => (
            TrialState::RollBackFailed,
            message_id::TRIAL_STAYS,
            Some("trial-roll-back-failed"),
            "was on trial; the old network is NOT back: ",
        ),
        Some(Exit::Done | Exit::Machine | Exit::Input) => (
            TrialState::Failed,
            message_id::TRIAL_FAILED,
            None,
            "is not on trial, nothing was changed: ",
        ),
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
        | PhaseError::Unproved(_)
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
                TrialState::Undone,
                "no confirmation came within 60 s",
            ),
            (
                rolled_back(Phase::Confirm, PhaseError::Stopped),
                TrialState::Undone,
                "waiting for the confirmation was stopped",
            ),
            (
                rolled_back(Phase::Probe, PhaseError::Probes(Vec::new())),
                TrialState::Undone,
                "probing the new network: ",
            ),
            (
                TrialError::Undone { document: document(), reason: killed.clone() }.into(),
                TrialState::Undone,
                &killed,
            ),
            (
                Error::TrialStays(Box::new(Error::Stopped)),
                TrialState::RollBackFailed,
                "the trial cannot be undone: stopped; nothing was changed",
            ),
            (Error::Stopped, TrialState::Failed, "stopped; nothing was changed"),
        ] {
            assert_eq!((end_of(Some(&error)).0, &*reason(&error)), (state, text));
        }
    }
}
