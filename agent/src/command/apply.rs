//! `dayone apply`: what the service runs.

use std::time::Duration;

use super::{
    drift::{drift, print_difference},
    last_good::{last_good, last_good_state},
    mtu_migration, outcome,
    output::print,
    recover,
    signals::stop_on_signals,
    undecided::set_undecided,
};
use crate::{
    client::dbus,
    document::{self, Document, check},
    durable::record::Record,
    error::Error,
    network::RealNetwork,
    paths::Paths,
    settings::{OnFailure, Settings},
    state::State,
    status::{Outcome, StatusFile, log, phase::Phase, progress::Progress},
    text::chain,
    transaction::{Failure, Probed, Transaction},
};

/// Runs, tells everyone how it went, and decides whether the boot may go on.
pub(crate) async fn apply(paths: &Paths, dry_run: bool, retry: bool) -> Result<(), Error> {
    if dry_run {
        return dry(paths, &Settings::load(paths)?).await;
    }
    // Read before this run's status takes its place.
    let failed_before = StatusFile::load(paths)
        .is_ok_and(|earlier| earlier.and_then(|s| s.exit).is_some_and(|exit| exit != 0));
    let (status, progress) = outcome::told(paths);
    set_undecided(paths, true);
    let (settings, result) = match Settings::load(paths) {
        Ok(settings) => {
            let result = decide(paths, &settings, &status, &progress, retry).await;
            (settings, result)
        }
        // Unusable settings cannot have said that the boot is to go on.
        Err(error) => (Settings::default(), Err(error.into())),
    };
    match outcome::tell(&status, &progress, result, || set_undecided(paths, false)) {
        Ok(()) => {
            if failed_before
                && log::is_service()
                && let Err(error) = dbus::start_what_waited().await
            {
                tracing::warn!("{}", chain(&error));
            }
            Ok(())
        }
        Err(error) => match settings.on_failure {
            OnFailure::Fail => Err(error),
            OnFailure::Continue => {
                progress.ready(&format!("failed, the boot goes on: {}", chain(&error)));
                Ok(())
            }
        },
    }
}

async fn decide(
    paths: &Paths,
    settings: &Settings,
    status: &StatusFile,
    progress: &Progress,
    retry: bool,
) -> Result<Outcome, Error> {
    let stop = stop_on_signals()?;
    recover::online(paths, settings, progress, stop.clone()).await?;
    let start = progress.enter(Phase::Select, settings.wait.hostname.get());
    let waiting = || {
        let bound = settings.wait.hostname.get();
        progress.say(&format!("waiting for a hostname (up to {} s)", bound.as_secs()), bound);
    };
    let chosen = document::choose(paths, settings.wait.hostname.get(), waiting).await;
    progress.leave(Phase::Select, start, chosen.is_ok());
    let chosen = chosen?;
    status.update(|s| {
        s.hostname.clone_from(&chosen.hostname);
        s.reason.clone_from(&chosen.reason);
        s.warnings.clone_from(&chosen.warnings);
        s.document = chosen.document.as_ref().map(|d| d.path.clone());
        s.digest = chosen.document.as_ref().map(|d| d.digest.to_string());
    });
    for warning in &chosen.warnings {
        tracing::warn!("{warning}");
    }
    let Some(document) = chosen.document else { return Ok(Outcome::Nothing) };
    let mut record = Record::load(paths);
    if record.in_force(paths, &document.digest)? {
        return Ok(Outcome::Unchanged);
    }
    tracing::info!(document = %document.path.display(), digest = %document.digest, "{}", chosen.reason);
    let start = progress.enter(Phase::Check, Duration::from_secs(10));
    let parsed = check::check(&document);
    progress.leave(Phase::Check, start, parsed.is_ok());
    let parsed = parsed?;
    if retry {
        record.forgive();
    }
    give_up(settings, &record, &document)?;
    mtu_migration::remove(paths)?;
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    let transaction = Transaction { network: &network, paths, settings, progress, stop };
    // What cannot be read cannot be taken away; it must not stop a good document either.
    let previous = last_good_state(paths).unwrap_or_else(|error| {
        tracing::warn!("{}", chain(&error));
        None
    });
    let mut probed = Probed::default();
    let result = transaction.run(&document, &parsed, previous.as_ref(), &mut probed).await;
    status.update(|s| {
        s.probes_before.clone_from(&probed.before);
        s.probes_after.clone_from(&probed.after);
    });
    let Err(failure) = result else { return Ok(Outcome::Committed) };
    note_failure(paths, &mut record, &document, &failure);
    if matches!(failure, Failure::RolledBack { .. } | Failure::RollBackFailed { .. })
        && let Some(text) = to_last_good(paths, &transaction, &document, previous.as_ref()).await
    {
        status.update(|s| s.last_good = Some(text));
    }
    Err(failure.into())
}

/// A document is given up after so many failures that touched the network.
fn give_up(settings: &Settings, record: &Record, document: &Document) -> Result<(), Error> {
    let count = record.failures_of(&document.digest);
    if settings.max_attempts == 0 || count < settings.max_attempts {
        return Ok(());
    }
    let last = record.failures.as_ref().map(|f| f.last_error.clone()).unwrap_or_default();
    Err(Error::GivenUp { digest: document.digest.clone(), count, last })
}

fn note_failure(paths: &Paths, record: &mut Record, document: &Document, failure: &Failure) {
    let outcome = match failure {
        Failure::Untouched { .. } | Failure::NotRecorded { .. } => return,
        Failure::RolledBack { .. } => "rolled-back",
        Failure::RollBackFailed { .. } => "roll-back-failed",
    };
    if let Err(error) = record.failed(paths, document, outcome, &chain(failure)) {
        tracing::warn!("the failure cannot be recorded: {}", chain(&error));
    }
}

/// After a roll back the network is what it was before; where that is not the last good
/// configuration, that one is applied. `None`: nothing had to be done.
async fn to_last_good(
    paths: &Paths,
    transaction: &Transaction<'_, RealNetwork<'_>>,
    failed: &Document,
    state: Option<&State>,
) -> Option<String> {
    let (document, parsed) = match last_good(paths) {
        Ok(found) => found?,
        Err(error) => return Some(format!("last good is unusable: {}", chain(&error))),
    };
    if document.digest == failed.digest {
        return None;
    }
    match drift(transaction.network, state?).await {
        Ok(None) => return None,
        Ok(Some((subjects, _))) => {
            tracing::warn!("last good is not what is running: {}", subjects.join(", "));
        }
        Err(error) => return Some(format!("last good cannot be compared: {}", chain(&error))),
    }
    Some(match transaction.run(&document, &parsed, None, &mut Probed::default()).await {
        Ok(()) => "the last good configuration was put back".to_owned(),
        Err(failure) => format!("the last good configuration failed too: {}", chain(&failure)),
    })
}

async fn dry(paths: &Paths, settings: &Settings) -> Result<(), Error> {
    let chosen = document::choose(paths, settings.wait.hostname.get(), || {}).await?;
    let Some(document) = chosen.document else { return print(&format!("{}\n", chosen.reason)) };
    print(&format!("# {}: {}\n", document.path.display(), chosen.reason))?;
    if Record::load(paths).in_force(paths, &document.digest)? {
        return print("# in force already\n");
    }
    let parsed = check::check(&document)?;
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    print_difference(paths, &network, &document, &parsed).await
}
