//! Failures that end nothing: each is a line of the log.

use std::error::Error;

use nmgen::chain;

/// Results whose error is a warning.
pub(crate) trait OrWarn<T> {
    /// Returns the value; `None` after a warning.
    fn or_warn(self) -> Option<T>;

    /// [`Self::or_warn`] with what fails by the error, before its words.
    fn or_warn_of(self, what: &str) -> Option<T>;
}

impl<T, E: Error> OrWarn<T> for Result<T, E> {
    fn or_warn(self) -> Option<T> {
        self.inspect_err(|error| tracing::warn!("{}", chain(error))).ok()
    }

    fn or_warn_of(self, what: &str) -> Option<T> {
        self.inspect_err(|error| tracing::warn!("{what}: {}", chain(error))).ok()
    }
}
