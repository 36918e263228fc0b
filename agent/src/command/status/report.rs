//! The current state beside the account of this boot.

use std::path::PathBuf;

use serde::Serialize;

use crate::{
    document::{Chosen, digest::Digest},
    durable::record::Record,
    status::{
        Outcome, SCHEMA, Status,
        trial::{State, Trial},
    },
};

/// The output of `--json`: the status file of this boot, and the current state.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Report {
    #[serde(flatten)]
    pub(super) boot: Status,
    /// Whether this node's current document is committed and `applied` has its bytes.
    pub(super) in_force: bool,
    /// SHA-256 of a pending document, which waits for the next boot.
    pub(super) pending: Option<Digest>,
    /// The document in force, if its file is gone.
    pub(super) removed: Option<PathBuf>,
    /// The parts of the document that the current state lacks.
    pub(super) drift: Vec<String>,
    /// Why drift is unknown.
    pub(super) drift_unknown: Option<String>,
    /// The last trial in this boot.
    pub(super) trial: Option<Tried>,
}

/// A trial, with the time left.
#[derive(Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Tried {
    #[serde(flatten)]
    pub(super) trial: Trial,
    /// Seconds until it goes back, while it waits for its confirmation.
    pub(super) left: Option<u64>,
}

impl Tried {
    pub(super) fn now(trial: Trial) -> Self {
        let left = trial.left();
        Self { trial, left }
    }

    /// Whether the network is, or may be, the trial's.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.trial.state, State::Asked | State::Undone | State::Failed)
    }
}

/// Everything that the page shows.
pub(super) struct Seen<'a> {
    pub(super) report: &'a Report,
    pub(super) chosen: &'a Chosen,
    pub(super) record: &'a Record,
    /// The run that is at work now.
    pub(super) at_work: Option<String>,
}

/// The status before any run in this boot: the choice of now.
pub(super) fn before_any_run(chosen: &Chosen) -> Status {
    let document = chosen.document.as_ref();
    Status {
        schema: SCHEMA,
        outcome: Outcome::NotRun,
        hostname: chosen.hostname.clone(),
        document: document.map(|it| it.path.clone()),
        digest: document.map(|it| it.digest.to_string()),
        reason: chosen.reason.clone(),
        warnings: chosen.warnings.clone(),
        ..Status::default()
    }
}
