//! The host file in force, which stays this machine's while it is there, whatever the machine's name is today.
//!
//! A name from DHCP or reverse DNS may be another one for a single boot, or come late, or never. A node that has worked with a host
//! file does not lose it by that: neither the automatic bridge nor `cluster.yml` nor another host's file takes its place.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use nmgen::node::{self, Identity, Listing, RUNNING};

use super::{digest::Digest, read::bytes};
use crate::paths::Paths;

/// A document in force in this deployment: committed, and `applied` has its bytes.
#[derive(Clone, Debug)]
pub(crate) struct InForce {
    /// Its file at the commit.
    pub(crate) source: PathBuf,
    /// The committed bytes.
    pub(crate) digest: Digest,
}

impl InForce {
    /// The document's name without `.yml`, if its file is one of `listing`.
    pub(super) fn listed(&self, paths: &Paths, listing: &Listing) -> Option<String> {
        let source = paths.under(self.source.to_str()?);
        let is_document = source.parent() == Some(&*paths.documents())
            && source.extension() == Some(OsStr::new("yml"));
        let name = source.file_stem()?.to_str()?.to_owned();
        (is_document && listing.names.contains(&name)).then_some(name)
    }

    /// Whether `file` still has the committed bytes.
    pub(super) fn is_unchanged(&self, file: &Path) -> bool {
        bytes(file).is_ok_and(|bytes| Digest::of(&bytes) == self.digest)
    }
}

/// Whether a machine of this identity looks for this file anyway: then a better match goes before it, as on any machine.
pub(super) fn is_of(name: &str, identity: &Identity) -> bool {
    let alone = Listing { names: vec![name.to_owned()], ..Listing::default() };
    node::select(RUNNING, identity, &alone, |_| false).choice.is_some()
}
