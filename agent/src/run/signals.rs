//! Signals that a run handles.

use std::future::Future;

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};

use crate::{
    error::{Error, Result},
    transaction::stopped,
};

pub(crate) struct Signals {
    /// Turns true on SIGTERM and SIGINT.
    pub(crate) stop: watch::Receiver<bool>,
    hangup: Signal,
}

impl Signals {
    /// Listens from now on. SIGHUP never ends a run: the terminal of a manual run may depend on the
    /// network that it changes.
    pub(crate) fn listen() -> Result<Self> {
        let (sender, stop) = watch::channel(false);
        let mut term = signal(SignalKind::terminate()).map_err(Error::Signals)?;
        let mut int = signal(SignalKind::interrupt()).map_err(Error::Signals)?;
        let hangup = signal(SignalKind::hangup()).map_err(Error::Signals)?;
        tokio::spawn(async move {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
            // Without a receiver the run is over already.
            let _ = sender.send(true);
        });
        Ok(Self { stop, hangup })
    }

    /// Returns at the next SIGHUP.
    pub(crate) async fn hangup(&mut self) {
        // The stream of signals does not end.
        while self.hangup.recv().await.is_none() {}
    }
}

/// Runs work that changes nothing, so that a signal may interrupt it.
pub(crate) async fn stoppable<T, E: Into<Error>>(
    stop: &watch::Receiver<bool>,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T> {
    tokio::select! {
        biased;
        () = stopped(stop.clone()) => Err(Error::Stopped),
        done = work => done.map_err(Into::into),
    }
}
