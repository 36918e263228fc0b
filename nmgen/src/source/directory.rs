//! What a directory holds.

use std::path::Path;

use crate::error::Error;

/// True for a path of a directory, not for `-`.
pub(super) fn is(path: &str) -> bool {
    path != "-" && Path::new(path).is_dir()
}

/// The files, sorted, so that the result doesn't depend on the order in which the file system keeps them.
pub(super) fn files(directory: &str) -> Result<Vec<String>, Error> {
    names(directory, Path::is_file)
}

/// What a directory holds, as far as `wanted`.
pub(super) fn names(directory: &str, wanted: fn(&Path) -> bool) -> Result<Vec<String>, Error> {
    let failed = |source| Error::ReadDirectory { path: directory.to_owned(), source };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if wanted(&entry.path()) {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The path of a file in a directory, as it is shown.
pub(super) fn join(directory: &str, name: &str) -> String {
    Path::new(directory).join(name).display().to_string()
}
