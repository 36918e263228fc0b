//! `dayone rollback`: returns to the last good configuration.

use std::time::Duration;

use super::services;
use crate::{
    document,
    durable::{boot_id, record::Record},
    error::Result,
    paths::Paths,
    run::{
        Run,
        decision::{Decision, ReleaseReason},
        last_good::{self, last_good_state},
        refused,
        signals::Signals,
    },
    status::{
        Success,
        log::{self, Tone, console},
    },
};

/// Applies the last good document as a transaction, reported like `apply`.
pub(crate) async fn rollback(paths: &Paths) -> Result {
    let stop = Signals::listen()?.stop;
    let state = last_good_state(&Record::load(paths));
    if state.ok().flatten().is_some_and(|state| state.wants().ovs) {
        services::open_vswitch(paths).await?;
    }
    let run = Run::begin(paths, "rollback", &stop).await?;
    if !log::is_service() {
        console(
            Tone::Plain,
            &["changes made by hand since the last commit go; what its document does not \
               describe stays"
                .to_owned()],
        );
    }
    let result = last_good::put_back(&run).await;
    match &result {
        Ok(()) => {
            let is_beside_a_failure = is_beside_a_failure(paths).await;
            run.status.update(|status| status.last_good_in_force = is_beside_a_failure);
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

/// Whether this node's document is another one, which has failed in this boot: the next boot tries it once.
async fn is_beside_a_failure(paths: &Paths) -> bool {
    let record = Record::load(paths);
    let Some(failures) =
        record.failures.as_ref().filter(|failure| failure.boot_id == boot_id(paths))
    else {
        return false;
    };
    let in_force = record.document_in_force(paths);
    let chosen = document::choose(paths, in_force.as_ref(), Duration::ZERO, || {}).await;
    let document = chosen.ok().and_then(|chosen| chosen.document);
    document.is_some_and(|document| document.digest == failures.digest)
}
