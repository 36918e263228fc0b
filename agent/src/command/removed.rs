//! A document in force whose file is gone.

use std::path::PathBuf;

use crate::{durable::record::Record, paths::Paths};

/// The missing file; the path of `applied` if that is the only evidence. `None`: no document was
/// ever in force.
///
/// `applied` stays: without it configure-ovs would delete br-ex under the active profiles and
/// disconnect the node.
pub(super) fn removed(paths: &Paths, record: &Record) -> Option<PathBuf> {
    let committed = record.committed.as_ref().map(|committed| committed.source.clone());
    committed.or_else(|| paths.applied().exists().then(|| paths.applied()))
}
