//! Profiles as files, nmgen's or others', read far enough to know their interfaces.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::small_file;
use crate::mac::Mac;
use crate::profile::Keyfile;

/// A profile's file. An unreadable one has an empty keyfile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Other {
    pub(super) path: PathBuf,
    pub(super) keyfile: Keyfile,
}

/// The profiles in a directory, sorted by name; none if it is missing.
///
/// # Errors
/// The directory cannot be listed. NetworkManager cannot read an unreadable file either, but its name
/// is taken.
pub(super) fn list(directory: &Path) -> io::Result<Vec<Other>> {
    let read = |path: PathBuf| {
        let bytes = small_file::read(&path).unwrap_or_default();
        Other { keyfile: Keyfile::parse_leniently(&String::from_utf8_lossy(&bytes)), path }
    };
    Ok(files(directory)?.into_iter().map(read).collect())
}

/// The files in a directory, sorted by name; none if it is missing.
pub(super) fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
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
    Ok(paths)
}

impl Other {
    fn connection(&self, key: &str) -> Option<&str> {
        self.keyfile.get("connection", key).filter(|value| !value.is_empty())
    }

    pub(super) fn uuid(&self) -> Option<&str> {
        self.connection("uuid")
    }

    pub(super) fn id(&self) -> Option<&str> {
        self.connection("id")
    }

    pub(super) fn kind(&self) -> Option<&str> {
        self.connection("type")
    }

    pub(super) fn interface(&self) -> Option<&str> {
        self.connection("interface-name")
    }

    /// The interface or the uuid of the controller that it is a port of.
    pub(super) fn controller(&self) -> Option<&str> {
        self.connection("controller").or_else(|| self.connection("master"))
    }

    /// The type of the controller that it is a port of.
    pub(super) fn port_type(&self) -> Option<&str> {
        self.connection("port-type").or_else(|| self.connection("slave-type"))
    }

    pub(super) fn priority(&self) -> i32 {
        self.connection("autoconnect-priority").and_then(|it| it.parse().ok()).unwrap_or_default()
    }

    /// The card that it matches by a permanent address.
    pub(super) fn mac(&self) -> Option<Mac> {
        let macs = self.keyfile.sections.iter().filter_map(|section| section.get("mac-address"));
        macs.filter_map(Mac::parse).rfind(|mac| !mac.is_zero())
    }

    /// The base interface: its name, uuid or address.
    pub(super) fn parent(&self) -> Option<&str> {
        self.keyfile.sections.iter().find_map(|section| section.get("parent"))
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.interface().map_or_else(|| stem.into_owned(), str::to_owned)
    }

    /// True for a profile of a physical network card.
    pub(super) fn is_of_card(&self) -> bool {
        let kinds = ["ethernet", "802-3-ethernet", "infiniband"];
        self.kind().is_some_and(|kind| kinds.contains(&kind))
    }
}
