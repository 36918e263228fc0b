//! Finds documents by the MAC addresses that they contain. Every file is read once, no matter how
//! many cards appear later.

use nmgen_document::mac::{Mac, mentioned};

use crate::choose::host_file::bytes;
use crate::choose::listing::HostsDirectory;
use crate::fault::Fault;

/// Bounds of the addresses kept for one document and for all; a document with more is read again.
const MAX_OF_ONE: usize = 64;
const MAX_OF_ALL: usize = 1 << 16;

/// The MAC addresses in the documents' texts, in any notation.
pub(crate) struct Mentions<'d> {
    directory: &'d HostsDirectory,
    /// Hosts with their addresses; `None` for more than the bounds.
    hosts: Vec<(&'d str, Option<Vec<Mac>>)>,
    /// Hosts whose files are no UTF-8, such as UTF-16 of an editor.
    foreign: Vec<&'d str>,
}

impl<'d> Mentions<'d> {
    /// Reads the directory's documents. One above the size limit fails once it is chosen.
    ///
    /// # Errors
    /// A file cannot be read; it may be this machine's.
    pub(crate) fn read(directory: &'d HostsDirectory) -> Result<Self, Fault> {
        let (mut hosts, mut foreign, mut room) = (Vec::new(), Vec::new(), MAX_OF_ALL);
        for name in directory.hosts() {
            let text = bytes(&directory.file(name))?;
            if text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") || text.contains(&0) {
                foreign.push(name);
            }
            let mut macs = mentioned(&text);
            let first: Vec<Mac> = macs.by_ref().take(MAX_OF_ONE.min(room)).collect();
            let macs = macs.next().is_none().then_some(first);
            room = room.saturating_sub(macs.as_ref().map_or(0, Vec::len));
            if macs.as_ref().is_none_or(|macs| !macs.is_empty()) {
                hosts.push((name, macs));
            }
        }
        Ok(Self { directory, hosts, foreign })
    }

    /// The names of files that are no UTF-8.
    pub(crate) fn foreign(&self) -> &[&'d str] {
        &self.foreign
    }

    /// True when a document contains an address.
    pub(crate) fn has_any(&self) -> bool {
        !self.hosts.is_empty()
    }

    /// The names of hosts whose documents contain this address.
    ///
    /// # Errors
    /// A file that is read again cannot be read.
    pub(crate) fn of(&self, wanted: Mac) -> Result<Vec<&'d str>, Fault> {
        let mut found = Vec::new();
        for (name, macs) in &self.hosts {
            let is_there = match macs {
                Some(macs) => macs.contains(&wanted),
                None => {
                    let text = bytes(&self.directory.file(name))?;
                    mentioned(&text).any(|mac| mac == wanted)
                }
            };
            found.extend(is_there.then_some(*name));
        }
        Ok(found)
    }
}
