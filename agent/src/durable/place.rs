//! The directory of a transaction: on the disk, or, for the automatic bridge alone, in `/run`.
//!
//! The bridge's profiles are in `/run`, so that a reboot undoes it anyway. A file system that is full or read-only must not keep
//! the node from its network: the eviction of pods, which would make room, needs kubelet.

use std::path::PathBuf;

use crate::paths::Paths;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatePlace {
    Durable,
    /// A reboot deletes it.
    Volatile,
}

impl StatePlace {
    /// The volatile one first: it is used only where the other one cannot be.
    pub(super) const ALL: [Self; 2] = [Self::Volatile, Self::Durable];

    pub(super) fn of_open(paths: &Paths) -> Self {
        let is_open = |place: &Self| place.transaction(paths).exists();
        Self::ALL.into_iter().find(is_open).unwrap_or(Self::Durable)
    }

    /// The directory above both.
    pub(super) fn directory(self, paths: &Paths) -> PathBuf {
        match self {
            Self::Durable => paths.state_dir(),
            Self::Volatile => paths.runtime_dir(),
        }
    }

    /// Of the automatic bridge, in `/run` where the disk is full or read-only.
    pub(super) fn transaction(self, paths: &Paths) -> PathBuf {
        self.directory(paths).join("transaction")
    }

    /// The decided commit.
    pub(super) fn committed(self, paths: &Paths) -> PathBuf {
        self.directory(paths).join("committed")
    }
}
