//! Trees of installed files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use std::os::unix::fs::PermissionsExt as _;

use crate::program::{self, root};

/// All files and links below `directory`, with their modes.
///
/// # Errors
/// If a directory cannot be read.
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
/// If make cannot be started.
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

/// The input of `make install-built`, and the make variables with its paths.
#[derive(Debug)]
pub struct Built {
    nmgen: PathBuf,
    dayone: PathBuf,
    ramdisk: PathBuf,
    manuals: PathBuf,
    bills: PathBuf,
    _directory: Option<tempfile::TempDir>,
}

impl Built {
    /// Stand-ins for the programs, with their name as content; manuals and bills of materials are real.
    ///
    /// # Errors
    /// If a file cannot be written.
    ///
    /// # Panics
    /// When manuals or bills cannot be built.
    pub fn stand_ins() -> io::Result<Self> {
        let directory = tempfile::tempdir()?;
        let path = |name: &str| directory.path().join(name);
        let (nmgen, dayone, ramdisk) = (path("nmgen"), path("dayone"), path("nmgen-ramdisk"));
        for program in [&nmgen, &dayone, &ramdisk] {
            let name = program.file_name().unwrap_or_default().display();
            fs::write(program, format!("#!/bin/sh\n# {name}\n"))?;
        }
        let (manuals, bills) = (path("manuals"), path("sbom"));
        program::write_manuals(&manuals);
        program::write_bills(&bills)?;
        Ok(Self { nmgen, dayone, ramdisk, manuals, bills, _directory: Some(directory) })
    }

    /// The programs as developers build them or as they are shipped, and the real program of the ramdisk.
    ///
    /// # Errors
    /// If make cannot be started.
    ///
    /// # Panics
    /// When one cannot be built.
    pub fn programs() -> io::Result<Self> {
        Self::with_agent(program::dayone().to_owned())
    }

    /// [`Self::programs`] with the agent as nodes run it.
    ///
    /// # Errors
    /// If make cannot be started.
    ///
    /// # Panics
    /// When one cannot be built.
    pub fn of_nodes() -> io::Result<Self> {
        Self::with_agent(program::dayone_of_node())
    }

    fn with_agent(dayone: PathBuf) -> io::Result<Self> {
        let nmgen = program::nmgen().to_owned();
        let manuals = dayone.with_file_name("manuals");
        program::write_manuals(&manuals);
        let bills = dayone.with_file_name("bills");
        program::write_bills(&bills)?;
        let ramdisk = program::nmgen_ramdisk().to_owned();
        Ok(Self { nmgen, dayone, ramdisk, manuals, bills, _directory: None })
    }

    /// Assignments for make.
    pub fn variables(&self) -> [(&'static str, &Path); 5] {
        [
            ("NMGEN_BINARY", &self.nmgen),
            ("DAYONE_BINARY", &self.dayone),
            ("RAMDISK_BINARY", &self.ramdisk),
            ("MANUALS", &self.manuals),
            ("SBOM", &self.bills),
        ]
    }

    /// Installs it below `tree`.
    ///
    /// # Errors
    /// If make cannot be started.
    pub fn install(&self, tree: &Path) -> io::Result<()> {
        make("install-built", &[&[("DESTDIR", tree)][..], &self.variables()].concat())
    }
}
