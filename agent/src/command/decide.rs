//! One attempt: choose, check, and change the network if necessary.

use std::time::Duration;

use tokio::sync::watch;

use nmgen::chain;

use super::{
    last_good::last_good_state, marks, peers, recover, removed::removed, signals::stoppable,
};
use crate::{
    document::{
        self, Document, check,
        service_files::{self, Found, ServiceFiles},
    },
    durable::record::{self, Record},
    error::Error,
    network::real::RealNetwork,
    paths::Paths,
    settings::Settings,
    state::Parsed,
    status::{StatusFile, Success, phase::Phase, progress::Progress},
    transaction::{Change, DocumentChange, Failure, PhaseError, Probed, Transaction},
};

/// The inputs of an attempt.
pub(super) struct Attempt<'a> {
    pub(super) paths: &'a Paths,
    pub(super) settings: &'a Settings,
    pub(super) status: &'a StatusFile,
    pub(super) progress: &'a Progress,
    /// Turns true on SIGTERM and SIGINT.
    pub(super) stop: watch::Receiver<bool>,
    /// Forget earlier failures of the document.
    pub(super) forgive: bool,
}

impl Attempt<'_> {
    /// Puts this node's document in force.
    pub(super) async fn decide(&self) -> Result<Success, Error> {
        recover::online(self.paths, self.settings, self.progress, self.stop.clone()).await?;
        let Some(document) = self.choose().await? else {
            let is_removed = removed(self.paths, &Record::load(self.paths)).is_some();
            return Ok(if is_removed { Success::Removed } else { Success::Nothing });
        };
        marks::chosen(self.paths);
        peers::stand_in(self.paths).await;
        let files = service_files::read(self.paths, &self.status.get().hostname)?;
        // Boxed: a single future of all steps is too deep for the compiler.
        if let Some(outcome) = Box::pin(self.settle(&document, &files)).await? {
            // Open vSwitch is up by now, if it was not.
            peers::stand_in(self.paths).await;
            return Ok(outcome);
        }
        let record = Record::load(self.paths);
        let (parsed, files) = self.check(&document, &files, &record)?;
        Box::pin(self.transact(&document, &parsed, &files, record)).await
    }

    /// This node's document, with the reason of the choice.
    async fn choose(&self) -> Result<Option<Document>, Error> {
        let bound = self.settings.wait.hostname.get();
        let start = self.progress.enter(Phase::Select, bound);
        let waiting = || {
            let text = format!("waiting for a hostname (up to {} s)", bound.as_secs());
            self.progress.say(&text, bound);
        };
        let chosen = stoppable(&self.stop, document::choose(self.paths, bound, waiting)).await;
        self.progress.leave(Phase::Select, start, chosen.is_ok());
        let chosen = chosen?;
        self.status.update(|s| {
            s.hostname.clone_from(&chosen.hostname);
            s.reason.clone_from(&chosen.reason);
            s.warnings.clone_from(&chosen.warnings);
            s.document = chosen.document.as_ref().map(|d| d.path.clone());
            s.digest = chosen.document.as_ref().map(|d| d.digest.to_string());
        });
        for warning in &chosen.warnings {
            tracing::warn!("{warning}");
        }
        Ok(chosen.document)
    }

    fn check(
        &self,
        document: &Document,
        files: &Found,
        record: &Record,
    ) -> Result<(Parsed, ServiceFiles), Error> {
        let reason = self.status.get().reason;
        tracing::info!(document = %document.path.display(), digest = %document.digest, "{reason}");
        let start = self.progress.enter(Phase::Check, Duration::from_secs(10));
        let applied = record.applied_service_files(&files.digests());
        let checked = check::check(document).and_then(|parsed| Ok((parsed, files.due(&applied)?)));
        self.progress.leave(Phase::Check, start, checked.is_ok());
        Ok(checked?)
    }

    /// A transaction of this attempt.
    pub(super) fn transaction<'n>(
        &'n self,
        network: &'n RealNetwork<'n>,
    ) -> Transaction<'n, RealNetwork<'n>> {
        Transaction {
            network,
            paths: self.paths,
            settings: self.settings,
            progress: self.progress,
            stop: self.stop.clone(),
        }
    }

    /// Applies the document, unless it failed too often.
    async fn transact(
        &self,
        document: &Document,
        parsed: &Parsed,
        files: &ServiceFiles,
        mut record: Record,
    ) -> Result<Success, Error> {
        if self.forgive {
            record.forgive();
        }
        give_up(self.settings, &record, document)?;
        let network = RealNetwork::connect(self.paths, &self.settings.wait).await?;
        let transaction = self.transaction(&network);
        // Leftovers of an unreadable last good document stay; it must not stop a good document.
        let previous = last_good_state(self.paths).unwrap_or_else(|error| {
            tracing::warn!("{}", chain(&error));
            None
        });
        let mut probed = Probed::default();
        let previous = previous.as_ref();
        let change = DocumentChange { document, parsed, service_files: files, previous };
        let result = transaction.run(&Change::Document(change), &mut probed).await;
        self.status.update(|s| {
            s.probes_before.clone_from(&probed.before);
            s.probes_after.clone_from(&probed.after);
        });
        let Err(failure) = result else {
            // Open vSwitch is up by now, if it was not.
            peers::stand_in(self.paths).await;
            return Ok(Success::Committed);
        };
        note_failure(self.paths, &mut record, document, &failure);
        Err(failure.into())
    }
}

/// Gives a document up after `max-attempts` failures that touched the network.
fn give_up(settings: &Settings, record: &Record, document: &Document) -> Result<(), Error> {
    let count = record.failures_of(&document.digest);
    if settings.max_attempts == 0 || count < settings.max_attempts {
        return Ok(());
    }
    let last = record.failures.as_ref().map(|f| f.last_error.clone()).unwrap_or_default();
    Err(Error::GivenUp { digest: document.digest.clone(), count, last })
}

/// Counts a failure of the document. A stop does not count: the machine is shutting down.
fn note_failure(paths: &Paths, record: &mut Record, document: &Document, failure: &Failure) {
    let why = chain(failure);
    let (digest, source) = (&document.digest, &*document.path);
    let before = record.failures_of(digest);
    let noted = match failure {
        Failure::Untouched { .. } | Failure::NotRecorded { .. } => return,
        Failure::RolledBack { source, .. } if matches!(**source, PhaseError::Stopped) => {
            record::append(paths, &document.digest, &document.path, "stopped", Some(&why))
        }
        Failure::RolledBack { .. } => {
            record.failed(paths, digest, source, before, "rolled-back", &why)
        }
        Failure::RollBackFailed { .. } => {
            record.failed(paths, digest, source, before, "roll-back-failed", &why)
        }
    };
    if let Err(error) = noted {
        tracing::warn!("the failure cannot be recorded: {}", chain(&error));
    }
}
