//! Recognises by its files what a directory is.

use std::path::Path;

use super::found::Found;
use super::{assisted_tree, hosts_directory, nmc_directory};
use crate::error::Error;

/// Loads a hosts directory, an assisted-service tree or an nmc directory.
pub(super) fn load(directory: &str, found: &mut Found) -> Result<(), Error> {
    let hosts = assisted_tree::hosts(directory)?;
    if !hosts.is_empty() {
        return assisted_tree::load(&hosts, found);
    }
    let names = file_names(directory)?;
    match nmc_directory::is(&names) {
        true => nmc_directory::load(directory, &names, found),
        false => hosts_directory::load(directory, &names, found),
    }
}

/// The files, sorted, so that the result doesn't depend on the order in which the file system keeps them.
pub(super) fn file_names(directory: &str) -> Result<Vec<String>, Error> {
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
