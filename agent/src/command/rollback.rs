//! `dayone rollback`: the last good configuration, again.

use super::{last_good::last_good, outcome, recover, signals::stop_on_signals};
use crate::{
    error::Error,
    network::real::RealNetwork,
    paths::Paths,
    settings::Settings,
    status::{Outcome, StatusFile, progress::Progress},
    transaction::{Probed, Transaction},
};

/// Applies the last good document as a transaction, and tells it as `apply` does.
pub(crate) async fn rollback(paths: &Paths) -> Result<(), Error> {
    let settings = Settings::load(paths)?;
    let (status, progress) = outcome::told(paths);
    let result = back(paths, &settings, &status, &progress).await;
    outcome::tell(&status, &progress, result, || {})
}

async fn back(
    paths: &Paths,
    settings: &Settings,
    status: &StatusFile,
    progress: &Progress,
) -> Result<Outcome, Error> {
    let stop = stop_on_signals()?;
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
    let result = transaction.run(&document, &parsed, None, &mut probed).await;
    status.update(|s| {
        s.probes_before = probed.before;
        s.probes_after = probed.after;
    });
    result?;
    Ok(Outcome::Committed)
}
