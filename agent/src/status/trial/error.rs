//! Why a trial does not begin, or how it ended other than by its confirmation.

use std::path::PathBuf;

use thiserror::Error;

use super::{Trial, TrialState};

/// An end without a confirmation.
#[derive(Debug, Error)]
pub(crate) enum TrialError {
    #[error("a trial needs the running system: --root is not /")]
    Elsewhere,
    #[error(
        "the boot still waits for this node's network, and a trial is for a node that is up: correct \
         the document in its place, which dayone.service notices"
    )]
    BootWaits,
    #[error(
        "a trial of {document} is on: `dayone confirm` keeps it, `systemctl stop \
         dayone-trial.service` ends it"
    )]
    On { document: PathBuf },
    #[error("no trial waits for a confirmation: `dayone apply --trial SECONDS FILE` begins one")]
    None,
    #[error("the trial of {document} is not applied yet: confirm it when its time runs")]
    NotApplied { document: PathBuf },
    #[error("dayone-trial.service does not answer: see `systemctl status dayone-trial.service`")]
    NoAnswer,
    #[error("another run of dayone did not end, or a signal ended the wait for it")]
    NoTurn,
    #[error("a trial of {document} has taken its place")]
    Replaced { document: PathBuf },
    #[error("the trial of {document} goes on without this terminal")]
    GoesOn { document: PathBuf },
    #[error("the trial of {document} failed, nothing was changed: {reason}")]
    Failed { document: PathBuf, reason: String },
    #[error("the trial of {document} is over, and the old network is back: {reason}")]
    Undone { document: PathBuf, reason: String },
    #[error(
        "the trial of {document} is over, and the old network is NOT back: {reason}; \
         dayone-trial.service tries it again"
    )]
    Stays { document: PathBuf, reason: String },
}

impl Trial {
    pub(crate) fn result(self) -> Result<(), TrialError> {
        let (document, reason) = (self.document, self.reason.unwrap_or_default());
        match self.state {
            TrialState::Confirmed => Ok(()),
            TrialState::Asked | TrialState::Applying | TrialState::Waiting => {
                Err(TrialError::NotApplied { document })
            }
            TrialState::Failed => Err(TrialError::Failed { document, reason }),
            TrialState::Undone => Err(TrialError::Undone { document, reason }),
            TrialState::RollBackFailed => Err(TrialError::Stays { document, reason }),
        }
    }
}
