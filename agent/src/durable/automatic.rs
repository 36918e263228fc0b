//! The commit of an automatic bridge: the hint, marks of this boot, and the end of a document.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{
    boot::boot_id,
    file::{self, FileError, Result},
    record::Record,
};
use crate::{
    bridge::plan::{BridgePlan, Hint},
    paths::Paths,
};

const FILE: &str = "automatic.json";

/// The staged commit.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Automatic {
    /// The boot of the commit: the bridge's profiles are in `/run`.
    boot_id: String,
    plan: BridgePlan,
    /// Whether the bridge replaces a document's.
    replaces_document: bool,
}

/// Stages the commit in `dir`, a new directory.
pub(crate) fn stage(
    paths: &Paths,
    dir: &Path,
    plan: &BridgePlan,
    replaces_document: bool,
) -> Result {
    let staged = Automatic { boot_id: boot_id(paths), plan: plan.clone(), replaces_document };
    file::write_new_json(&dir.join(FILE), &staged)
}

/// Puts the files of a decided commit in `dir` into place; `false` if it is a document's. May be
/// interrupted anywhere and repeated.
pub(super) fn finish(paths: &Paths, dir: &Path) -> Result<bool> {
    let Some(staged) = file::read_json::<Automatic>(&dir.join(FILE))? else { return Ok(false) };
    if staged.replaces_document {
        // The record goes last: while it names the document, the next start repeats the rest.
        file::remove_durably(&paths.applied())?;
        Record::update(paths, |record| record.committed = None)?;
    }
    // The marks of this boot first: they are in `/run`, which can be written.
    if staged.boot_id == boot_id(paths) {
        // configure-ovs.sh rolls everything back unless this file exists.
        write(&paths.boot_done(), b"", 0o644)?;
        let path = paths.bridge();
        let plan = serde_json::to_vec_pretty(&staged.plan)
            .map_err(|source| FileError::Encode { path: path.clone(), source })?;
        write(&path, &plan, 0o600)?;
    }
    match &staged.plan.hint {
        Hint::Keep => {}
        Hint::Write(link) => {
            write(&paths.hint(), format!("{link}\n").as_bytes(), 0o644)?;
        }
        Hint::Remove => file::remove_durably(&paths.hint())?,
    }
    Ok(true)
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result {
    if let Some(directory) = path.parent() {
        file::create_dir(directory)?;
    }
    file::write(path, bytes, mode)
}
