//! One attempt with this node's document: chosen, checked, put in force, with the last good one as fallback.

use std::time::Duration;

use nmgen::chain;

use super::{
    Extent, Run,
    decision::{AttemptEnd, Decision, Fallback, HoldReason},
    fall_back::fall_back,
    fault_of, global_dns,
    in_force::{forget_failures, record_replaced_cards, skip_if_in_force},
    last_good::{previous, removed, resolve_again},
    machine, peers,
    proof::{NetworkProof, prove},
    recover,
    signals::stoppable,
};
use crate::{
    document::{
        self, Document, check,
        service_files::{self, ServiceFiles, ServiceFolder},
    },
    durable::{
        boot_id,
        record::Record,
        record_file::{self, Failed},
    },
    error::{Error, Result},
    model::memory::Memory,
    network::NetworkError,
    paths::Paths,
    state::Parsed,
    status::{Fault, Success, phase::Phase},
    transaction::{Change, DocumentChange, Failure, PhaseError, memory},
    warn::OrWarn as _,
};

/// Tries once, and falls back after a failure. `cut_off`: so many attempts in a row that it is given up.
pub(super) async fn attempt(run: &Run<'_>, extent: Extent, cut_off: Option<u32>) -> AttemptEnd {
    let result = match cut_off {
        Some(count) => Err(leave_alone(run, count).await),
        None => Box::pin(put_in_force(run, extent)).await,
    };
    match result {
        Ok(success) => AttemptEnd::Succeeded(success),
        // A network in force that is not recorded needs no other.
        Err(error) if fault_of(&error) == Fault::NotRecorded => {
            AttemptEnd::Failed { error, fallback: Fallback::None }
        }
        Err(error) => Box::pin(fall_back(run, error, extent)).await,
    }
}

/// Leaves the document alone for once: the agent has ended in each attempt with it, and might for ever. The network of the last
/// good one may carry the node meanwhile.
async fn leave_alone(run: &Run<'_>, count: u32) -> Error {
    let chosen = async {
        // A network half made proves nothing of the last good one.
        let record = recover::online(run).await?;
        choose(run, &record).await
    };
    match Box::pin(chosen).await {
        Ok(Some(_)) => {
            run.publish(Decision::Hold(HoldReason::Chosen));
            Error::CutOff { count }
        }
        Ok(None) => Error::CutOff { count },
        Err(error) => error,
    }
}

/// Keeps the record true after a success.
pub(super) async fn keep_record(run: &Run<'_>, success: Success) {
    if success == Success::Unchanged {
        forget_failures(run);
        record_replaced_cards(run).await;
        resolve_again(run).await.or_warn_of("the document is not resolved again");
    }
    if success != Success::Nothing {
        machine::remember(run.paths).await;
    }
}

/// Puts this node's document in force.
async fn put_in_force(run: &Run<'_>, extent: Extent) -> Result<Success> {
    let record = recover::online(run).await?;
    let Some(document) = choose(run, &record).await? else {
        if removed(run.paths, &record).is_none() {
            return Ok(Success::Nothing);
        }
        // Its network stays, so it has to come up like that of a document that is there; but nothing holds this boot.
        if let Some(uplinks) = record.uplinks() {
            match prove(run, uplinks).await {
                Ok(NetworkProof::Whole | NetworkProof::Silent) => {}
                Ok(NetworkProof::Broken) => {
                    run.warn("the network of the removed document did not return");
                }
                Err(Error::Network(error @ NetworkError::NetworkingOff)) => {
                    run.warn(&format!(
                        "the network of the removed document did not return: {error}"
                    ));
                }
                Err(error) => return Err(error),
            }
        }
        return Ok(Success::Removed);
    };
    run.publish(Decision::Hold(HoldReason::Chosen));
    peers::stand_in(run.paths).await;
    let files = service_files::read(run.paths, &run.status.get().hostname)?;
    let skipped = Box::pin(skip_if_in_force(run, &record, &document, &files)).await?;
    if let Some(success) = skipped {
        return Ok(success);
    }
    let (parsed, files) = check(run, &document, &files, &record)?;
    if parsed.first_wants().name_servers.is_empty() {
        global_dns::warn(run);
    }
    Box::pin(transact(run, &document, &parsed, &files, extent, record)).await?;
    Ok(Success::Committed)
}

