//! Finds and lists the hosts directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use nmgen_core::node::{CLUSTER, Listing};
use nmgen_document::size::MAX_HOSTS;

use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::files::unless_missing;
use crate::root::Paths;

/// Searched in this order, before the directory of `nmgen.dir=`. Credentials of systemd, of the unit or of
/// the whole system, have a prefix: the directory has others' too.
const DIRECTORIES: [(&str, &str); 4] = [
    ("/etc/nmgen", ""),
    ("/run/nmgen", ""),
    ("/run/credentials/nmgen.service", CREDENTIAL),
    ("/run/credentials/@system", CREDENTIAL),
];
const CREDENTIAL: &str = "nmgen.";

/// A directory with documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostsDirectory {
    pub(crate) path: PathBuf,
    /// Before the name of each file.
    prefix: &'static str,
    /// Sorted by name.
    pub(crate) listing: Listing,
    /// Symbolic links between these names, as `nmgen generate --to initrd` makes them.
    links: BTreeMap<String, String>,
}

impl HostsDirectory {
    /// The first directory with documents; `None` if none exists.
    ///
    /// # Errors
    /// A directory cannot be read, or that of `nmgen.dir=` is missing.
    pub(crate) fn find(paths: &Paths, line: &CommandLine) -> Result<Option<Self>, Fault> {
        for (directory, prefix) in DIRECTORIES {
            let found = Self::read(paths.under(directory), prefix)?;
            if found.as_ref().is_some_and(|found| !found.listing.names.is_empty()) {
                return Ok(found);
            }
        }
        let Some(named) = &line.directory else { return Ok(None) };
        Self::at(paths.under(named)).map(Some)
    }

    /// This directory.
    ///
    /// # Errors
    /// It is missing, or cannot be read.
    pub(crate) fn at(path: PathBuf) -> Result<Self, Fault> {
        match Self::read(path.clone(), "")? {
            Some(found) => Ok(found),
            None => Err(Fault::ReadDirectory { path, source: nix::errno::Errno::ENOENT.into() }),
        }
    }

    fn read(path: PathBuf, prefix: &'static str) -> Result<Option<Self>, Fault> {
        let failed = |source| Fault::ReadDirectory { path: path.clone(), source };
        let entries = unless_missing(fs::read_dir(&path)).map_err(failed)?;
        let Some(entries) = entries else { return Ok(None) };
        let (mut listing, mut links) = (Listing::default(), BTreeMap::new());
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let Ok(file_name) = entry.file_name().into_string() else { continue };
            let Some(file_name) = file_name.strip_prefix(prefix) else { continue };
            // A mounted ConfigMap has symbolic links.
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_symlink() && entry.path().is_file() {
                listing.add(file_name);
                let to = fs::read_link(entry.path()).map_err(failed)?;
                let to = to.to_str().and_then(|to| to.strip_suffix(".yml"));
                let stem = file_name.strip_suffix(".yml");
                links.extend(stem.zip(to).map(|(stem, to)| (stem.to_owned(), to.to_owned())));
            } else if kind.is_file() {
                listing.add(file_name);
            }
            if listing.names.len() + listing.ignored.len() > MAX_HOSTS {
                return Err(Fault::TooMany { path });
            }
        }
        listing.sort();
        // A link that leads elsewhere is an ordinary document.
        links.retain(|_, to| listing.names.binary_search(to).is_ok());
        Ok(Some(Self { path, prefix, listing, links }))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.listing.names.binary_search_by(|known| known.as_str().cmp(name)).is_ok()
    }

    /// The document's name, following a link.
    pub(crate) fn document<'n>(&'n self, name: &'n str) -> &'n str {
        self.links.get(name).map_or(name, String::as_str)
    }

    /// A document's file.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(format!("{}{name}.yml", self.prefix))
    }

    /// The names of documents for single machines, each once.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &str> {
        let names = self.listing.names.iter().map(String::as_str);
        names.filter(|name| *name != CLUSTER && !self.links.contains_key(*name))
    }
}
