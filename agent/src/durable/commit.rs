//! A commit on disk, decided by one durable rename.
//!
//! Files of a commit are staged inside the open transaction's directory, before anything is
//! changed. NetworkManager commits first; then that directory is renamed from `transaction` to
//! `committed`. If a run ends before the rename, for any reason, the next start rolls it back;
//! after the rename the document is in force, and the next start moves the record into place and
//! writes `applied`.

use std::path::{Path, PathBuf};

use super::{
    automatic,
    file::{self, FileError, Result, Staged},
    from_0_2,
    place::StatePlace,
    record::{Committed, Record},
    record_file,
    sync_others::sync_others,
};
use nmgen::chain;

use crate::{
    document::{Document, digest::Digest},
    model::Uplinks,
    paths::Paths,
    warn::OrWarn as _,
};

/// All files of a commit, already on disk; only the renames are missing.
#[derive(Debug, Default)]
pub(crate) struct Commit {
    /// The commit of a document; an automatic bridge has neither `applied` nor a record, and a trial
    /// has nothing.
    document: Option<OfDocument>,
}

#[derive(Debug)]
struct OfDocument {
    /// Staged in its own directory, which may be on another file system. Deleted if dropped unused.
    applied: Staged,
    record: Record,
}

/// Stages the record in `dir`, a new directory, and `applied`. `resolved` is the state that the
/// document was resolved to.
pub(crate) fn stage(
    paths: &Paths,
    dir: &Path,
    document: &Document,
    resolved: &str,
) -> Result<Commit> {
    let mut record = Record::of(document, Record::load(paths));
    if let Some(committed) = &mut record.committed {
        committed.resolved = Some(resolved.to_owned());
    }
    file::write_new_json(&staged(dir, &paths.record()), &record)?;
    let applied = Staged::new(&paths.applied(), document.text.as_bytes(), document.mode)?;
    Ok(Commit { document: Some(OfDocument { applied, record }) })
}

/// Records `document`, which another tool has put in force, without a transaction.
pub(crate) fn adopt(
    paths: &Paths,
    document: &Document,
    resolved: &str,
    uplinks: Uplinks,
    service_files: &[Digest],
) -> Result {
    let new = paths.committed().with_extension("new");
    file::remove(&new)?;
    file::create_dir(&paths.state_dir())?;
    file::create_new_dir(&new)?;
    let mut commit = stage(paths, &new, document, resolved)?;
    commit.complete(&staged(&new, &paths.record()), uplinks, service_files, true)?;
    file::sync_dir(&new)?;
    sync_others(paths)?;
    file::rename(&new, &paths.committed())?;
    commit.finish(paths)
}

impl Commit {
    /// Adds the uplinks of the new network and the applied service files to the staged record.
    pub(crate) fn prove(
        &mut self,
        paths: &Paths,
        uplinks: Uplinks,
        service_files: &[Digest],
    ) -> Result {
        let record = staged(&paths.transaction(), &paths.record());
        self.complete(&record, uplinks, service_files, false)
    }

    fn complete(
        &mut self,
        place: &Path,
        uplinks: Uplinks,
        service_files: &[Digest],
        adopted: bool,
    ) -> Result {
        let Some(of) = &mut self.document else { return Ok(()) };
        if let Some(committed) = &mut of.record.committed {
            committed.uplinks = Some(uplinks);
            committed.service_files = service_files.to_vec();
            committed.adopted = adopted;
        }
        file::write_json(place, &of.record, record_file::MODE)
    }

    /// The decision: from here on the change is in force, and so its profiles are durable before.
    pub(crate) fn decide(&self, paths: &Paths) -> Result {
        let place = StatePlace::of_open(paths);
        sync_others(paths).or_else(|error| if_volatile(place, error))?;
        file::rename(&place.transaction(paths), &place.committed(paths))
    }

    /// Moves all files into place. A failure is left to the next start.
    pub(crate) fn finish(self, paths: &Paths) -> Result {
        if let Some(of) = self.document {
            of.applied.put()?;
        }
        finish(paths)
    }
}

/// Finishes a decided commit, if there is one. May be interrupted anywhere and repeated: the record
/// goes last, since it makes the rest valid.
pub(crate) fn finish(paths: &Paths) -> Result {
    StatePlace::ALL.into_iter().try_for_each(|place| finish_in(place, paths))
}

/// Whether a decided commit is not finished.
pub(crate) fn is_unfinished(paths: &Paths) -> bool {
    StatePlace::ALL.into_iter().any(|place| place.committed(paths).exists())
}

fn finish_in(place: StatePlace, paths: &Paths) -> Result {
    let dir = place.committed(paths);
    if !dir.exists() {
        return Ok(());
    }
    let finished = automatic::finish(paths, &dir)
        .or_else(|error| if_volatile(place, error).map(|()| true))
        .and_then(|was_bridge| if was_bridge { Ok(()) } else { finish_document(paths, &dir) });
    match finished {
        Ok(()) => file::remove(&dir),
        // The network is made again where it is not there: a damaged account of it holds no boot.
        Err(error) if error.is_unusable() => {
            let aside = file::set_aside(&dir)?;
            tracing::warn!("{}; the commit was moved to {}", chain(&error), aside.display());
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Puts the record of a document's commit in `dir` into place, and what follows from it.
fn finish_document(paths: &Paths, dir: &Path) -> Result {
    let staged = staged(dir, &paths.record());
    if let Some(found) = file::read_json::<Record>(&staged)? {
        let record = from_0_2::completed(found.clone(), paths, dir);
        if record != found {
            file::write_json(&staged, &record, record_file::MODE)?;
        }
        if let Some(document) = record.document()
            && file::read(&paths.applied())?.as_deref() != Some(document.text.as_bytes())
        {
            file::write(&paths.applied(), document.text.as_bytes(), document.mode)?;
        }
        // br-ex is the document's now.
        file::remove(&paths.bridge())?;
        file::rename(&staged, &paths.record())?;
        // The commit is valid without its line of history.
        if let Some(Committed { digest, source, adopted, .. }) = &record.committed {
            let outcome = if *adopted { "adopted" } else { "committed" };
            let noted = record_file::append(paths, digest, source, outcome, None);
            noted.or_warn_of("the history is incomplete");
        }
    }
    from_0_2::remove(paths)
}

/// A fault of a commit in `/run`, which was made there since the disk has faults: a warning.
fn if_volatile(place: StatePlace, error: FileError) -> Result {
    if place == StatePlace::Durable || error.is_unusable() {
        return Err(error);
    }
    tracing::warn!("{}", chain(&error));
    Ok(())
}

fn staged(dir: &Path, place: &Path) -> PathBuf {
    dir.join(place.file_name().unwrap_or_default())
}

#[cfg(test)]
mod tests;
