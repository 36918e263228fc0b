//! The start of an attempt: the settings, and the lock.

use tokio::sync::watch;

use super::{outcome, signals::stoppable};
use crate::{
    error::Error,
    lock,
    paths::Paths,
    settings::{Settings, SettingsError},
};

/// A turn to change the network, which lasts until it is dropped.
pub(super) struct Turn {
    pub(super) settings: Settings,
    /// The fault of settings that cannot be used; `settings` are the defaults then.
    pub(super) unusable: Option<SettingsError>,
    _lock: lock::Lock,
}

impl Turn {
    /// Keeps the lock until the process ends.
    pub(super) fn keep(self) {
        std::mem::forget(self);
    }

    /// Waits for the lock. Unusable settings fail the attempt later, under the lock.
    ///
    /// # Errors
    /// Another run kept the lock, or a signal ended the wait; reported, but not in the status file, which
    /// belongs to the other run.
    pub(super) async fn wait(
        paths: &Paths,
        command: &'static str,
        stop: &watch::Receiver<bool>,
    ) -> Result<Self, Error> {
        let (settings, unusable) = match Settings::load(paths) {
            Ok(settings) => (settings, None),
            Err(error) => (Settings::default(), Some(error)),
        };
        let taken = lock::take(paths, command, settings.wait.turn.get(), outcome::waits);
        match stoppable(stop, taken).await {
            Ok(lock) => Ok(Self { settings, unusable, _lock: lock }),
            Err(error) => {
                outcome::refused(&error);
                Err(error)
            }
        }
    }
}
