//! Which documents speak of which MAC address. Every file is read once, however many cards come one after
//! the other.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::fault::Fault;
use super::listing::HostsDirectory;
use crate::mac::{Mac, mentioned};
use crate::source::MAX_DOCUMENT_BYTES;

/// As many addresses as are kept of a document, and of all: a document with more is read again.
const MAX_OF_ONE: usize = 64;
const MAX_OF_ALL: usize = 1 << 16;
/// As large as a document of this many hosts is; the buffer grows for one that is larger.
const USUAL_BYTES: usize = 16 << 10;

/// The addresses that stand in the documents' texts, in whatever way they are written there.
pub(super) struct Mentions<'d> {
    directory: &'d HostsDirectory,
    /// Hosts with their addresses; `None` for more than are kept.
    hosts: Vec<(&'d str, Option<Vec<Mac>>)>,
}

impl<'d> Mentions<'d> {
    /// Reads the directory's documents. One that is too large to be used is left to whoever chooses it.
    ///
    /// # Errors
    /// Where a file cannot be read: it may be this machine's.
    pub(super) fn read(directory: &'d HostsDirectory) -> Result<Self, Fault> {
        let mut buffer = vec![0; USUAL_BYTES];
        let (mut hosts, mut kept) = (Vec::new(), 0);
        for name in directory.hosts() {
            let text = read(&directory.file(name), &mut buffer)?;
            let room = MAX_OF_ONE.min(MAX_OF_ALL - kept);
            let macs: Vec<Mac> = mentioned(text).take(room + 1).collect();
            let macs = (macs.len() <= room).then_some(macs);
            kept += macs.as_ref().map_or(0, Vec::len);
            if macs.as_ref().is_none_or(|macs| !macs.is_empty()) {
                hosts.push((name, macs));
            }
        }
        Ok(Self { directory, hosts })
    }

    /// The names of hosts whose documents have one of these addresses.
    ///
    /// # Errors
    /// As above.
    pub(super) fn of(&self, wanted: &[Mac]) -> Result<Vec<&'d str>, Fault> {
        let mut found = Vec::new();
        let mut buffer = Vec::new();
        for (name, macs) in &self.hosts {
            let is_there = match macs {
                Some(macs) => macs.iter().any(|mac| wanted.contains(mac)),
                None => {
                    buffer.resize(USUAL_BYTES.max(buffer.len()), 0);
                    let text = read(&self.directory.file(name), &mut buffer)?;
                    mentioned(text).any(|mac| wanted.contains(&mac))
                }
            };
            found.extend(is_there.then_some(*name));
        }
        Ok(found)
    }
}

/// The beginning of a file, as much of it as a document may have.
fn read<'b>(path: &Path, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], Fault> {
    let length =
        fill(path, buffer).map_err(|source| Fault::ReadFile { path: path.to_owned(), source })?;
    Ok(&buffer[..length])
}

fn fill(path: &Path, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let mut file = File::open(path)?;
    let mut length = 0;
    loop {
        match file.read(&mut buffer[length..]) {
            Ok(0) => return Ok(length),
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        // Of an ordinary file less than asked for is the rest of it.
        if length < buffer.len() || length >= MAX_DOCUMENT_BYTES {
            return Ok(length);
        }
        buffer.resize(MAX_DOCUMENT_BYTES, 0);
    }
}
