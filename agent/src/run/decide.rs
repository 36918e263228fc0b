//! One attempt with this node's document: chosen, checked, put in force, with the last good one as fallback.

use std::time::Duration;

use nmgen::chain;
use tokio::sync::watch;

use super::{
    Caller, Ended, Extent, Run,
    fall_back::{Standing, fall_back},
    fault_of,
    in_force::{forget_failures, record_replaced_cards, skip_if_in_force},
    last_good::{previous, removed, resolve_again},
    machine, marks, peers,
    proof::is_proved,
    recover, refused,
    signals::stoppable,
};
use crate::{
    document::{
        self, Document, check,
        service_files::{self, Found, ServiceFiles},
    },
    durable::{
        boot_id,
        record::Record,
        record_file::{self, Failed},
    },
    error::Error,
    paths::Paths,
    settings::OnFailure,
    state::Parsed,
    status::{
        Fault, Outcome, Status, StatusFile, Success,
        log::{Tone, console, message_id},
        phase::Phase,
    },
    transaction::{Change, DocumentChange, Failure, PhaseError},
};

/// Tries once. Only a service's failure may let the boot go on.
///
/// The steps are boxed: a single future is too deep for the compiler.
pub(crate) async fn attempt(
    paths: &Paths,
    stop: &watch::Receiver<bool>,
    extent: Extent,
    caller: Caller,
) -> Ended {
    let run = match Run::begin(paths, "apply", stop).await {
        Ok(run) => run,
        Err(error) => return Ended::Failed(error),
    };
    if caller == Caller::Person {
        return Box::pin(attempt_of(&run, extent, caller, 0)).await;
    }
    marks::undecided(paths);
    let count = paths.cut_off();
    let cut_off = marks::attempt_begins(&count);
    let ended = Box::pin(attempt_of(&run, extent, caller, cut_off)).await;
    marks::attempt_ends(&count);
    ended
}

/// Tries once, after `cut_off` attempts in a row that ended with the agent.
async fn attempt_of(run: &Run<'_>, extent: Extent, caller: Caller, cut_off: u32) -> Ended {
    let paths = run.paths;
    let earlier = match caller {
        Caller::Service => None,
        Caller::Person => StatusFile::load(paths).ok().flatten(),
    };
    let most = run.settings.max_attempts;
    let decided = match most != 0 && cut_off >= most {
        true => Err(give_up(run, cut_off).await),
        false => Box::pin(decide(run, extent)).await,
    };
    let error = match decided {
        Ok(success) => return ended_well(run, success).await,
        Err(error) => error,
    };
    // A run by hand that was stopped before its change keeps the status of the run before it.
    let is_nothing = run.is_stopped() && fault_of(&error) == Fault::Untouched;
    let is_ended = |it: &Status| !matches!(it.outcome, Outcome::Open(_));
    if let Some(earlier) = earlier.filter(|it| is_nothing && is_ended(it)) {
        run.status.update(|s| *s = earlier);
        run.status.write();
        refused(&error);
        return Ended::Failed(error);
    }
    // A network in force that is not recorded needs no other.
    let is_in_force = fault_of(&error) == Fault::NotRecorded;
    let standing = match is_in_force {
        true => None,
        false => Box::pin(fall_back(run, &error, extent)).await,
    };
    if let Some(Standing::InForce(success)) = standing {
        run.warn(&format!("the document is in force, after a failed attempt: {}", chain(&error)));
        return ended_well(run, success).await;
    }
    run.status.update(|s| {
        s.last_good = standing.as_ref().map(ToString::to_string);
        s.last_good_in_force = matches!(standing, Some(Standing::Carries(_)));
    });
    run.failed(&error);
    if caller == Caller::Person {
        return Ended::Failed(error);
    }
    let document = run.status.get().document.unwrap_or_else(|| "the document".into());
    let document = document.display();
    let (text, why) = match (standing, run.settings.on_failure) {
        _ if is_in_force => {
            peers::stand_in(paths).await;
            marks::in_force(paths);
            (format!("{document} is in force"), "the next boot writes its record".to_owned())
        }
        (Some(Standing::Carries(how)), OnFailure::Hold) => {
            let text = format!(
                "{document} is NOT in force; {how}, and the boot waits: on-failure is \"hold\""
            );
            tracing::warn!("{text}");
            console(Tone::Bad, &[text]);
            return Ended::Failed(error);
        }
        (Some(Standing::Carries(how)), OnFailure::Fail | OnFailure::Continue) => {
            peers::stand_in(paths).await;
            marks::in_force(paths);
            (format!("{document} is NOT in force"), how)
        }
        (_, OnFailure::Continue) if !run.is_stopped() => {
            marks::without_document(paths);
            (format!("{document} is NOT in force"), "on-failure is \"continue\"".to_owned())
        }
        (_, OnFailure::Fail | OnFailure::Hold | OnFailure::Continue) => {
            return Ended::Failed(error);
        }
    };
    let text = format!("{text}; the boot goes on: {why}");
    run.goes_on(&error, message_id::GOES_ON, text);
    Ended::GoesOn(error)
}

