//! `dayone rollback`: returns to the last good configuration.

use super::services;
use crate::{
    durable::record::Record,
    error::Error,
    paths::Paths,
    run::{
        Run,
        last_good::{self, last_good_state},
        marks, refused,
        signals::Signals,
    },
    status::Success,
};

/// Applies the last good document as a transaction, reported like `apply`.
pub(crate) async fn rollback(paths: &Paths) -> Result<(), Error> {
    let stop = Signals::listen()?.stop;
    let state = last_good_state(&Record::load(paths));
    if state.ok().flatten().is_some_and(|state| state.wants().ovs) {
        services::open_vswitch(paths).await?;
    }
    let run = Run::begin(paths, "rollback", &stop).await?;
    match last_good::put_back(&run).await {
        Ok(()) => {
            marks::succeeded(paths, Success::Committed);
            run.succeeded(Success::Committed);
            Ok(())
        }
        // Nothing has begun: the status file stays that of the run that decided the boot.
        Err(error) if run.progress.phases().is_empty() => {
            refused(&error);
            Err(error)
        }
        Err(error) => {
            run.failed(&error);
            Err(error)
        }
    }
}
