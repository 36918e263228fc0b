//! The hosts directory: which one it is, what is in it, and which of its files speak of an address.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::command_line::CommandLine;
use super::error::Fault;
use super::mac::{Mac, mentions};
use super::paths::Paths;
use crate::source::{CLUSTER, MAX_DOCUMENT_BYTES, MAX_HOSTS};

/// The ones that are looked at first, in this order.
const DIRECTORIES: [&str; 2] = ["/etc/nmgen", "/run/nmgen"];

/// A directory with documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostsDirectory {
    pub(super) path: PathBuf,
    /// Names of `<name>.yml` files without the extension, sorted.
    pub(super) names: Vec<String>,
    /// Links from one of these names to another, as `nmgen generate --to initrd` makes.
    links: BTreeMap<String, String>,
    /// Names of `.yaml` files, which nobody reads.
    pub(super) ignored: Vec<String>,
}

impl HostsDirectory {
    /// The first directory that has documents; `None` where there is none at all.
    ///
    /// # Errors
    /// Where one cannot be read, and where the one of the kernel command line is not there.
    pub(super) fn find(paths: &Paths, line: &CommandLine) -> Result<Option<Self>, Fault> {
        for directory in DIRECTORIES {
            let found = Self::read(paths.under(directory))?;
            if found.as_ref().is_some_and(|found| !found.names.is_empty()) {
                return Ok(found);
            }
        }
        let Some(named) = &line.directory else { return Ok(None) };
        let path = paths.under(named);
        match Self::read(path.clone())? {
            Some(found) => Ok(Some(found)),
            None => Err(Fault::ReadDirectory { path, source: nix::errno::Errno::ENOENT.into() }),
        }
    }

    fn read(path: PathBuf) -> Result<Option<Self>, Fault> {
        let failed = |source| Fault::ReadDirectory { path: path.clone(), source };
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let (mut names, mut ignored, mut links) = (Vec::new(), Vec::new(), BTreeMap::new());
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let Ok(file_name) = entry.file_name().into_string() else { continue };
            let (stem, list) = match file_name.rsplit_once('.') {
                Some(("", _)) => continue,
                Some((stem, "yml")) => (stem, &mut names),
                Some((stem, "yaml")) => (stem, &mut ignored),
                _ => continue,
            };
            // Files may be links, as in a mounted ConfigMap.
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_symlink() && entry.path().is_file() {
                list.push(stem.to_owned());
                let to = fs::read_link(entry.path()).map_err(failed)?;
                let to = to.to_str().and_then(|to| to.strip_suffix(".yml"));
                links.extend(to.map(|to| (stem.to_owned(), to.to_owned())));
            } else if kind.is_file() {
                list.push(stem.to_owned());
            }
            if names.len() > MAX_HOSTS {
                return Err(Fault::TooMany { path });
            }
        }
        names.sort_unstable();
        ignored.sort_unstable();
        // One that leads elsewhere is a document like any other.
        links.retain(|_, to| names.binary_search(to).is_ok());
        Ok(Some(Self { path, names, links, ignored }))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.binary_search_by(|known| known.as_str().cmp(name)).is_ok()
    }

    /// The name of the document that one of the names leads to.
    pub(super) fn document<'n>(&'n self, name: &'n str) -> &'n str {
        self.links.get(name).map_or(name, String::as_str)
    }

    /// A document's file.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.yml"))
    }

    /// The names of hosts whose documents have one of these addresses somewhere in their text; `cluster`
    /// is for no machine in particular. A document that is too large to be read is left to whoever
    /// chooses it.
    ///
    /// # Errors
    /// Where a file cannot be read: it may be this machine's.
    pub(super) fn mentioning(&self, macs: &[Mac]) -> Result<Vec<&str>, Fault> {
        let mut found = Vec::new();
        if macs.is_empty() {
            return Ok(found);
        }
        // As large as a document of this many hosts is; grows for one that is larger.
        let mut buffer = vec![0; 16 << 10];
        let is_host = |name: &&String| *name != CLUSTER && !self.links.contains_key(*name);
        for name in self.names.iter().filter(is_host) {
            let path = self.file(name);
            let length =
                read(&path, &mut buffer).map_err(|source| Fault::ReadFile { path, source })?;
            if mentions(&buffer[..length], macs) {
                found.push(name.as_str());
            }
        }
        Ok(found)
    }
}

/// Reads the beginning of a file, as much of it as a document may have.
fn read(path: &Path, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let mut file = File::open(path)?;
    let mut length = 0;
    loop {
        match file.read(&mut buffer[length..])? {
            0 => return Ok(length),
            read => length += read,
        }
        // Of an ordinary file less than asked for is the rest of it.
        if length < buffer.len() {
            return Ok(length);
        }
        if length >= MAX_DOCUMENT_BYTES {
            return Ok(length);
        }
        buffer.resize(MAX_DOCUMENT_BYTES, 0);
    }
}
