//! `dayone apply`.

use crate::{
    error::Error,
    paths::Paths,
    run::{
        Extent,
        decide::attempt,
        retry::{self, Stop},
        signals::Signals,
    },
};

/// Tries once, or until the boot may go on. Only a success of a single attempt decides the boot: after a failure
/// dayone.service goes on trying.
pub(crate) async fn apply(paths: &Paths, retry: bool, keep_trying: bool) -> Result<(), Error> {
    let extent = if retry { Extent::Forgiving } else { Extent::Whole };
    if keep_trying {
        let once = async |stop: &Stop, extent| attempt(paths, stop, extent, true).await;
        return retry::repeat(paths, extent, &retry::DOCUMENT, once).await;
    }
    attempt(paths, &Signals::listen()?.stop, extent, false).await.result()
}
