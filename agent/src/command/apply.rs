//! `dayone apply`.

use crate::{
    error::Error,
    paths::Paths,
    run::{
        decide::attempt,
        retry::{self, Stop},
        signals::Signals,
    },
};

/// Tries once, or until the boot may go on. Only a success of a single attempt decides the boot: after a failure
/// dayone.service goes on trying.
pub(crate) async fn apply(paths: &Paths, retry: bool, keep_trying: bool) -> Result<(), Error> {
    if keep_trying {
        let once = async |stop: &Stop, forgive| attempt(paths, stop, forgive, true).await;
        return retry::repeat(paths, retry, &retry::DOCUMENT, once).await;
    }
    attempt(paths, &Signals::listen()?.stop, retry, false).await.result()
}
