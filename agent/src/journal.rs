//! The open transaction on disk: what is being tried, what was there, copies of the files.
//!
//! The directory appears by one rename after everything in it is synced, and goes by one rename;
//! so a power cut leaves either no transaction or a complete one.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
    copies,
    digest::Digest,
    durable::{self, FileError},
    network::Before,
    paths::Paths,
};

/// `journal.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// Layout of this file.
    pub(crate) version: u32,
    /// The boot it was opened in.
    pub(crate) boot_id: String,
    /// Of the document being applied.
    pub(crate) digest: Digest,
    /// The document.
    pub(crate) source: PathBuf,
    /// OVS bridges that the document asks for.
    pub(crate) bridges: Vec<String>,
    /// What was there.
    pub(crate) before: Before,
}

const VERSION: u32 = 1;

impl Journal {
    /// A journal for this boot.
    pub(crate) fn new(
        paths: &Paths,
        digest: Digest,
        source: PathBuf,
        bridges: Vec<String>,
        before: Before,
    ) -> Self {
        Self { version: VERSION, boot_id: boot_id(paths), digest, source, bridges, before }
    }

    /// Whether it was opened in this boot.
    pub(crate) fn is_of_this_boot(&self, paths: &Paths) -> bool {
        self.boot_id == boot_id(paths)
    }
}

fn boot_id(paths: &Paths) -> String {
    std::fs::read_to_string(paths.boot_id()).unwrap_or_default().trim().to_owned()
}

/// Copies the files and opens the transaction.
pub(crate) fn open(paths: &Paths, journal: &Journal) -> Result<(), FileError> {
    let place = paths.transaction();
    let new = place.with_extension("new");
    durable::remove(&new)?;
    durable::create_dir(&new)?;
    copies::save(paths, &new.join("files"))?;
    durable::write_json(&new.join("journal.json"), journal, 0o600)?;
    rename(&new, &place)
}

/// The open transaction, if there is one.
pub(crate) fn read(paths: &Paths) -> Result<Option<Journal>, FileError> {
    durable::read_json(&paths.transaction().join("journal.json"))
}

/// Puts the copied files back. `true` when any had to be touched.
pub(crate) fn restore_files(paths: &Paths, same_boot: bool) -> Result<bool, FileError> {
    let touched = copies::restore(paths, &paths.transaction().join("files"), same_boot)?;
    for path in &touched {
        tracing::info!(path = %path.display(), "restored");
    }
    Ok(!touched.is_empty())
}

/// Closes the transaction.
pub(crate) fn close(paths: &Paths) -> Result<(), FileError> {
    let place = paths.transaction();
    let done = place.with_extension("done");
    durable::remove(&done)?;
    rename(&place, &done)?;
    durable::remove(&done)
}

fn rename(from: &std::path::Path, to: &std::path::Path) -> Result<(), FileError> {
    std::fs::rename(from, to).map_err(|source| FileError::Rename {
        from: from.to_path_buf(),
        to: to.to_path_buf(),
        source,
    })?;
    match to.parent() {
        Some(dir) => durable::sync_dir(dir),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Journal, close, open, read};
    use crate::{digest::Digest, network::Before, paths::Paths};

    #[test]
    fn opens_reads_and_closes() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        assert!(read(&paths)?.is_none());
        let journal = Journal::new(
            &paths,
            Digest::of(b"x"),
            "/etc/nmstate/openshift/a.yml".into(),
            vec!["br-ex".to_owned()],
            Before::default(),
        );
        open(&paths, &journal)?;
        let back = read(&paths)?.ok_or("no journal")?;
        assert_eq!(back.bridges, ["br-ex"]);
        assert!(back.is_of_this_boot(&paths));
        close(&paths)?;
        assert!(read(&paths)?.is_none());
        assert_eq!(std::fs::read_dir(paths.state_dir())?.count(), 0);
        Ok(())
    }
}
