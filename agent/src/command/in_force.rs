//! A document already in force: proves the network before the boot goes on, and repairs a network
//! that does not come back by itself.

use std::{future::Future, time::Duration};

use super::{adopt::Adopted, decide::Attempt, last_good::last_good_state};
use nmgen::chain;

use crate::{
    client::netlink::Netlink,
    document::{Document, service_files::Found},
    durable::record::Record,
    error::Error,
    network::{NetworkError, real::RealNetwork, uplinks::Uplinks},
    paths::Paths,
    status::{Outcome, phase::Phase},
    transaction::{Failure, PhaseError, stopped},
    wants::Wants,
};

impl Attempt<'_> {
    /// The outcome of a document that needs no transaction: in force already, or applied by another
    /// tool. `None`: apply it.
    pub(super) async fn settle(
        &self,
        document: &Document,
        files: &Found,
    ) -> Result<Option<Outcome>, Error> {
        let mut record = Record::load(self.paths);
        if !record.in_force(self.paths, &document.digest)? {
            let Some(adopted) = Adopted::find(self.paths, &record, document)? else {
                return Ok(None);
            };
            return match self.is_proved(&Uplinks::declared(&adopted.wants)).await? {
                true => adopted.record(self, document, files).await.map(Some),
                false => Ok(None),
            };
        }
        if !record.has_service_files(&files.digests()) {
            tracing::info!("files of /etc/nmstate changed; they are applied with the document");
            return Ok(None);
        }
        if let Some(uplinks) = record.committed.as_ref().and_then(|c| c.uplinks.as_ref()) {
            return Ok(self.is_proved(uplinks).await?.then_some(Outcome::Unchanged));
        }
        let wants = last_good_wants(self.paths);
        if !self.is_proved(&Uplinks::declared(&wants)).await? {
            return Ok(None);
        }
        self.complete(&mut record, &wants, files).await?;
        Ok(Some(Outcome::Unchanged))
    }

    /// Whether the network is usable, activating the document's profiles if necessary.
    async fn is_proved(&self, expected: &Uplinks) -> Result<bool, Error> {
        if expected.families.is_empty() {
            return Ok(true);
        }
        let netlink = Netlink::connect().map_err(NetworkError::from)?;
        let bound = self.settings.wait.network.get();
        let say = |text: &str, bound| self.progress.say(text, bound);
        let waited = expected.wait(&netlink, bound, &say);
        let Err(lacking) = self.phase(Phase::Network, bound, waited).await? else {
            return Ok(true);
        };
        tracing::warn!("{}; activating the document's profiles", chain(&lacking));
        let bound = self.settings.timeout.verify.get();
        let activated = self.phase(Phase::Activate, bound, async {
            let network = RealNetwork::connect(self.paths, &self.settings.wait).await?;
            network.activate(&expected.profiles, &say).await?;
            expected.wait(&netlink, bound, &say).await
        });
        match activated.await? {
            Ok(()) => {
                self.warn(
                    "the network did not return by itself: activated the document's profiles",
                );
                Ok(true)
            }
            Err(error) => {
                tracing::warn!("{}", chain(&error));
                self.warn(
                    "the network did not return: applying the document again; changes made \
                     since its commit are lost",
                );
                Ok(false)
            }
        }
    }

    /// Runs a phase that a signal stops; the caller judges its failure.
    async fn phase<T>(
        &self,
        phase: Phase,
        bound: Duration,
        work: impl Future<Output = Result<T, NetworkError>>,
    ) -> Result<Result<T, NetworkError>, Error> {
        let start = self.progress.enter(phase, bound);
        let result = tokio::select! {
            biased;
            () = stopped(self.stop.clone()) => {
                let source = Box::new(PhaseError::Stopped);
                Err(Error::Transaction(Failure::Untouched { phase, source }))
            }
            result = work => Ok(result),
        };
        self.progress.leave(phase, start, matches!(result, Ok(Ok(_))));
        result
    }

    /// Adds the current families and files to the record of an older version, which has neither.
    async fn complete(
        &self,
        record: &mut Record,
        wants: &Wants,
        files: &Found,
    ) -> Result<(), Error> {
        let netlink = Netlink::connect().map_err(NetworkError::from)?;
        let uplinks = Uplinks::seen(&netlink, wants, Vec::new()).await?;
        Ok(record.complete(self.paths, uplinks, &files.digests())?)
    }

    /// Writes a warning to the journal and the status.
    pub(super) fn warn(&self, text: &str) {
        tracing::warn!("{text}");
        self.status.update(|s| s.warnings.push(text.to_owned()));
    }
}

/// Prerequisites of the document in force; empty if it is unreadable, so that nothing is awaited.
fn last_good_wants(paths: &Paths) -> Wants {
    match last_good_state(paths) {
        Ok(state) => state.map(|state| state.wants()).unwrap_or_default(),
        Err(error) => {
            tracing::warn!("{}", chain(&error));
            Wants::default()
        }
    }
}
