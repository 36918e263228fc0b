//! Makes the files that others write in a transaction durable, before the transaction ends.
//!
//! NetworkManager syncs a profile that replaces one, no new one, and never the directory; nmstate
//! syncs nothing. A decided commit without its profiles would leave a node without a network.

use std::{fs, io, path::Path};

use super::{
    copies::regular_files,
    file::{self, Result},
    omit,
    protected::PROTECTED,
};
use crate::paths::{Paths, cannot};

/// Syncs every protected file that outlives a reboot, with its directory.
pub(super) fn sync_others(paths: &Paths) -> Result {
    if omit::is_omitted("sync-profiles") {
        return Ok(());
    }
    for protected in PROTECTED.iter().filter(|protected| !protected.is_volatile) {
        let path = paths.under(protected.path);
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => {
                for (_, file) in regular_files(&path)? {
                    sync(&file)?;
                }
                file::sync_dir(&path)?;
            }
            Ok(meta) if meta.is_file() => sync(&path)?,
            // A link is an administrator's; a file that is gone has to stay so.
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot("read", &path)(error).into()),
        }
        if let Some(parent) = path.parent().filter(|parent| parent.is_dir()) {
            file::sync_dir(parent)?;
        }
    }
    Ok(())
}

/// NetworkManager may remove the file meanwhile.
fn sync(path: &Path) -> Result {
    match fs::File::open(path).and_then(|file| file.sync_all()) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        synced => Ok(synced.map_err(cannot("sync", path))?),
    }
}
