//! `dayone bridge`: the automatic br-ex of a node without a document.

use crate::{
    error::Error,
    paths::Paths,
    run::{
        Caller, Extent,
        bridge::attempt,
        retry::{self, Stop},
        signals::Signals,
    },
};

/// Tries once, or until br-ex is there.
pub(crate) async fn bridge(paths: &Paths, keep_trying: bool) -> Result<(), Error> {
    if keep_trying {
        let once = async |stop: &Stop, _| attempt(paths, stop, Caller::Service).await;
        return retry::repeat(paths, Extent::Whole, &retry::BRIDGE, once).await;
    }
    attempt(paths, &Signals::listen()?.stop, Caller::Person).await.result()
}
