//! One attempt: choose, check, and change the network where that is needed.

use std::time::Duration;

use tokio::sync::watch;

use super::{
    drift::drift,
    last_good::{last_good, last_good_state},
    mtu_migration, recover,
};
use nmgen::chain;

use crate::{
    document::{self, Document, check},
    durable::record::Record,
    error::Error,
    network::real::RealNetwork,
    paths::Paths,
    settings::Settings,
    state::{Parsed, State},
    status::{Outcome, StatusFile, phase::Phase, progress::Progress},
    transaction::{Failure, Probed, Transaction},
};

/// What an attempt works with.
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
    pub(super) async fn decide(&self) -> Result<Outcome, Error> {
        recover::online(self.paths, self.settings, self.progress, self.stop.clone()).await?;
        let Some(document) = self.choose().await? else { return Ok(Outcome::Nothing) };
        let record = Record::load(self.paths);
        if record.in_force(self.paths, &document.digest)? {
            return Ok(Outcome::Unchanged);
        }
        let parsed = self.check(&document)?;
        self.transact(&document, &parsed, record).await
    }

    /// This node's document, and why it is this one.
    async fn choose(&self) -> Result<Option<Document>, Error> {
        let bound = self.settings.wait.hostname.get();
        let start = self.progress.enter(Phase::Select, bound);
        let waiting = || {
            let text = format!("waiting for a hostname (up to {} s)", bound.as_secs());
            self.progress.say(&text, bound);
        };
        let chosen = document::choose(self.paths, bound, waiting).await;
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

    fn check(&self, document: &Document) -> Result<Parsed, Error> {
        let reason = self.status.get().reason;
        tracing::info!(document = %document.path.display(), digest = %document.digest, "{reason}");
        let start = self.progress.enter(Phase::Check, Duration::from_secs(10));
        let parsed = check::check(document);
        self.progress.leave(Phase::Check, start, parsed.is_ok());
        Ok(parsed?)
    }

    /// Applies the document, unless it failed too often.
    async fn transact(
        &self,
        document: &Document,
        parsed: &Parsed,
        mut record: Record,
    ) -> Result<Outcome, Error> {
        if self.forgive {
            record.forgive();
        }
        give_up(self.settings, &record, document)?;
        mtu_migration::remove(self.paths)?;
        let network = RealNetwork::connect(self.paths, &self.settings.wait).await?;
        let transaction = Transaction {
            network: &network,
            paths: self.paths,
            settings: self.settings,
            progress: self.progress,
            stop: self.stop.clone(),
        };
        // What cannot be read cannot be taken away; it must not stop a good document either.
        let previous = last_good_state(self.paths).unwrap_or_else(|error| {
            tracing::warn!("{}", chain(&error));
            None
        });
        let mut probed = Probed::default();
        let result = transaction.run(document, parsed, previous.as_ref(), &mut probed).await;
        self.status.update(|s| {
            s.probes_before.clone_from(&probed.before);
            s.probes_after.clone_from(&probed.after);
        });
        let Err(failure) = result else { return Ok(Outcome::Committed) };
        note_failure(self.paths, &mut record, document, &failure);
        if matches!(failure, Failure::RolledBack { .. } | Failure::RollBackFailed { .. })
            && let Some(text) =
                to_last_good(self.paths, &transaction, document, previous.as_ref()).await
        {
            self.status.update(|s| s.last_good = Some(text));
        }
        Err(failure.into())
    }
}

/// A document is given up after so many failures that touched the network.
fn give_up(settings: &Settings, record: &Record, document: &Document) -> Result<(), Error> {
    let count = record.failures_of(&document.digest);
    if settings.max_attempts == 0 || count < settings.max_attempts {
        return Ok(());
    }
    let last = record.failures.as_ref().map(|f| f.last_error.clone()).unwrap_or_default();
    Err(Error::GivenUp { digest: document.digest.clone(), count, last })
}

fn note_failure(paths: &Paths, record: &mut Record, document: &Document, failure: &Failure) {
    let outcome = match failure {
        Failure::Untouched { .. } | Failure::NotRecorded { .. } => return,
        Failure::RolledBack { .. } => "rolled-back",
        Failure::RollBackFailed { .. } => "roll-back-failed",
    };
    if let Err(error) = record.failed(paths, document, outcome, &chain(failure)) {
        tracing::warn!("the failure cannot be recorded: {}", chain(&error));
    }
}

/// After a roll back the network is what it was before; where that is not the last good
/// configuration, that one is applied. `None`: nothing had to be done.
async fn to_last_good(
    paths: &Paths,
    transaction: &Transaction<'_, RealNetwork<'_>>,
    failed: &Document,
    state: Option<&State>,
) -> Option<String> {
    let (document, parsed) = match last_good(paths) {
        Ok(found) => found?,
        Err(error) => return Some(format!("last good is unusable: {}", chain(&error))),
    };
    if document.digest == failed.digest {
        return None;
    }
    match drift(transaction.network, state?).await {
        Ok(None) => return None,
        Ok(Some((subjects, _))) => {
            tracing::warn!("last good is not what is running: {}", subjects.join(", "));
        }
        Err(error) => return Some(format!("last good cannot be compared: {}", chain(&error))),
    }
    Some(match transaction.run(&document, &parsed, None, &mut Probed::default()).await {
        Ok(()) => "the last good configuration was put back".to_owned(),
        Err(failure) => format!("the last good configuration failed too: {}", chain(&failure)),
    })
}
