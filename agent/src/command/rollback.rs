//! `dayone rollback`: returns to the last good configuration.

use super::services;
use crate::{
    durable::record::Record,
    error::Error,
    paths::Paths,
    run::{
        Run,
        decision::{Decision, ReleaseReason},
        last_good::{self, last_good_state},
        refused,
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
    let result = last_good::put_back(&run).await;
    match &result {
        Ok(()) => {
            run.publish(Decision::Release(ReleaseReason::LastGood));
            run.succeeded(Success::Committed);
        }
        // Nothing has begun: the status file stays that of the run that decided the boot.
        Err(error) if run.progress.phases().is_empty() => refused(error),
        Err(error) => run.failed(error),
    }
    run.finish();
    result
}
