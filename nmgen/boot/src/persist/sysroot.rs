//! The root file system that the initramfs switches to.

use std::io;
use std::path::{Path, PathBuf};

use crate::fault::Fault;
use crate::root::Paths;

/// Every system has one of these; an empty mount point has neither.
const ROOTS: [&str; 2] = ["etc", "usr"];

/// The mounted root file system.
pub(crate) struct Sysroot(PathBuf);

impl Sysroot {
    /// # Errors
    /// [`Fault::NoRoot`]: no root file system is mounted.
    pub(crate) fn open(paths: &Paths) -> Result<Self, Fault> {
        let path = paths.under("/sysroot");
        match path.canonicalize() {
            Ok(root) if ROOTS.iter().any(|name| root.join(name).is_dir()) => Ok(Self(root)),
            Ok(_) | Err(_) => Err(Fault::NoRoot { path }),
        }
    }

    /// True when something is at this path, a link too: an absolute one leads into the initramfs.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.place(path).is_ok_and(|place| place.symlink_metadata().is_ok())
    }

    /// A directory below this root, which is no link out of it either.
    ///
    /// # Errors
    /// [`Fault::OutsideRoot`].
    pub(crate) fn directory(&self, path: &str) -> Result<PathBuf, Fault> {
        self.place(&format!("{path}/file"))?;
        self.place(path)
    }

    /// An absolute path, below this root.
    ///
    /// # Errors
    /// [`Fault::OutsideRoot`]: a symbolic link on the way leads to a file of the initramfs.
    pub(crate) fn place(&self, path: &str) -> Result<PathBuf, Fault> {
        let place = self.0.join(path.trim_start_matches('/'));
        for directory in
            place.ancestors().skip(1).take_while(|ancestor| ancestor.starts_with(&self.0))
        {
            match directory.canonicalize() {
                Ok(real) if real.starts_with(&self.0) => return Ok(place),
                Err(error) if is_missing(&error, directory) => {}
                Ok(_) | Err(_) => return Err(Fault::OutsideRoot { path: directory.to_owned() }),
            }
        }
        Ok(place)
    }
}

/// True for a missing file; a dangling link is not missing.
fn is_missing(error: &io::Error, path: &Path) -> bool {
    let is_absent = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    is_absent && path.symlink_metadata().is_err()
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_way_through_a_link_out_of_the_root_is_refused() -> io::Result<()> {
        let machine = tempfile::tempdir()?;
        let root = machine.path().join("sysroot");
        fs::create_dir_all(root.join("etc/nmgen"))?;
        fs::create_dir(machine.path().join("etc"))?;
        fs::write(root.join("etc/file"), "")?;
        for (name, to) in [
            // A link to nothing gets its directory once something makes it: in the initramfs.
            ("dangling", machine.path().join("missing")),
            ("outside", machine.path().join("etc")),
            ("round", root.join("etc/round")),
            ("inside", root.join("etc/nmgen")),
        ] {
            symlink(to, root.join("etc").join(name))?;
        }
        let sysroot = Sysroot::open(&Paths::new(machine.path())).map_err(io::Error::other)?;
        for (path, is_inside) in [
            ("/etc/nmgen/persisted", true),
            ("/etc/inside/persisted", true),
            ("/etc/new/directory/persisted", true),
            ("/etc/file/persisted", true),
            ("/etc/dangling/persisted", false),
            ("/etc/dangling/directory/persisted", false),
            ("/etc/outside/persisted", false),
            ("/etc/round/persisted", false),
        ] {
            assert_eq!(sysroot.place(path).is_ok(), is_inside, "{path}");
        }
        Ok(())
    }
}
