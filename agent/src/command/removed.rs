//! A document that is in force and of which no file is left.

use std::path::PathBuf;

use crate::{durable::record::Record, paths::Paths};

/// The file that is gone; `applied` where only that tells. `None`: no document was ever in force.
///
/// `applied` stays: without it configure-ovs would delete br-ex under the profiles that are in force,
/// and the node with it.
pub(super) fn removed(paths: &Paths, record: &Record) -> Option<PathBuf> {
    let committed = record.committed.as_ref().map(|committed| committed.source.clone());
    committed.or_else(|| paths.applied().exists().then(|| paths.applied()))
}
