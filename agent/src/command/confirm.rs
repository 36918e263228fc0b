//! `dayone confirm`: keeps the document on trial.

use std::time::Duration;

use super::{
    output::print,
    trial::{follow, kept},
};
use crate::{
    error::Result,
    paths::Paths,
    status::trial::{Trial, TrialError, TrialState},
};

/// The agent answers within moments; a roll back that has begun may take longer.
const ANSWER: Duration = Duration::from_secs(120);

/// Requests that the trial stays, and returns when it does.
pub(crate) async fn confirm(paths: &Paths) -> Result {
    let Some(trial) = Trial::load(paths)? else { return Err(TrialError::None.into()) };
    let ended = match trial.state {
        TrialState::Waiting => {
            trial.request(paths)?;
            let answered = follow(paths, trial.asked, |_| {});
            match tokio::time::timeout(ANSWER, answered).await {
                Ok(ended) => ended?,
                Err(_) => return Err(TrialError::NoAnswer.into()),
            }
        }
        TrialState::Asked
        | TrialState::Applying
        | TrialState::Confirmed
        | TrialState::Undone
        | TrialState::Failed
        | TrialState::RollBackFailed => trial,
    };
    let document = ended.document.display().to_string();
    ended.result()?;
    print(&kept(&document))
}