/// This node's document, with the reason of the choice.
async fn choose(run: &Run<'_>, record: &Record) -> Result<Option<Document>> {
    let bound = run.settings.wait.hostname.get();
    let start = run.progress.enter(Phase::Select, bound);
    let in_force = record.document_in_force(run.paths);
    let chosen = document::choose(run.paths, in_force.as_ref(), bound, || {
        let text = format!(
            "waiting for a hostname (up to {} s): the network or `hostnamectl hostname NAME` gives one instead of localhost",
            bound.as_secs()
        );
        run.progress.say(&text, bound);
    });
    let chosen = stoppable(&run.stop, chosen).await;
    run.progress.leave(Phase::Select, start, chosen.is_ok());
    let chosen = chosen?;
    for warning in &chosen.warnings {
        tracing::warn!("{warning}");
    }
    run.status.update(|s| {
        s.hostname = chosen.hostname;
        s.reason = chosen.reason;
        s.warnings.extend(chosen.warnings);
        s.document = chosen.document.as_ref().map(|d| d.path.clone());
        s.digest = chosen.document.as_ref().map(|d| d.digest.to_string());
    });
    Ok(chosen.document)
}

fn check(
    run: &Run<'_>,
    document: &Document,
    files: &ServiceFolder,
    record: &Record,
) -> Result<(Parsed, ServiceFiles)> {
    let reason = run.status.get().reason;
    tracing::info!(document = %document.path.display(), digest = %document.digest, "{reason}");
    let start = run.progress.enter(Phase::Check, Duration::from_secs(10));
    let applied = record.service_files_in_force(run.paths);
    let checked = check::check(document).and_then(|parsed| Ok((parsed, files.due(applied)?)));
    run.progress.leave(Phase::Check, start, checked.is_ok());
    Ok(checked?)
}

/// Applies the document, unless it failed too often.
async fn transact(
    run: &Run<'_>,
    document: &Document,
    parsed: &Parsed,
    files: &ServiceFiles,
    extent: Extent,
    mut record: Record,
) -> Result {
    if extent == Extent::Forgiving {
        record.forgive();
        memory::update(run.paths, Memory::forget);
    }
    let most = run.settings.max_attempts;
    let given_up = record.given_up(run.paths, &document.digest, most);
    if let Some(failures) =
        given_up.filter(|failures| extent != Extent::Grown || failures.are_cut_off(most))
    {
        return Err(Error::GivenUp { count: failures.count, last: failures.last_error.clone() });
    }
    let network = run.connect().await?;
    // Leftovers of an unreadable document stay.
    let previous = previous(run.paths, &record);
    let previous = previous.as_ref();
    let change = DocumentChange { document, parsed, service_files: files, previous };
    let result = run.transact(&network, &Change::Document(change)).await;
    if let Err(failure) = &result {
        note_failure(run.paths, &record, document, failure);
    }
    Ok(result?)
}

/// Counts a failure of the document. A stop does not count: the machine is shutting down, or the document is corrected. Neither
/// does what the old network does not answer either.
fn note_failure(paths: &Paths, record: &Record, document: &Document, failure: &Failure) {
    let why = chain(failure);
    let (digest, source) = (&document.digest, &*document.path);
    let before = record.failures_of(digest);
    let outcome = match failure {
        Failure::Untouched { .. } | Failure::NotRecorded { .. } => return,
        Failure::RolledBack { source, .. } if matches!(**source, PhaseError::Stopped) => {
            Err("stopped")
        }
        // Nothing is concluded from it.
        Failure::RolledBack { source, .. } if matches!(**source, PhaseError::Unproved(_)) => {
            Err("rolled-back")
        }
        Failure::RolledBack { .. } => Ok("rolled-back"),
        Failure::RollBackFailed { .. } => Ok("roll-back-failed"),
    };
    let noted = match outcome {
        Err(uncounted) => record_file::append(paths, digest, source, uncounted, Some(&why)),
        Ok(outcome) => {
            let failed = Failed { before, outcome, error: &why, boot_id: boot_id(paths) };
            Record::failed(paths, digest, source, failed)
        }
    };
    noted.or_warn_of("the failure cannot be recorded");
}