/// Leaves the document alone for once: the agent has ended in each attempt with it, and might for ever. The network of the last
/// good one may carry the node meanwhile.
async fn give_up(run: &Run<'_>, cut_off: u32) -> Error {
    let chosen = async {
        // A network half made proves nothing of the last good one.
        let record = recover::online(run).await?;
        choose(run, &record).await
    };
    match Box::pin(chosen).await {
        Ok(Some(_)) => {
            marks::chosen(run.paths);
            Error::CutOff { count: cut_off }
        }
        Ok(None) => Error::CutOff { count: cut_off },
        Err(error) => error,
    }
}

/// Reports a success, and keeps the record true.
async fn ended_well(run: &Run<'_>, success: Success) -> Ended {
    marks::succeeded(run.paths, success);
    if matches!(success, Success::Committed | Success::Unchanged | Success::Adopted)
        && let Some(document) = run.status.get().document
    {
        marks::bridge_of_document(run.paths, &document);
    }
    run.succeeded(success);
    if success == Success::Unchanged {
        forget_failures(run);
        record_replaced_cards(run).await;
        if let Err(error) = resolve_again(run).await {
            tracing::warn!("the document is not resolved again: {}", chain(&error));
        }
    }
    if success != Success::Nothing {
        machine::remember(run.paths).await;
    }
    Ended::Good
}

/// Puts this node's document in force.
async fn decide(run: &Run<'_>, extent: Extent) -> Result<Success, Error> {
    let record = recover::online(run).await?;
    let Some(document) = choose(run, &record).await? else {
        if removed(run.paths, &record).is_none() {
            return Ok(Success::Nothing);
        }
        // Its network stays, so it has to come up like that of a document that is there; but nothing holds this boot.
        if let Some(uplinks) = record.uplinks()
            && !is_proved(run, uplinks).await?
        {
            run.warn("the network of the removed document did not return");
        }
        return Ok(Success::Removed);
    };
    marks::chosen(run.paths);
    peers::stand_in(run.paths).await;
    let files = service_files::read(run.paths, &run.status.get().hostname)?;
    let skipped = Box::pin(skip_if_in_force(run, &record, &document, &files)).await?;
    let success = match skipped {
        Some(success) => success,
        None => {
            let (parsed, files) = check(run, &document, &files, &record)?;
            Box::pin(transact(run, &document, &parsed, &files, extent, record)).await?;
            Success::Committed
        }
    };
    // Open vSwitch is up by now, if it was not.
    peers::stand_in(run.paths).await;
    Ok(success)
}

/// This node's document, with the reason of the choice.
async fn choose(run: &Run<'_>, record: &Record) -> Result<Option<Document>, Error> {
    let bound = run.settings.wait.hostname.get();
    let start = run.progress.enter(Phase::Select, bound);
    let waiting = || {
        let text = format!("waiting for a hostname (up to {} s)", bound.as_secs());
        run.progress.say(&text, bound);
    };
    let in_force = record.document_in_force(run.paths);
    let chosen = document::choose(run.paths, in_force.as_ref(), bound, waiting);
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
    files: &Found,
    record: &Record,
) -> Result<(Parsed, ServiceFiles), Error> {
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
) -> Result<(), Error> {
    if extent == Extent::Forgiving {
        record.forgive();
    }
    let most = run.settings.max_attempts;
    let given_up = record.given_up(run.paths, &document.digest, most);
    if let Some(it) = given_up.filter(|it| extent != Extent::Grown || it.are_cut_off(most)) {
        let (digest, count, last) = (document.digest.clone(), it.count, it.last_error.clone());
        return Err(Error::GivenUp { digest, count, last });
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

/// Counts a failure of the document. A stop does not count: the machine is shutting down.
fn note_failure(paths: &Paths, record: &Record, document: &Document, failure: &Failure) {
    let why = chain(failure);
    let (digest, source) = (&document.digest, &*document.path);
    let before = record.failures_of(digest);
    let outcome = match failure {
        Failure::Untouched { .. } | Failure::NotRecorded { .. } => return,
        Failure::RolledBack { source, .. } if matches!(**source, PhaseError::Stopped) => None,
        Failure::RolledBack { .. } => Some("rolled-back"),
        Failure::RollBackFailed { .. } => Some("roll-back-failed"),
    };
    let noted = match outcome {
        None => record_file::append(paths, digest, source, "stopped", Some(&why)),
        Some(outcome) => {
            let failed = Failed { before, outcome, error: &why, boot_id: boot_id(paths) };
            Record::failed(paths, digest, source, failed)
        }
    };
    if let Err(error) = noted {
        tracing::warn!("the failure cannot be recorded: {}", chain(&error));
    }
}
