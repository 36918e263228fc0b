//! Profiles that nmgen did not write, parsed far enough to know their interface.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::mac::Mac;
use crate::profile::Keyfile;

/// A keyfile, reduced to the keys that decide conflicts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Other {
    pub(super) path: PathBuf,
    pub(super) uuid: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) interface: Option<String>,
    pub(super) mac: Option<Mac>,
}

/// The profiles in a directory, sorted by name; none if it is missing.
///
/// # Errors
/// The directory cannot be listed. NetworkManager cannot read an unreadable file either, but its name
/// is taken.
pub(super) fn list(directory: &Path) -> io::Result<Vec<Other>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry?.path());
    }
    paths.sort_unstable();
    // Reading a FIFO would block.
    paths.retain(|path| path.is_file());
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap_or_default();
        parse(&String::from_utf8_lossy(&bytes), path)
    };
    Ok(paths.into_iter().map(read).collect())
}

fn parse(text: &str, path: PathBuf) -> Other {
    let keyfile = Keyfile::parse_leniently(text);
    let connection = |key| keyfile.get("connection", key).filter(|value| !value.is_empty());
    let owned = |key| connection(key).map(str::to_owned);
    let macs = keyfile.sections.iter().filter_map(|section| section.get("mac-address"));
    Other {
        path,
        uuid: owned("uuid"),
        kind: owned("type"),
        interface: owned("interface-name"),
        mac: macs.filter_map(Mac::parse).rfind(|mac| !mac.is_zero()),
    }
}

impl Other {
    /// Its name in messages.
    pub(super) fn name(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.interface.clone().unwrap_or_else(|| stem.into_owned())
    }

    /// True for a profile of a physical network card.
    pub(super) fn is_of_card(&self) -> bool {
        let kinds = ["ethernet", "802-3-ethernet", "infiniband"];
        self.kind.as_deref().is_some_and(|kind| kinds.contains(&kind))
    }
}
