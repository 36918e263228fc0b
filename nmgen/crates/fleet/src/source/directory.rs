//! The entries of a directory.

use std::path::Path;

use nmgen_core::source::read_file::{self, Limit};
use nmgen_document::diagnostic::{Diagnostics, Place, rules};
use nmgen_document::error::Error;
use nmgen_document::text::Source;

rules! {
    error LINK_OUTSIDE = "link-outside";
}

/// True for the name of a visible YAML file.
pub(super) fn is_yaml(name: &str) -> bool {
    !name.starts_with('.') && (name.ends_with(".yml") || name.ends_with(".yaml"))
}

/// True for the path of a directory; `-` is none.
pub(super) fn is(path: &str) -> bool {
    path != "-" && Path::new(path).is_dir()
}

/// All entries but directories, sorted, so that the result doesn't depend on the file system's order.
pub(super) fn files(directory: &str) -> Result<Vec<String>, Error> {
    names(directory, |path| !path.is_dir())
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

/// Reads a file below the directory `tree`; `None` if it is unusable, which the diagnostics report. A stranger's link, as a change
/// to a repository can bring one, shows nothing of the machine that reads it; links inside the tree, as a ConfigMap's volume has
/// them, are followed.
pub(super) fn read(
    tree: &str,
    file: &str,
    limit: Limit,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Source>, Error> {
    if leaves(tree, file).map_err(|source| Error::ReadFile { path: file.to_owned(), source })? {
        let message = "this link leads out of the directory";
        let help = "put the file itself there, or give the directory that has all of them";
        diagnostics.add(LINK_OUTSIDE, Place::file(file), message, help);
        return Ok(None);
    }
    read_file::file(file, limit, diagnostics)
}

/// True for a path below the directory that leads out of it.
pub(super) fn leaves(tree: &str, path: &str) -> std::io::Result<bool> {
    Ok(!Path::new(path).canonicalize()?.starts_with(Path::new(tree).canonicalize()?))
}

/// The path of a file in a directory, as shown in messages.
pub(super) fn join(directory: &str, name: &str) -> String {
    Path::new(directory).join(name).display().to_string()
}
