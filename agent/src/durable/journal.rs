//! The open transaction on disk: the document, the state before, copies of the files.
//!
//! One rename creates the directory after everything in it is synced, and one rename removes it or
//! makes it `committed` (see `commit`); so a power cut leaves either no transaction or a complete
//! one.

use std::path::{Path, PathBuf};

use nmgen::chain;
use serde::{Deserialize, Serialize};

use super::{
    boot::boot_id,
    commit::Commit,
    copies,
    file::{self, FileError, Result},
    omit,
    place::StatePlace,
    protected::DocumentNames,
    record::Record,
    sync_others::sync_others,
};
use crate::{
    document::digest::Digest,
    model::{Before, ProbeResult},
    paths::Paths,
    warn::OrWarn as _,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChangeKind {
    /// A document, or the return to the last good one.
    Document,
    /// A document on trial. The journal stays open after its confirmation.
    Trial,
    Bridge,
}

/// `journal.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// Version of this file's layout.
    pub(crate) version: u32,
    pub(crate) kind: ChangeKind,
    /// The boot it was opened in.
    pub(crate) boot_id: String,
    /// Digest of the document being applied; of the picture of an automatic bridge.
    pub(crate) digest: Digest,
    /// Path of the document; of the plan of an automatic bridge.
    pub(crate) source: PathBuf,
    /// OVS bridges that the change makes.
    pub(crate) bridges: Vec<String>,
    /// The state before the transaction.
    pub(crate) before: Before,
    /// Results of the probes before: after a roll back the gateway must answer again.
    pub(crate) probes: Vec<ProbeResult>,
    /// Failures of the document before, so that one interrupted change counts once, however often
    /// its recovery is interrupted too; `None` of an automatic bridge.
    pub(crate) failures: Option<u32>,
}

/// 2: the copies' manifest names its paths.
const VERSION: u32 = 2;

impl Journal {
    /// Returns the journal of a change in this boot, by the digest and the path that it is of.
    pub(crate) fn new(
        paths: &Paths,
        kind: ChangeKind,
        (digest, source): (Digest, PathBuf),
        bridges: Vec<String>,
        before: Before,
        probes: Vec<ProbeResult>,
    ) -> Self {
        let is_counted = kind != ChangeKind::Bridge;
        let failures = is_counted.then(|| Record::load(paths).failures_of(&digest));
        let (version, boot_id) = (VERSION, boot_id(paths));
        Self { version, kind, boot_id, digest, source, bridges, before, probes, failures }
    }

    /// Whether the journal was opened in this boot.
    pub(crate) fn is_of_this_boot(&self, paths: &Paths) -> bool {
        self.boot_id == boot_id(paths)
    }
}

/// The directory of a transaction before its first rename and after its last.
const NEW: &str = "new";
const DONE: &str = "done";

/// Removes directories that were no transaction yet, or none any more, when a run ended: they hold
/// copies of profiles.
pub(crate) fn sweep(paths: &Paths) -> Result {
    StatePlace::ALL.into_iter().try_for_each(|place| {
        let (open, committed) = (place.transaction(paths), place.committed(paths));
        let left =
            [open.with_extension(NEW), open.with_extension(DONE), committed.with_extension(NEW)];
        left.iter().try_for_each(|directory| file::remove(directory))
    })
}

/// Copies the files that the texts speak of, has the commit staged in the new directory, and opens
/// the transaction on the disk.
pub(crate) fn open(
    paths: &Paths,
    journal: &Journal,
    texts: &[&str],
    stage: impl FnOnce(&Path) -> Result<Commit>,
) -> Result<Commit> {
    open_in(StatePlace::Durable, paths, journal, texts, stage)
}

/// As [`open`], but in `/run` where the disk cannot be written: for a change that a reboot undoes. Returns the disk's fault too.
pub(crate) fn open_anywhere(
    paths: &Paths,
    journal: &Journal,
    texts: &[&str],
    stage: impl Fn(&Path) -> Result<Commit>,
) -> Result<(Commit, Option<FileError>)> {
    match open_in(StatePlace::Durable, paths, journal, texts, &stage) {
        Ok(commit) => Ok((commit, None)),
        // Opened, but not known to be durable: its roll back needs it.
        Err(fault) if StatePlace::Durable.transaction(paths).exists() => Err(fault),
        Err(fault) => {
            // Its remains may fill the disk; the next run's sweep tries again.
            file::remove(&StatePlace::Durable.transaction(paths).with_extension(NEW)).or_warn();
            let commit = open_in(StatePlace::Volatile, paths, journal, texts, stage)?;
            Ok((commit, Some(fault)))
        }
    }
}

fn open_in(
    place: StatePlace,
    paths: &Paths,
    journal: &Journal,
    texts: &[&str],
    stage: impl FnOnce(&Path) -> Result<Commit>,
) -> Result<Commit> {
    let directory = place.directory(paths);
    let place = place.transaction(paths);
    let is_renamed = !omit::is_omitted("journal-rename");
    let new = if is_renamed { place.with_extension(NEW) } else { place.clone() };
    file::remove(&new)?;
    file::create_dir(&directory)?;
    file::create_new_dir(&new)?;
    let scope = DocumentNames::new(texts, journal.before.hostname.is_some());
    copies::save(paths, &new.join("files"), &scope)?;
    file::write_new_json(&new.join("journal.json"), journal)?;
    let commit = stage(&new)?;
    file::sync_dir(&new)?;
    if is_renamed {
        file::rename(&new, &place)?;
    }
    Ok(commit)
}

