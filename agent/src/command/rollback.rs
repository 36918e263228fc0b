//! `dayone rollback`: returns to the last good configuration.

use tokio::sync::watch;

use super::{
    last_good::last_good,
    marks, outcome, recover,
    signals::{Signals, stoppable},
};
use crate::{
    document::service_files::ServiceFiles,
    durable::record::Record,
    error::Error,
    lock,
    network::real::RealNetwork,
    paths::Paths,
    settings::Settings,
    status::{StatusFile, Success, progress::Progress},
    transaction::{Change, DocumentChange, Probed, Transaction},
};

/// Applies the last good document as a transaction, reported like `apply`.
pub(crate) async fn rollback(paths: &Paths) -> Result<(), Error> {
    let settings = Settings::load(paths).map_err(refused)?;
    let stop = Signals::listen()?.stop;
    let turn = lock::take(paths, "rollback", settings.wait.turn.get(), outcome::waits);
    let _turn = stoppable(&stop, turn).await.map_err(refused)?;
    let (status, progress) = outcome::told(paths);
    match back(paths, &settings, &status, &progress, stop).await {
        Ok(outcome) => {
            marks::succeeded(paths, outcome);
            outcome::succeeded(&status, &progress, outcome);
            Ok(())
        }
        // Nothing has begun: the status file stays that of the run that decided the boot.
        Err(error) if progress.phases().is_empty() => Err(refused(error)),
        Err(error) => {
            outcome::failed(&status, &progress, &error);
            Err(error)
        }
    }
}

fn refused(error: impl Into<Error>) -> Error {
    let error = error.into();
    outcome::refused(&error);
    error
}

async fn back(
    paths: &Paths,
    settings: &Settings,
    status: &StatusFile,
    progress: &Progress,
    stop: watch::Receiver<bool>,
) -> Result<Success, Error> {
    recover::online(paths, settings, progress, stop.clone()).await?;
    let (document, parsed) = last_good(paths)?.ok_or(Error::NoLastGood)?;
    status.update(|s| {
        s.reason = "the last good configuration, by dayone rollback".to_owned();
        s.document = Some(document.path.clone());
        s.digest = Some(document.digest.to_string());
    });
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    let transaction = Transaction { network: &network, paths, settings, progress, stop };
    let mut probed = Probed::default();
    let files = ServiceFiles::none_due(Record::load(paths).applied_service_files(&[]));
    let (document, parsed) = (&document, &parsed);
    let change = DocumentChange { document, parsed, service_files: &files, previous: None };
    let result = transaction.run(&Change::Document(change), &mut probed).await;
    status.update(|s| {
        s.probes_before = probed.before;
        s.probes_after = probed.after;
    });
    result?;
    Ok(Success::Committed)
}
