//! `dayone rollback`: the last good configuration, again.

use super::{apply::reapply, last_good, recover, stop_on_signals};
use crate::{
    error::Error,
    log::{Tone, console},
    paths::Paths,
    progress::Progress,
    real::RealNetwork,
    settings::Settings,
    transaction::Transaction,
};

/// Applies the last good document as a transaction.
pub(crate) async fn rollback(paths: &Paths) -> Result<(), Error> {
    let settings = Settings::load(paths)?;
    let progress = Progress::new(|_, _| {});
    let stop = stop_on_signals()?;
    recover::online(paths, &settings, &progress, stop.clone()).await?;
    let (document, parsed) = last_good(paths)?.ok_or(Error::NoLastGood)?;
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    let transaction =
        Transaction { network: &network, paths, settings: &settings, progress: &progress, stop };
    reapply(&transaction, &document, &parsed).await?;
    console(Tone::Good, &["the last good configuration is in force".to_owned()]);
    Ok(())
}