/// The open transaction, if any; its copies can be restored.
pub(crate) fn read(paths: &Paths) -> Result<Option<Journal>> {
    #[derive(Deserialize)]
    struct JournalVersion {
        version: u32,
    }
    let open = StatePlace::of_open(paths).transaction(paths);
    let path = open.join("journal.json");
    // Read the version first: another version's journal has other fields.
    let Some(JournalVersion { version }) = file::read_json(&path)? else { return Ok(None) };
    if version != VERSION {
        return Err(FileError::Version { path, found: version, known: VERSION });
    }
    copies::check(&open.join("files"))?;
    file::read_json(&path)
}

/// Sets aside a transaction with an unusable journal. Files that survive a reboot are restored if
/// their copies are readable; nothing is known of the rest.
pub(crate) fn abandon(paths: &Paths) -> Result {
    if let Err(error) = restore_files(paths, false) {
        tracing::warn!("{}; profiles stay as they are", chain(&error));
    }
    let aside = file::set_aside(&StatePlace::of_open(paths).transaction(paths))?;
    tracing::warn!("the unfinished transaction was moved to {}", aside.display());
    Ok(())
}

/// Restores the copied files. `true` if any was changed.
pub(crate) fn restore_files(paths: &Paths, same_boot: bool) -> Result<bool> {
    let open = StatePlace::of_open(paths).transaction(paths);
    let touched = copies::restore(paths, &open.join("files"), same_boot)?;
    for path in &touched {
        tracing::info!(path = %path.display(), "restored");
    }
    Ok(!touched.is_empty())
}

/// Closes the transaction, once the old files are durable.
pub(crate) fn close(paths: &Paths) -> Result {
    sync_others(paths)?;
    let place = StatePlace::of_open(paths).transaction(paths);
    let done = place.with_extension(DONE);
    file::remove(&done)?;
    file::rename(&place, &done)?;
    file::remove(&done)
}

#[cfg(test)]
mod tests {
    use super::{ChangeKind, Journal, abandon, close, open, read, restore_files, sweep};
    use crate::{
        document::{Document, digest::Digest},
        durable::commit,
        model::Before,
        paths::Paths,
    };

    #[test]
    fn a_journal_that_cannot_be_used_is_set_aside_and_its_files_come_back()
    -> Result<(), Box<dyn std::error::Error>> {
        for (name, text, is_restored) in [
            ("journal.json", "{\"half", true),
            ("journal.json", "{\"version\": 99}", true),
            ("journal.json", "{}", true),
            // Nobody knows any more what the copies are of.
            ("files/manifest.json", "{\"half", false),
        ] {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            std::fs::create_dir_all(paths.documents())?;
            let profile = paths.under("/etc/NetworkManager/system-connections/a.nmconnection");
            std::fs::create_dir_all(profile.parent().ok_or("no parent")?)?;
            std::fs::write(&profile, "old")?;
            let document = Document {
                path: "/etc/nmstate/openshift/a.yml".into(),
                text: "x".to_owned(),
                digest: Digest::of(b"x"),
                mode: 0o644,
            };
            let (kind, before) = (ChangeKind::Document, Before::default());
            let of = (document.digest.clone(), document.path.clone());
            let journal = Journal::new(&paths, kind, of, Vec::new(), before, Vec::new());
            drop(open(&paths, &journal, &["x"], |new| commit::stage(&paths, new, &document, ""))?);
            std::fs::write(&profile, "new")?;
            std::fs::write(paths.transaction().join(name), text)?;

            let error = read(&paths).expect_err("a journal that cannot be used");
            assert!(error.is_unusable(), "{error}");
            assert!(error.to_string().contains(name), "{error}");
            abandon(&paths)?;
            let expected = if is_restored { "old" } else { "new" };
            assert_eq!(std::fs::read_to_string(&profile)?, expected);
            assert!(read(&paths)?.is_none());
            let aside = paths.state_dir().join("transaction.damaged");
            assert_eq!(std::fs::read_to_string(aside.join(name))?, text);
        }
        Ok(())
    }

    #[test]
    fn opens_reads_and_closes() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        assert!(read(&paths)?.is_none());
        std::fs::create_dir_all(paths.documents())?;
        let document = Document {
            path: "/etc/nmstate/openshift/a.yml".into(),
            text: "x".to_owned(),
            digest: Digest::of(b"x"),
            mode: 0o644,
        };
        let journal = Journal::new(
            &paths,
            ChangeKind::Document,
            (document.digest.clone(), document.path.clone()),
            vec!["br-ex".to_owned()],
            Before::default(),
            Vec::new(),
        );
        drop(open(&paths, &journal, &["x"], |new| commit::stage(&paths, new, &document, ""))?);
        let back = read(&paths)?.ok_or("no journal")?;
        assert_eq!(back.bridges, ["br-ex"]);
        assert!(back.is_of_this_boot(&paths));
        assert!(!restore_files(&paths, true)?, "nothing was changed");
        let id = paths.boot_id();
        std::fs::create_dir_all(id.parent().ok_or("no parent")?)?;
        std::fs::write(&id, "0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd002\n")?;
        assert!(!back.is_of_this_boot(&paths), "the journal is of an earlier boot");
        close(&paths)?;
        assert!(read(&paths)?.is_none());
        assert_eq!(std::fs::read_dir(paths.state_dir())?.count(), 0);
        for left in ["transaction.new", "transaction.done", "committed.new"] {
            std::fs::create_dir_all(paths.state_dir().join(left).join("files"))?;
        }
        sweep(&paths)?;
        assert_eq!(std::fs::read_dir(paths.state_dir())?.count(), 0);
        Ok(())
    }
}
