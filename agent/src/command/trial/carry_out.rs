//! `dayone trial`, run by dayone-trial.service: one transaction, whose commit waits for the confirmation.

use tokio::sync::watch;

use nmgen::chain;

use crate::{
    command::{
        last_good::last_good_state, outcome, recover, signals::Signals, trial::account, turn::Turn,
    },
    document::{Document, check, service_files::ServiceFiles},
    error::Error,
    network::real::RealNetwork,
    paths::Paths,
    settings::Settings,
    status::{
        progress::Progress,
        trial::{self, State, Trial, TrialError, TrialFile},
    },
    transaction::{Change, DocumentChange, Probed, Transaction},
};

/// Carries out the trial that was asked for, or undoes one whose agent was killed.
pub(crate) async fn trial(paths: &Paths) -> Result<(), Error> {
    let stop = Signals::listen()?.stop;
    let turn = Turn::wait(paths, "trial", &stop).await;
    // Read under the lock: another trial may have been asked for meanwhile.
    let asked = asked(paths).inspect_err(outcome::refused)?;
    let state = asked.state;
    if matches!(state, State::Confirmed | State::Undone | State::Failed) {
        return Ok(());
    }
    let file = TrialFile::new(paths, asked);
    let done = match &turn {
        Ok(turn) => carry_out(paths, turn, &file, stop).await,
        Err(_) if state == State::Asked => Err(TrialError::NoTurn.into()),
        Err(_) => Err(Error::TrialStays(Box::new(TrialError::NoTurn.into()))),
    };
    account::end(paths, &file, &done);
    if let Ok(turn) = turn {
        turn.keep();
    }
    done
}

fn asked(paths: &Paths) -> Result<Trial, Error> {
    Ok(Trial::load(paths)?.ok_or(TrialError::None)?)
}

async fn carry_out(
    paths: &Paths,
    turn: &Turn,
    file: &TrialFile,
    stop: watch::Receiver<bool>,
) -> Result<(), Error> {
    let told = file.clone();
    let progress = &Progress::new(move |phase, _| told.update(|it| it.phase = Some(phase)));
    let run = Run { paths, settings: &turn.settings, file, progress, stop };
    if file.get().state != State::Asked {
        return Box::pin(run.undo()).await;
    }
    // The turn has the defaults in place of unusable settings: right for an undo alone.
    let _usable = Settings::load(paths)?;
    Box::pin(run.apply()).await
}

struct Run<'a> {
    paths: &'a Paths,
    settings: &'a Settings,
    file: &'a TrialFile,
    progress: &'a Progress,
    stop: watch::Receiver<bool>,
}

impl Run<'_> {
    /// Applies the document, and returns when it is confirmed.
    async fn apply(&self) -> Result<(), Error> {
        let (paths, settings, progress) = (self.paths, self.settings, self.progress);
        // A confirmed trial goes back first: each one begins from the network before it.
        recover::online(paths, settings, progress, self.stop.clone()).await?;
        self.file.update(|it| it.state = State::Applying);
        let path = self.file.get().document;
        let document = Document { path, ..Document::read(paths.trial_document())? };
        let parsed = check::check(&document)?;
        let network = RealNetwork::connect(paths, &settings.wait).await?;
        // As for a document of this node: leftovers of an unreadable last good document stay.
        let previous = last_good_state(paths).unwrap_or_else(|error| {
            tracing::warn!("{}", chain(&error));
            None
        });
        let change = DocumentChange {
            document: &document,
            parsed: &parsed,
            service_files: &ServiceFiles::none_due(Vec::new()),
            previous: previous.as_ref(),
        };
        let stop = self.stop.clone();
        let transaction = Transaction { network: &network, paths, settings, progress, stop };
        let change = Change::Trial(change, self.file);
        Ok(transaction.run(&change, &mut Probed::default()).await?)
    }

    /// Undoes the trial of a killed agent. Any failure is one to repeat.
    async fn undo(&self) -> Result<(), Error> {
        let (paths, settings) = (self.paths, self.settings);
        let undone = recover::online(paths, settings, self.progress, self.stop.clone()).await;
        undone.map_err(|error| Error::TrialStays(Box::new(error)))?;
        // It may have been killed before it had a journal.
        trial::undone(paths);
        let trial = Trial::load(paths)?.ok_or(TrialError::None)?;
        Ok(trial.result()?)
    }
}
