//! `dayone apply`: one manual attempt.

use super::{
    attempt::{Ended, attempt},
    signals::Signals,
};
use crate::{error::Error, paths::Paths};

/// Tries once. Only a success decides the boot: after a failure dayone.service goes on trying.
pub(crate) async fn apply(paths: &Paths, retry: bool) -> Result<(), Error> {
    let signals = Signals::listen()?;
    match attempt(paths, &signals.stop, retry, false).await {
        Ended::Good => Ok(()),
        Ended::GoesOn(error) | Ended::Failed(error) => Err(error),
    }
}
