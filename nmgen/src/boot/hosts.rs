//! The hosts directory: which one it is, what is in it, and which of its files speak of an address.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::command_line::CommandLine;
use super::error::Fault;
use super::mac::{Mac, mentions};
use super::paths::Paths;
use crate::source::{CLUSTER, MAX_DOCUMENT_BYTES};

/// The ones that are looked at first, in this order.
const DIRECTORIES: [&str; 2] = ["/etc/nmgen", "/run/nmgen"];

/// A directory with documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostsDirectory {
    pub(super) path: PathBuf,
    /// Names of `<name>.yml` files without the extension, sorted.
    pub(super) names: Vec<String>,
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
        let (mut names, mut ignored) = (Vec::new(), Vec::new());
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let Ok(file_name) = entry.file_name().into_string() else { continue };
            let list = match file_name.rsplit_once('.') {
                Some(("", _)) => continue,
                Some((_, "yml")) => &mut names,
                Some((_, "yaml")) => &mut ignored,
                _ => continue,
            };
            // Files may be links, as in a mounted ConfigMap.
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_file() || (kind.is_symlink() && entry.path().is_file()) {
                list.push(file_name.rsplit_once('.').map_or("", |(stem, _)| stem).to_owned());
            }
        }
        names.sort_unstable();
        ignored.sort_unstable();
        Ok(Some(Self { path, names, ignored }))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.binary_search_by(|known| known.as_str().cmp(name)).is_ok()
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
        for name in self.names.iter().filter(|name| *name != CLUSTER) {
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
