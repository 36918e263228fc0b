//! Files that need not be there: a missing one is no fault.

use std::fs;
use std::path::Path;

use super::fault::Fault;
use super::missing::unless_missing;

/// A file's text; `None` if the file is missing.
pub(super) fn read(path: &Path) -> Result<Option<String>, Fault> {
    unless_missing(fs::read_to_string(path))
        .map_err(|source| Fault::ReadFile { path: path.to_owned(), source })
}

/// Removes a file; a missing one counts as removed.
pub(super) fn remove(path: &Path) -> Result<(), Fault> {
    match unless_missing(fs::remove_file(path)) {
        Ok(_) => Ok(()),
        Err(source) => Err(Fault::Remove { path: path.to_owned(), source }),
    }
}
