//! One attempt: under the lock, reported, with the last good document as fallback.

use tokio::sync::watch;

use super::{decide::Attempt, fall_back::Standing, marks, outcome, peers, turn::Turn};
use crate::{error::Error, paths::Paths, settings::OnFailure};

/// The result of an attempt.
pub(super) enum Ended {
    /// In force, or nothing to do.
    Good,
    /// Failed, and the boot goes on.
    GoesOn(Error),
    /// Failed, and the boot waits.
    Failed(Error),
}

/// Tries once; `decides` says whether a failure may let the boot go on.
///
/// The steps are boxed: a single future is too deep for the compiler.
pub(super) async fn attempt(
    paths: &Paths,
    stop: &watch::Receiver<bool>,
    forgive: bool,
    decides: bool,
) -> Ended {
    let turn = match Turn::wait(paths, "apply", stop).await {
        Ok(turn) => turn,
        Err(error) => return Ended::Failed(error),
    };
    if decides {
        marks::undecided(paths);
    }
    let (status, progress) = outcome::told(paths);
    let attempt = Attempt {
        paths,
        settings: &turn.settings,
        status: &status,
        progress: &progress,
        stop: stop.clone(),
        forgive,
    };
    let result = match turn.unusable {
        Some(error) => Err(error.into()),
        None => Box::pin(attempt.decide()).await,
    };
    let error = match result {
        Ok(outcome) => {
            marks::succeeded(paths, outcome);
            outcome::succeeded(&status, &progress, outcome);
            return Ended::Good;
        }
        Err(error) => error,
    };
    let standing = Box::pin(attempt.fall_back(&error)).await;
    status.update(|s| {
        s.last_good = standing.as_ref().map(ToString::to_string);
        s.last_good_in_force = matches!(standing, Some(Standing::Carries(_)));
    });
    outcome::failed(&status, &progress, &error);
    if !decides {
        return Ended::Failed(error);
    }
    match (standing, turn.settings.on_failure) {
        (Some(Standing::Carries(how)), _) => {
            peers::stand_in(paths).await;
            marks::on_last_good(paths);
            outcome::goes_on(&status, &progress, &error, &how);
            Ended::GoesOn(error)
        }
        (_, OnFailure::Continue) if !*stop.borrow() => {
            marks::without_document(paths);
            outcome::goes_on(&status, &progress, &error, "on-failure is \"continue\"");
            Ended::GoesOn(error)
        }
        (_, OnFailure::Fail | OnFailure::Continue) => Ended::Failed(error),
    }
}
