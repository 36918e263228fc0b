//! The running system before the pivot: its own profiles and those of an earlier hand-over.

use std::ops::Deref;
use std::path::PathBuf;

use super::digests::{DIGESTS, Digests};
use super::own;
use super::sysroot::Sysroot;
use crate::fault::Fault;
use crate::files;
use crate::root::{ETC_PROFILES, PERSISTED};
use crate::write::mark::Mark;
use crate::write::others::Other;

/// The running system before the pivot, and its own profiles.
pub(super) struct System {
    pub(super) root: Sysroot,
    /// NetworkManager's directory.
    pub(super) directory: PathBuf,
    pub(super) own: Vec<OwnProfile>,
    /// The mark of an earlier boot.
    pub(super) mark: Option<Mark>,
    pub(super) digests: Digests,
}

/// A profile of the running system's.
pub(super) struct OwnProfile {
    profile: Other,
    /// It is in NetworkManager's directory, neither in the image nor an ifcfg file.
    pub(super) is_in_etc: bool,
    /// It is as nmgen wrote it, at an earlier boot.
    pub(super) is_unedited: bool,
    /// NetworkManager ignores it, as others than root may read it.
    pub(super) is_ignored: bool,
}

impl Deref for OwnProfile {
    type Target = Other;

    fn deref(&self) -> &Other {
        &self.profile
    }
}

impl System {
    pub(super) fn look(root: Sysroot) -> Result<Self, Fault> {
        let directory = root.directory(ETC_PROFILES)?;
        let digests = root.place(DIGESTS).map(|place| Digests::read(&place)).unwrap_or_default();
        let own = own::list(&root)?.into_iter().map(|profile| {
            let is_in_etc = profile.path.parent() == Some(&directory);
            let is_unedited = is_in_etc
                && files::read(&profile.path)
                    .is_ok_and(|content| digests.has(&profile.file_name(), &content));
            let is_ignored = is_in_etc && own::is_readable_for_others(&profile);
            OwnProfile { profile, is_in_etc, is_unedited, is_ignored }
        });
        let own = own.collect();
        // A place that cannot hold a mark holds none; to write one fails later, with a line.
        let mark = root.place(PERSISTED).and_then(|place| Mark::read(&place)).unwrap_or_default();
        Ok(Self { root, directory, own, mark, digests })
    }
}
