//! The root file system that the initramfs is about to switch to, and where things are in it.

use std::io;
use std::path::{Path, PathBuf};

use super::fault::Fault;
use super::root::Paths;

/// One of these every system has; a mount point without a file system has none.
const ROOTS: [&str; 2] = ["etc", "usr"];

/// It is there.
pub(super) struct Sysroot(PathBuf);

impl Sysroot {
    /// # Errors
    /// [`Fault::NoRoot`]: nothing is mounted there.
    pub(super) fn open(paths: &Paths) -> Result<Self, Fault> {
        let path = paths.under("/sysroot");
        match path.canonicalize() {
            Ok(root) if ROOTS.iter().any(|name| root.join(name).is_dir()) => Ok(Self(root)),
            Ok(_) | Err(_) => Err(Fault::NoRoot { path }),
        }
    }

    /// The place of an absolute path in it.
    ///
    /// # Errors
    /// [`Fault::OutsideRoot`]: a link on the way would lead to a file of the initramfs.
    pub(super) fn place(&self, path: &str) -> Result<PathBuf, Fault> {
        let place = self.0.join(path.trim_start_matches('/'));
        for directory in place.ancestors().skip(1).take_while(|it| it.starts_with(&self.0)) {
            match directory.canonicalize() {
                Ok(real) if real.starts_with(&self.0) => return Ok(place),
                Err(error) if is_missing(&error, directory) => {}
                Ok(_) | Err(_) => return Err(Fault::OutsideRoot { path: directory.to_owned() }),
            }
        }
        Ok(place)
    }
}

/// A link that leads nowhere is there, too: nowhere for now.
fn is_missing(error: &io::Error, path: &Path) -> bool {
    error.kind() == io::ErrorKind::NotFound && path.symlink_metadata().is_err()
}
