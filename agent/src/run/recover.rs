//! The open transaction of an earlier run, which was killed, and a decided commit that it did not finish.

use nmgen::chain;

use super::Run;
use crate::{
    durable::{
        commit, from_0_2,
        journal::{self, ChangeKind, Journal},
        record::Record,
        record_file::{self, Failed, INTERRUPTED},
        set_aside,
    },
    error::{Error, Exit, Result},
    model::Before,
    network::{Network as _, within},
    paths::Paths,
    status::{Fault, Open, Outcome, Status, StatusFile, log::message_id, now, trial},
    transaction::{Probed, memory},
    warn::OrWarn as _,
};

/// Recovery at the start of a run: NetworkManager may be running, and the checkpoint of the killed one may still be
/// open. Returns the record, which nobody changes from here on but this run.
pub(super) async fn online(run: &Run<'_>) -> Result<Record> {
    let t = &run.settings.timeout;
    // One that was set aside may be below the open one.
    loop {
        match open_journal(run.paths)? {
            OpenTransaction::Nothing => break,
            // Without a journal only the timeout identifies an open checkpoint.
            OpenTransaction::Abandoned => {
                let network = run.connect().await?;
                let checkpoint_seconds = t.checkpoint_seconds();
                let before = Before { checkpoint_seconds, ..Before::default() };
                let bound = t.roll_back.get();
                within("the checkpoints", bound, network.undo_checkpoints(&before)).await?;
                within("the profiles", bound, network.reload_profiles()).await?;
            }
            OpenTransaction::Journal(journal) => undo(run, &journal).await?,
        }
    }
    from_0_2::migrate(run.paths).or_warn_of("files of version 0.2 stay beside the record");
    Ok(Record::load(run.paths))
}

/// Undoes what an earlier run left open, for `dayone recover`, and puts nothing else in force. The account of the boot stays,
/// unless it is the killed run's.
pub(crate) async fn undo_by_hand(run: &Run<'_>) -> Result {
    let earlier = StatusFile::load(run.paths)?.unwrap_or_default();
    let result = online(run).await.map(drop);
    let phases = run.progress.phases();
    if let Err(error) = &result {
        run.status.update(|status| *status = Status { phases, ..earlier });
        run.failed(error);
    } else if !phases.is_empty() {
        let is_over = !matches!(
            earlier.outcome,
            Outcome::Open(Open::Running) | Outcome::Failed(Fault::RollBackFailed)
        );
        let undone = Status {
            outcome: Outcome::Failed(Fault::RolledBack),
            exit: Some(Exit::RolledBack as u8),
            error: Some("the run was killed, and `dayone recover` has undone it".to_owned()),
            finished: Some(now()),
            phases,
            ..earlier.clone()
        };
        run.status.update(|status| *status = if is_over { earlier } else { undone });
        run.status.write();
    }
    result
}

async fn undo(run: &Run<'_>, journal: &Journal) -> Result {
    match journal.kind {
        ChangeKind::Trial => tracing::warn!(source = %journal.source.display(), "undoing a trial"),
        ChangeKind::Document | ChangeKind::Bridge => {
            tracing::warn!(source = %journal.source.display(), "an earlier run was killed; undoing it");
        }
    }
    note(run.paths, journal);
    let network = run.connect().await?;
    let same_boot = journal.is_of_this_boot(run.paths);
    if same_boot {
        let is_settled = journal.kind == ChangeKind::Trial;
        network
            .keep_addresses_of_others(&journal.before, is_settled)
            .await
            .or_warn_of("addresses of other programs may be lost");
    }
    // The network of an earlier boot, or one that did not come back twice, is asked for by what this run proves next.
    let is_awaited = same_boot && !memory::load(run.paths).is_lost_for_good();
    let probes = if is_awaited { journal.probes.clone() } else { Vec::new() };
    let probed = Probed { before: probes, ..Probed::default() };
    let before = journal.before.for_a_later_run(is_awaited);
    let transaction = run.transaction(&network);
    let rolled = transaction.roll_back(&before, &journal.bridges, &probed, same_boot).await;
    if let Err((phase, source)) = rolled {
        memory::update(run.paths, |memory| memory.roll_back(&journal.before.leads, false));
        return Err(Error::Recover { phase, source: Box::new(source) });
    }
    say_recovered(run.paths, journal, "the old network is back");
    Ok(())
}

pub(crate) enum OpenTransaction {
    Nothing,
    Journal(Box<Journal>),
    /// The journal was unusable; files were restored as far as possible.
    Abandoned,
}

/// The open journal; a commit that was decided is finished first.
pub(crate) fn open_journal(paths: &Paths) -> Result<OpenTransaction> {
    journal::sweep(paths).or_warn_of("a finished transaction's copies are left");
    if commit::is_unfinished(paths) {
        commit::finish(paths)?;
        set_aside::forget(paths)?;
    }
    // The journal of a failed roll back, set aside by a run that ended before it opened another
    // one.
    set_aside::open_again(paths)?;
    match journal::read(paths) {
        Ok(None) => Ok(OpenTransaction::Nothing),
        Ok(Some(journal)) => Ok(OpenTransaction::Journal(Box::new(journal))),
        Err(error) if error.is_unusable() => {
            tracing::error!("{}; its transaction is not undone", chain(&error));
            journal::abandon(paths)?;
            Ok(OpenTransaction::Abandoned)
        }
        Err(error) => Err(error.into()),
    }
}

/// Counts a crash as a failure, so that the document is not tried for ever. Attempts at the automatic bridge are counted where they
/// begin (`marks::attempt_begins`). Nothing tries a trial again.
pub(crate) fn note(paths: &Paths, journal: &Journal) {
    let noted = match journal.kind {
        ChangeKind::Bridge => return,
        ChangeKind::Trial => {
            record_file::append(paths, &journal.digest, &journal.source, "trial-undone", None)
        }
        ChangeKind::Document => {
            let error = "the agent or the machine stopped during the transaction";
            let (before, boot_id) = (journal.failures.unwrap_or_default(), journal.boot_id.clone());
            let failed = Failed { before, outcome: INTERRUPTED, error, boot_id };
            Record::failed(paths, &journal.digest, &journal.source, failed)
        }
    };
    noted.or_warn_of("the failure cannot be recorded");
}

/// Reports the end of a transaction that was left open. `restored`: what has come back, since files alone are no network.
pub(crate) fn say_recovered(paths: &Paths, journal: &Journal, restored: &str) {
    let (id, text) = match journal.kind {
        ChangeKind::Trial => {
            trial::undone(paths);
            (message_id::TRIAL_UNDONE, format!("a trial has ended, and {restored}"))
        }
        ChangeKind::Document | ChangeKind::Bridge => {
            (message_id::RECOVERED, format!("an unfinished transaction was undone: {restored}"))
        }
    };
    tracing::warn!(
        message_id = id,
        dayone_document = %journal.source.display(),
        dayone_digest = %journal.digest,
        "{text} ({})",
        journal.source.display()
    );
}
