//! Errors of phases and transactions.

use std::{path::PathBuf, time::Duration};

use thiserror::Error;

use nmgen::chain;

use crate::{
    durable::FileError, model::ProbeResult, network::NetworkError, state::StateError,
    status::phase::Phase,
};

/// Why a phase failed.
#[derive(Debug, Error)]
pub(crate) enum PhaseError {
    #[error("took longer than {:.0} s", .0.as_secs_f64())]
    TimedOut(Duration),
    #[error("was stopped")]
    Stopped,
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error("{path}")]
    ServiceFile { path: PathBuf, source: Box<PhaseError> },
    #[error("{}", failed_probes(.0))]
    Probes(Vec<ProbeResult>),
    /// The old network does not give the answers either that it gave earlier in this boot: the change is not refused.
    #[error("{}; the old network has no answer either, as it had earlier in this boot", failed_probes(.0))]
    Unproved(Vec<ProbeResult>),
    #[error("no confirmation came within {seconds} s")]
    NotConfirmed { seconds: u32 },
    #[error("no confirmation can be awaited")]
    Request(#[source] FileError),
    #[error("{count} steps of the roll back failed, the first one")]
    RollBackSteps { count: usize, source: Box<PhaseError> },
}

fn failed_probes(results: &[ProbeResult]) -> String {
    let one = |r: &ProbeResult| format!("probe {} failed: {}", r.name, r.detail);
    results.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// A transaction that was not committed.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// Failed before any change.
    #[error("{phase} failed; nothing was changed")]
    Untouched { phase: Phase, source: Box<PhaseError> },
    /// The old network is back.
    #[error("{phase} failed; rolled back")]
    RolledBack { phase: Phase, source: Box<PhaseError> },
    /// The old network is not back; both errors are kept.
    #[error("{phase} failed, and so did the roll back ({roll_back_phase}: {})", chain(.roll_back))]
    RollBackFailed {
        phase: Phase,
        source: Box<PhaseError>,
        roll_back_phase: Phase,
        roll_back: Box<PhaseError>,
    },
    /// In force, and decided on disk; the next start writes the remaining files.
    #[error("the network is in force, but {phase} failed; the next start finishes it")]
    NotRecorded { phase: Phase, source: Box<PhaseError> },
}

/// A result; an error names its phase.
pub(super) type Phased<T> = Result<T, (Phase, PhaseError)>;
