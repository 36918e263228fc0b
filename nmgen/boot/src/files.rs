//! Small files that others wrote, and files that may be missing. Neither a FIFO in the place of one nor one of any size holds a
//! boot up.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use nmgen_core::source::bounded;
use nmgen_core::write;

use crate::fault::Fault;

/// More than any profile has.
const MAX_BYTES: usize = 16 << 20;

/// The content.
///
/// # Errors
/// It cannot be read, is no regular file, or larger than 16 MiB.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    bounded::read(path, MAX_BYTES)
}

pub(crate) fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// The result of an operation on a file; `None` if the file is missing.
pub(crate) fn unless_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if is_missing(&error) => Ok(None),
        result => result.map(Some),
    }
}

/// A file's text; `None` if the file is missing.
pub(crate) fn text(path: &Path) -> Result<Option<String>, Fault> {
    unless_missing(fs::read_to_string(path))
        .map_err(|source| Fault::ReadFile { path: path.to_owned(), source })
}

/// Removes a file; a missing one counts as removed.
pub(crate) fn remove(path: &Path) -> Result<(), Fault> {
    match unless_missing(fs::remove_file(path)) {
        Ok(_) => Ok(()),
        Err(source) => Err(Fault::Remove { path: path.to_owned(), source }),
    }
}

/// Creates the directories above a file.
pub(crate) fn parents(path: &Path) -> Result<(), Fault> {
    path.parent().map_or(Ok(()), write::directory).map_err(Fault::Machine)
}

/// Writes a file with mode 0644, and creates the directories above it.
pub(crate) fn readable(path: &Path, text: Vec<u8>) -> Result<(), Fault> {
    parents(path)?;
    write::write_readable(path, text).map_err(Fault::Machine)
}

/// Writes a file with mode 0600, and creates the directories above it.
pub(crate) fn private(path: &Path, text: Vec<u8>) -> Result<(), Fault> {
    parents(path)?;
    write::write_file(path, text).map_err(Fault::Machine)
}
