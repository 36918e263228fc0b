//! `dayone recover`: undoes a transaction left open by a killed agent or a power cut.

use std::time::Duration;

use tokio::sync::watch;

use nmgen::chain;

use super::marks;
use crate::{
    client::ovsdb::{Ovsdb, OvsdbError},
    durable::{
        FileError, commit,
        journal::{self, Journal, Kind},
        record::{self, Record},
        set_aside,
    },
    error::Error,
    lock,
    model::Before,
    network::{Network as _, bridges, real::RealNetwork},
    paths::Paths,
    settings::Settings,
    status::{
        log::{self, message_id},
        progress::Progress,
        trial,
    },
    transaction::{Probed, Transaction},
};

/// Short, since NetworkManager waits for dayone-recover.service.
const TURN: Duration = Duration::from_secs(20);

/// Early in boot, before NetworkManager: restores files, and OVS bridges if OVSDB is up. From then
/// on a mark holds back the units that would apply the document themselves. A call by hand makes no
/// mark: no later run would remove it, and kubelet would wait for it at its next start.
pub(crate) async fn recover(paths: &Paths) -> Result<(), Error> {
    if log::is_service() {
        marks::undecided_at_boot(paths);
    }
    // Early in boot there is no other run; a manual call may meet one.
    let say = |text: &str| tracing::warn!("{text}");
    let _turn = lock::take(paths, "recover", TURN, say).await?;
    let journal = match open_journal(paths)? {
        Open::Journal(journal) => journal,
        // NetworkManager will read the restored profiles when it starts.
        Open::Nothing | Open::Abandoned => return Ok(()),
    };
    let same_boot = journal.is_of_this_boot(paths);
    journal::restore_files(paths, same_boot)?;
    // As online, but without NetworkManager, which reads the restored profiles when it starts. It
    // then removes its own ports from OVSDB, but keeps a bridge with foreign ports, such as OVN's.
    if let Err(error) = undo_bridges(paths, &journal).await {
        if bridges::must_return(&journal.before.bridges) {
            tracing::warn!("{}; the agent restores the bridges when it starts", chain(&error));
            return Ok(());
        }
        tracing::info!("{}; bridges stay as they are", chain(&error));
    }
    note(paths, &journal);
    journal::close(paths)?;
    say_recovered(paths, &journal, "the old profiles are");
    Ok(())
}

async fn undo_bridges(paths: &Paths, journal: &Journal) -> Result<(), OvsdbError> {
    let (before, made) = (&journal.before.bridges, &journal.bridges);
    if !bridges::is_needed(before, made) {
        return Ok(());
    }
    bridges::undo(&mut Ovsdb::connect(&paths.ovsdb_socket()).await?, before, made, &[]).await
}

/// Recovery at the start of an apply: a previous agent was killed, NetworkManager may be running,
/// and its checkpoint may still be open.
pub(super) async fn online(
    paths: &Paths,
    settings: &Settings,
    progress: &Progress,
    stop: watch::Receiver<bool>,
) -> Result<(), Error> {
    let journal = match open_journal(paths)? {
        Open::Journal(journal) => journal,
        Open::Nothing => return Ok(()),
        // Without a journal only the timeout identifies an open checkpoint.
        Open::Abandoned => {
            let network = RealNetwork::connect(paths, &settings.wait).await?;
            let t = &settings.timeout;
            let checkpoint_seconds = t.checkpoint_seconds();
            let before = Before { checkpoint_seconds, ..Before::default() };
            network.undo_checkpoints(&before, t.roll_back.get()).await?;
            network.reload_profiles(t.roll_back.get()).await?;
            return Ok(());
        }
    };
    match journal.kind {
        Kind::Trial => tracing::warn!(source = %journal.source.display(), "undoing a trial"),
        Kind::Document | Kind::Bridge => {
            tracing::warn!(source = %journal.source.display(), "an earlier run was killed; undoing it");
        }
    }
    note(paths, &journal);
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    let transaction = Transaction { network: &network, paths, settings, progress, stop };
    let same_boot = journal.is_of_this_boot(paths);
    let probed = Probed { before: journal.probes.clone(), after: Vec::new() };
    transaction
        .roll_back(&journal.before, &journal.bridges, &probed, same_boot)
        .await
        .map_err(|(phase, source)| Error::Recover { phase, source: Box::new(source) })?;
    say_recovered(paths, &journal, "the old network is");
    Ok(())
}

/// The open transaction of an earlier run.
enum Open {
    Nothing,
    Journal(Box<Journal>),
    /// The journal was unusable; files were restored as far as possible.
    Abandoned,
}

/// The open journal; a commit that was decided is finished first.
fn open_journal(paths: &Paths) -> Result<Open, Error> {
    if let Err(error) = journal::sweep(paths) {
        tracing::warn!("a finished transaction's copies are left: {}", chain(&error));
    }
    if paths.committed().exists() {
        commit::finish(paths)?;
        set_aside::forget(paths)?;
    }
    // The journal of a failed roll back, set aside by a run that ended before it opened another
    // one.
    set_aside::open_again(paths)?;
    match journal::read(paths) {
        Ok(None) => Ok(Open::Nothing),
        Ok(Some(journal)) => Ok(Open::Journal(Box::new(journal))),
        Err(error) if error.is_unusable() => {
            tracing::error!("{}; its transaction is not undone", chain(&error));
            journal::abandon(paths)?;
            Ok(Open::Abandoned)
        }
        Err(error) => Err(error.into()),
    }
}

/// Counts a crash as a failure, so that the document is not tried for ever. The automatic bridge is
/// tried for ever: often nothing but its network changes. Nothing tries a trial again.
fn note(paths: &Paths, journal: &Journal) {
    let noted = match journal.kind {
        Kind::Bridge => return,
        Kind::Trial => {
            record::append(paths, &journal.digest, &journal.source, "trial-undone", None)
        }
        Kind::Document => count(paths, journal),
    };
    if let Err(error) = noted {
        tracing::warn!("the failure cannot be recorded: {}", chain(&error));
    }
}

fn count(paths: &Paths, journal: &Journal) -> Result<(), FileError> {
    let why = "the agent or the machine stopped during the transaction";
    let mut record = Record::load(paths);
    let before = journal.failures.unwrap_or_else(|| record.failures_of(&journal.digest));
    record.failed(paths, &journal.digest, &journal.source, before, "interrupted", why)
}

fn say_recovered(paths: &Paths, journal: &Journal, restored: &str) {
    let (id, text) = match journal.kind {
        Kind::Trial => {
            trial::undone(paths);
            (message_id::TRIAL_UNDONE, format!("a trial has ended, and {restored} back"))
        }
        Kind::Document | Kind::Bridge => {
            (message_id::RECOVERED, "an unfinished transaction was undone".to_owned())
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
