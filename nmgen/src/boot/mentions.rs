//! Finds documents by the MAC addresses that they contain. Every file is read once, no matter how
//! many cards appear later.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::fault::Fault;
use super::listing::HostsDirectory;
use crate::mac::{Mac, mentioned};
use crate::source::MAX_DOCUMENT_BYTES;

/// Bounds of the addresses kept for one document and for all; a document with more is read again.
const MAX_OF_ONE: usize = 64;
const MAX_OF_ALL: usize = 1 << 16;
/// The size of a usual document; the buffer grows for larger ones.
const USUAL_BYTES: usize = 16 << 10;

/// The MAC addresses in the documents' texts, in any notation.
pub(super) struct Mentions<'d> {
    directory: &'d HostsDirectory,
    /// Hosts with their addresses; `None` for more than the bounds.
    hosts: Vec<(&'d str, Option<Vec<Mac>>)>,
}

impl<'d> Mentions<'d> {
    /// Reads the directory's documents. One above the size limit fails once it is chosen.
    ///
    /// # Errors
    /// A file cannot be read; it may be this machine's.
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

    /// True when a document contains an address.
    pub(super) fn has_any(&self) -> bool {
        !self.hosts.is_empty()
    }

    /// The names of hosts whose documents contain this address.
    ///
    /// # Errors
    /// A file that is read again cannot be read.
    pub(super) fn of(&self, wanted: Mac) -> Result<Vec<&'d str>, Fault> {
        let mut found = Vec::new();
        let mut buffer = Vec::new();
        for (name, macs) in &self.hosts {
            let is_there = match macs {
                Some(macs) => macs.contains(&wanted),
                None => {
                    buffer.resize(USUAL_BYTES.max(buffer.len()), 0);
                    let text = read(&self.directory.file(name), &mut buffer)?;
                    mentioned(text).any(|mac| mac == wanted)
                }
            };
            found.extend(is_there.then_some(*name));
        }
        Ok(found)
    }
}

/// The beginning of a file, up to the largest size of a document.
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
        // A short read of a regular file means its end.
        if length < buffer.len() || length >= MAX_DOCUMENT_BYTES {
            return Ok(length);
        }
        buffer.resize(MAX_DOCUMENT_BYTES, 0);
    }
}
