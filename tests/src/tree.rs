//! Trees of files: what an installation made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use std::os::unix::fs::PermissionsExt as _;

use crate::program::root;

/// Everything below `directory` that is no directory, with its mode.
///
/// # Errors
/// What reading a directory gives.
pub fn files(directory: &Path) -> io::Result<BTreeMap<PathBuf, u32>> {
    let mut found = BTreeMap::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            let metadata = path.symlink_metadata()?;
            if metadata.is_dir() {
                directories.push(path);
            } else {
                let name = path.strip_prefix(directory).map_err(io::Error::other)?.to_owned();
                found.insert(name, metadata.permissions().mode() & 0o7777);
            }
        }
    }
    Ok(found)
}

/// Runs make with these variables.
///
/// # Errors
/// Where make cannot be started.
///
/// # Panics
/// When it fails.
pub fn make(target: &str, variables: &[(&str, &Path)]) -> io::Result<()> {
    let mut make = Command::new("make");
    make.current_dir(root()).args(["--silent", target]);
    for (name, value) in variables {
        make.arg(format!("{name}={}", value.display()));
    }
    let output = make.output()?;
    assert!(output.status.success(), "{make:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// What `make install-built` installs, and the variables that tell make where it is.
#[derive(Debug)]
pub struct Built(tempfile::TempDir);

impl Built {
    /// Stand-ins for the programs, whose text is their name: what they do is other tests' business, and the
    /// real ones take minutes to build. The manuals are real.
    ///
    /// # Errors
    /// What writing files gives, and where make cannot be started.
    pub fn stand_ins() -> io::Result<Self> {
        let built = Self(tempfile::tempdir()?);
        for program in ["nmgen", "dayone", "nmgen-ramdisk"] {
            fs::write(built.0.path().join(program), format!("#!/bin/sh\n# {program}\n"))?;
        }
        make("manuals", &[("MANUALS", &built.0.path().join("manuals"))])?;
        Ok(built)
    }

    /// Assignments for make.
    pub fn variables(&self) -> [(&'static str, PathBuf); 3] {
        [
            ("PROGRAMS", self.0.path().to_owned()),
            ("RAMDISK_BINARY", self.0.path().join("nmgen-ramdisk")),
            ("MANUALS", self.0.path().join("manuals")),
        ]
    }

    /// Installs it below `tree`.
    ///
    /// # Errors
    /// Where make cannot be started.
    pub fn install(&self, tree: &Path) -> io::Result<()> {
        let variables = self.variables();
        let mut all: Vec<(&str, &Path)> = vec![("DESTDIR", tree)];
        all.extend(variables.iter().map(|(name, value)| (*name, value.as_path())));
        make("install-built", &all)
    }
}
