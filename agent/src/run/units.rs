//! The links that enable units; the bus may be down.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::paths::Paths;

/// Endings of the directories with the links that `systemctl enable` makes.
const WANTED: [&str; 3] = [".wants", ".requires", ".upholds"];

/// Whether another unit wants `unit`, by a link in any directory that systemd reads. A directory that cannot be read
/// counts as one with the link.
pub(crate) fn is_enabled(paths: &Paths, unit: &str) -> bool {
    paths.unit_directories().iter().any(|directory| match is_linked(directory, unit) {
        Ok(is_linked) => is_linked,
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => {
            tracing::warn!("{}: {error}; {unit} counts as enabled", directory.display());
            true
        }
    })
}

fn is_linked(directory: &Path, unit: &str) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let is_wants = path.to_str().is_some_and(|it| WANTED.iter().any(|end| it.ends_with(end)));
        if is_wants && path.join(unit).symlink_metadata().is_ok() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether systemd finds a file of this name.
pub(crate) fn is_installed(paths: &Paths, unit: &str) -> bool {
    paths.unit_directories().iter().any(|directory| directory.join(unit).exists())
}

pub(crate) fn is_masked(paths: &Paths, unit: &str) -> bool {
    let is_null = |link: &PathBuf| link.read_link().is_ok_and(|it| it == Path::new("/dev/null"));
    paths.masks(unit).iter().any(is_null)
}
