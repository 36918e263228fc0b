//! The entries of a directory.

use std::path::Path;

use nmgen_document::error::Error;

/// True for the path of a directory; `-` is none.
pub(super) fn is(path: &str) -> bool {
    path != "-" && Path::new(path).is_dir()
}

/// The files, sorted, so that the result doesn't depend on the file system's order.
pub(super) fn files(directory: &str) -> Result<Vec<String>, Error> {
    names(directory, Path::is_file)
}

/// The entries that `wanted` accepts, sorted.
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

/// The path of a file in a directory, as shown in messages.
pub(super) fn join(directory: &str, name: &str) -> String {
    Path::new(directory).join(name).display().to_string()
}
