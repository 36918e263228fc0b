//! One attempt: under the lock, reported, with the last good document as fallback.

use tokio::sync::watch;

use super::{decide::Attempt, fall_back::Standing, marks, outcome, peers, turn::Turn};
use crate::{
    error::Error,
    paths::Paths,
    settings::OnFailure,
    status::{Fault, log::message_id},
};

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
    // A network in force that is not recorded needs no other.
    let is_in_force = outcome::fault_of(&error) == Fault::NotRecorded;
    let standing = match is_in_force {
        true => None,
        false => Box::pin(attempt.fall_back(&error)).await,
    };
    status.update(|s| {
        s.last_good = standing.as_ref().map(ToString::to_string);
        s.last_good_in_force = matches!(standing, Some(Standing::Carries(_)));
    });
    outcome::failed(&status, &progress, &error);
    if !decides {
        return Ended::Failed(error);
    }
    let document = status.get().document.unwrap_or_else(|| "the document".into());
    let document = document.display();
    let (text, why) = match (standing, turn.settings.on_failure) {
        _ if is_in_force => {
            peers::stand_in(paths).await;
            marks::in_force(paths);
            (format!("{document} is in force"), "the next boot writes its record".to_owned())
        }
        (Some(Standing::Carries(how)), _) => {
            peers::stand_in(paths).await;
            marks::in_force(paths);
            (format!("{document} is NOT in force"), how)
        }
        (_, OnFailure::Continue) if !*stop.borrow() => {
            marks::without_document(paths);
            (format!("{document} is NOT in force"), "on-failure is \"continue\"".to_owned())
        }
        (_, OnFailure::Fail | OnFailure::Continue) => return Ended::Failed(error),
    };
    let text = format!("{text}; the boot goes on: {why}");
    outcome::goes_on(&status, &progress, &error, message_id::GOES_ON, text);
    Ended::GoesOn(error)
}
