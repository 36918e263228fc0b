//! The checks before anything is touched: the one place that calls the rules.

use thiserror::Error;

use crate::{
    document::Document,
    state::{Parsed, StateError},
};

/// A document that must not be applied.
#[derive(Debug, Error)]
pub(crate) enum CheckError {
    #[error("{path} is not valid")]
    Parse { path: std::path::PathBuf, source: StateError },
}

/// Parses and checks.
pub(crate) fn check(document: &Document) -> Result<Parsed, CheckError> {
    Parsed::new(&document.text)
        .map_err(|source| CheckError::Parse { path: document.path.clone(), source })
}
