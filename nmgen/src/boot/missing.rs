//! Operations on files that may be missing. Imports no other module.

use std::io;

/// True for an operation on a file that is missing.
pub(super) fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// The result of an operation on a file; `None` if the file is missing.
pub(super) fn unless_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if is_missing(&error) => Ok(None),
        result => result.map(Some),
    }
}
