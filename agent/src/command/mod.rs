//! The commands, one a file.

mod apply;
mod diff;
mod outcome;
mod recover;
mod rollback;
mod status;

use std::io::Write as _;

use tokio::sync::watch;

pub(crate) use apply::apply;
pub(crate) use diff::diff;
pub(crate) use recover::recover;
pub(crate) use rollback::rollback;
pub(crate) use status::status;

use crate::{
    check,
    document::Document,
    durable,
    error::Error,
    network::Network as _,
    paths::Paths,
    record::Record,
    state::{Parsed, State},
};

/// Turns true on SIGTERM and SIGINT.
fn stop_on_signals() -> Result<watch::Receiver<bool>, Error> {
    use tokio::signal::unix::{SignalKind, signal};
    let (sender, receiver) = watch::channel(false);
    let mut term = signal(SignalKind::terminate()).map_err(Error::Signals)?;
    let mut int = signal(SignalKind::interrupt()).map_err(Error::Signals)?;
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        // Nobody listens when the run is over already.
        let _ = sender.send(true);
    });
    Ok(receiver)
}

/// Prints to stdout.
fn print(text: &str) -> Result<(), Error> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)
}

/// The last good document.
fn last_good(paths: &Paths) -> Result<Option<(Document, Parsed)>, Error> {
    let path = paths.last_good();
    if !path.exists() {
        return Ok(None);
    }
    let mut document = Document::read(path)?;
    let parsed = check::check(&document)?;
    // Its place on disk is a copy; what people know is the file it came from.
    if let Some(committed) = Record::load(paths).committed
        && committed.digest == document.digest
    {
        document.path = committed.source;
    }
    Ok(Some((document, parsed)))
}

/// The state that the last good document came to: for a policy what it resolved to then, as its
/// captures and `copy-mac-from` may mean something else by now.
fn last_good_state(paths: &Paths) -> Result<Option<State>, Error> {
    let Some((_, parsed)) = last_good(paths)? else { return Ok(None) };
    let bytes = durable::read(&paths.last_good_state())?.unwrap_or_default();
    let then = Parsed::new(&String::from_utf8_lossy(&bytes))?.resolve(None)?;
    Ok(Some(match parsed.needs_current() {
        true => then,
        // The document says more than the copy: nmstate doesn't write everything that it reads.
        false => parsed.resolve(None)?.with_macs_of(&then),
    }))
}

/// What the current state lacks of `desired`: names for people and the whole as YAML.
async fn drift(
    network: &crate::real::RealNetwork<'_>,
    desired: &State,
) -> Result<Option<(Vec<String>, String)>, Error> {
    let current = network.current().await?;
    match desired.missing_in(&current)? {
        None => Ok(None),
        Some(diff) => Ok(Some((diff.subjects(), diff.to_yaml()?))),
    }
}
