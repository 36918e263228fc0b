//! Signals to a run.

use std::future::Future;

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};

use crate::error::Error;

/// What a run is told by signals.
pub(super) struct Signals {
    /// Turns true on SIGTERM and SIGINT.
    pub(super) stop: watch::Receiver<bool>,
    hangup: Signal,
}

impl Signals {
    /// Listens from now on. SIGHUP ends no run: the terminal of a run by hand may hang on the network
    /// that it changes.
    pub(super) fn listen() -> Result<Self, Error> {
        let (sender, stop) = watch::channel(false);
        let mut term = signal(SignalKind::terminate()).map_err(Error::Signals)?;
        let mut int = signal(SignalKind::interrupt()).map_err(Error::Signals)?;
        let hangup = signal(SignalKind::hangup()).map_err(Error::Signals)?;
        tokio::spawn(async move {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
            // Nobody listens when the run is over already.
            let _ = sender.send(true);
        });
        Ok(Self { stop, hangup })
    }

    /// Returns at the next SIGHUP.
    pub(super) async fn hangup(&mut self) {
        // Signals do not end.
        while self.hangup.recv().await.is_none() {}
    }
}

/// Returns when a run is to stop.
pub(super) async fn stopped(mut stop: watch::Receiver<bool>) {
    // A sender that is gone cannot stop anyone any more.
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Work that changes nothing, and that a signal may cut short.
pub(super) async fn stoppable<T, E: Into<Error>>(
    stop: &watch::Receiver<bool>,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, Error> {
    tokio::select! {
        biased;
        () = stopped(stop.clone()) => Err(Error::Stopped),
        done = work => done.map_err(Into::into),
    }
}
