//! `dayone bridge`: the automatic br-ex of a node without a document.

use crate::{
    error::Result,
    paths::Paths,
    run::{AttemptKind, Caller, Extent, attempt::attempt, retry, signals::Signals},
};

/// Tries once, or until br-ex is there.
pub(crate) async fn bridge(paths: &Paths, keep_trying: bool) -> Result {
    if keep_trying {
        return retry::repeat(paths, AttemptKind::Bridge, Extent::Whole).await;
    }
    let stop = Signals::listen()?.stop;
    attempt(paths, &stop, AttemptKind::Bridge, Extent::Whole, Caller::Person).await.map(drop)
}
