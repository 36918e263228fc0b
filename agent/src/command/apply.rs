//! `dayone apply`: what the service runs.

use super::{
    decide::Attempt, drift::print_difference, outcome, output::print, signals::stop_on_signals,
    undecided::set_undecided,
};
use nmgen::chain;

use crate::{
    client::dbus,
    document::{self, check},
    durable::record::Record,
    error::Error,
    network::real::RealNetwork,
    paths::Paths,
    settings::{OnFailure, Settings},
    status::{Outcome, StatusFile, log, progress::Progress},
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
            let result = attempt(paths, &settings, &status, &progress, retry).await;
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

async fn attempt(
    paths: &Paths,
    settings: &Settings,
    status: &StatusFile,
    progress: &Progress,
    forgive: bool,
) -> Result<Outcome, Error> {
    let stop = stop_on_signals()?;
    Attempt { paths, settings, status, progress, stop, forgive }.decide().await
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
