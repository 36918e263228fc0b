//! Signals that stop a run.

use tokio::sync::watch;

use crate::error::Error;

/// Turns true on SIGTERM and SIGINT.
pub(super) fn stop_on_signals() -> Result<watch::Receiver<bool>, Error> {
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
