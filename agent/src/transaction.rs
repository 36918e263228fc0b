//! The transaction: a sequence of bounded phases over [`Network`], with one roll back.

mod bounds;
mod change;
mod failure;
pub(crate) mod memory;
mod prepare;
mod roll_back;

use tokio::sync::watch;

pub(crate) use self::{
    bounds::stopped,
    failure::{Failure, PhaseError},
};
use nmgen::chain;

use crate::{
    bridge::plan::BridgePlan,
    document::{Document, service_files::ServiceFiles},
    model::{ProbeResult, memory::Memory},
    network::{Network, boot_time},
    paths::Paths,
    settings::Settings,
    state::{Parsed, State},
    status::{phase::Phase, progress::Progress, trial::TrialFile},
};

/// The inputs of a transaction.
pub(crate) struct Transaction<'a, N> {
    pub(crate) network: &'a N,
    pub(crate) paths: &'a Paths,
    pub(crate) settings: &'a Settings,
    pub(crate) progress: &'a Progress,
    /// Turns true on SIGTERM and SIGINT, and for a corrected document.
    pub(crate) stop: watch::Receiver<bool>,
    /// Whether the change is judged by what this node had in this boot ([`memory`]).
    pub(crate) is_remembered: bool,
}

/// Results of the probes, and warnings, for the status.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probed {
    pub(crate) before: Vec<ProbeResult>,
    /// Those, with what the network answered earlier in this boot.
    pub(crate) best: Vec<ProbeResult>,
    /// Probes that answered earlier in this boot, and are not asked for any more.
    pub(crate) unproved: Vec<String>,
    pub(crate) after: Vec<ProbeResult>,
    pub(crate) warnings: Vec<String>,
}

impl Probed {
    /// Writes a warning to the journal, and keeps it for the status.
    fn warn(&mut self, text: String) {
        tracing::warn!("{text}");
        self.warnings.push(text);
    }
}

/// A change of the node's network.
pub(crate) enum Change<'a> {
    /// A document.
    Document(DocumentChange<'a>),
    /// A document on trial, which is not this node's: it stays if it is confirmed, until the journal
    /// is closed, at the next boot at the latest.
    Trial(DocumentChange<'a>, &'a TrialFile),
    /// The automatic bridge.
    Bridge(BridgeChange<'a>),
}

/// The automatic bridge.
pub(crate) struct BridgeChange<'a> {
    pub(crate) plan: &'a BridgePlan,
    /// Whether it replaces the bridge of a document that is gone, with `applied` and the record.
    pub(crate) replaces_document: bool,
}

/// A document, to be applied after the files of `nmstatectl service`.
pub(crate) struct DocumentChange<'a> {
    pub(crate) document: &'a Document,
    pub(crate) parsed: &'a Parsed,
    pub(crate) service_files: &'a ServiceFiles,
    /// The state of the document in force so far, whose leftovers are removed.
    pub(crate) previous: Option<&'a State>,
}

impl<N: Network> Transaction<'_, N> {
    /// Changes what is remembered of this boot, if this change takes part in it.
    fn remember(&self, change: impl FnOnce(&mut Memory)) {
        if self.is_remembered {
            memory::update(self.paths, change);
        }
    }

    /// Carries the change out.
    pub(crate) async fn run(
        &self,
        change: &Change<'_>,
        probed: &mut Probed,
    ) -> Result<(), Failure> {
        let mut prepared = match change {
            Change::Document(change) => Box::pin(self.prepare(change, None, probed)).await,
            Change::Trial(change, trial) => {
                Box::pin(self.prepare(change, Some(trial), probed)).await
            }
            Change::Bridge(change) => Box::pin(self.prepare_bridge(change, probed)).await,
        }
        .map_err(|(phase, source)| Failure::Untouched { phase, source: Box::new(source) })?;
        // From here on every path ends in the roll back or in the record; that of a confirmed trial with
        // an open journal, which the next boot or run undoes.
        let changed = match Box::pin(self.change(&prepared, change, probed)).await {
            Ok(_) if matches!(change, Change::Trial(..)) => Ok(()),
            // NetworkManager has committed; the rename here decides. A roll back is still possible:
            // the journal needs no checkpoint.
            Ok(uplinks) => {
                self.step(Phase::Record, || {
                    if let Change::Document(change) = change {
                        let files = &change.service_files.digests;
                        prepared.commit.prove(self.paths, uplinks, files)?;
                    }
                    prepared.commit.decide(self.paths)
                })
                .await
            }
            Err(failed) => Err(failed),
        };
        match changed {
            Ok(()) if matches!(change, Change::Trial(..)) => Ok(()),
            Ok(()) => {
                self.remember(|memory| memory.commit(&probed.after, boot_time()));
                self.step(Phase::Record, || prepared.commit.finish(self.paths))
                    .await
                    .map_err(|(phase, e)| Failure::NotRecorded { phase, source: Box::new(e) })
            }
            Err((phase, source)) => {
                tracing::error!(dayone_phase = %phase, "{phase}: {}", chain(&source));
                Box::pin(self.undo(&prepared, probed, phase, source)).await
            }
        }
    }
}

#[cfg(test)]
mod tests;
