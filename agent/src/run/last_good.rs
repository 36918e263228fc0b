//! The last good document, as committed.

use std::path::{Path, PathBuf};

use super::{Run, recover};
use crate::{
    document::{
        Document, check,
        digest::Digest,
        service_files::{self, ServiceFiles},
    },
    durable::{
        self, FileError,
        record::{Committed, Record},
    },
    error::Error,
    model::Uplinks,
    network::Network as _,
    paths::Paths,
    state::{Parsed, State},
    transaction::{Change, DocumentChange, Probed},
};

/// The last good document; of its two copies the one that is whole.
pub(crate) fn last_good(
    paths: &Paths,
    record: &Record,
) -> Result<Option<(Document, Parsed)>, Error> {
    let path = match is_copied(paths, record) {
        false if record.document_in_force(paths).is_some() => paths.applied(),
        _ => paths.last_good(),
    };
    if !path.exists() {
        return Ok(None);
    }
    let mut document = Document::read(path)?;
    let parsed = check::check(&document)?;
    // Show the original path: the file on disk is a copy.
    if let Some(committed) = &record.committed
        && committed.digest == document.digest
    {
        document.path.clone_from(&committed.source);
    }
    Ok(Some((document, parsed)))
}

/// The state of the last good document, resolved when it was applied: captures and `copy-mac-from`
/// may resolve differently now.
pub(crate) fn last_good_state(paths: &Paths, record: &Record) -> Result<Option<State>, Error> {
    let Some((_, parsed)) = last_good(paths, record)? else { return Ok(None) };
    let bytes = durable::read(&paths.last_good_state())?.unwrap_or_default();
    let then = Parsed::new(&String::from_utf8_lossy(&bytes))?.resolve(None)?;
    Ok(Some(match parsed.needs_current() {
        true => then,
        // Take the document, not its resolved copy: nmstate does not write every key that it reads.
        false => parsed.resolve(None)?.with_links_of(&then),
    }))
}

/// The state of the last good document; `None`, with a warning, if it is unreadable: that must not stop a good document.
pub(crate) fn last_good_if_readable(paths: &Paths, record: &Record) -> Option<State> {
    last_good_state(paths, record).unwrap_or_else(|error| {
        tracing::warn!("{}", nmgen::chain(&error));
        None
    })
}

/// The recorded network, with what the record of an older version leaves out.
pub(crate) fn recorded(paths: &Paths, record: &Record) -> Option<Uplinks> {
    let recorded = record.uplinks()?;
    let completed = || recorded.completed(&last_good_if_readable(paths, record)?.wants());
    let is_whole = recorded.addressable.is_some();
    (!is_whole).then(completed).flatten().or_else(|| Some(recorded.clone()))
}

/// The state of the document in force before this change, which removes its leftovers. It is read from `applied` where that differs
/// from the last good copy (another tool or deployment wrote it), else from the recorded resolved state. `None`, with a warning, if
/// neither can be read.
pub(super) fn previous(paths: &Paths, record: &Record) -> Option<State> {
    let warned = |error: &dyn std::error::Error| tracing::warn!("{}", nmgen::chain(error));
    let applied = durable::read(&paths.applied()).inspect_err(|error| warned(error)).ok().flatten();
    let last_good =
        durable::read(&paths.last_good()).inspect_err(|error| warned(error)).ok().flatten();
    match applied.filter(|applied| !applied.is_empty()) {
        Some(applied) if Some(&applied) != last_good.as_ref() => {
            let parsed = Parsed::new(&String::from_utf8_lossy(&applied));
            // A policy's captures were resolved against a state that is gone.
            let resolved = parsed.and_then(|it| match it.needs_current() {
                true => Ok(None),
                false => it.resolve(None).map(Some),
            });
            let state = resolved.inspect_err(|error| warned(error)).ok().flatten();
            state.or_else(|| last_good_if_readable(paths, record))
        }
        _ => last_good_if_readable(paths, record),
    }
}

/// Whether the copy of the committed document has its bytes.
fn is_copied(paths: &Paths, record: &Record) -> bool {
    let Some(committed) = &record.committed else { return true };
    let copy = durable::read(&paths.last_good()).ok().flatten();
    copy.is_some_and(|bytes| Digest::of(&bytes) == committed.digest)
}

/// Whether the state that the document was resolved to can be read. It is never empty.
fn is_resolved(paths: &Paths) -> bool {
    let bytes = durable::read(&paths.last_good_state()).ok().flatten().unwrap_or_default();
    let text = String::from_utf8(bytes).unwrap_or_default();
    !text.trim().is_empty() && Parsed::new(&text).is_ok_and(|it| it.resolve(None).is_ok())
}

/// Writes what a disk has damaged of the document in force anew: its copy, and the state that it was resolved to.
pub(super) async fn mend_copies(run: &Run<'_>) {
    match mended(run).await {
        Ok(false) => {}
        Ok(true) => {
            run.warn("the copy of the document in force was damaged, and is written anew");
            run.status.write();
        }
        Err(error) => tracing::warn!(
            "the copy of the document in force is damaged, and stays so: {}",
            nmgen::chain(&error)
        ),
    }
}

async fn mended(run: &Run<'_>) -> Result<bool, Error> {
    let record = Record::load(run.paths);
    let (is_copied, is_resolved) = (is_copied(run.paths, &record), is_resolved(run.paths));
    if record.committed.is_none() || (is_copied && is_resolved) {
        return Ok(false);
    }
    let Some((document, parsed)) = last_good(run.paths, &record)? else { return Ok(false) };
    if !is_resolved {
        let network = run.connect().await?;
        let current = match parsed.needs_current() {
            true => Some(network.current().await?),
            false => None,
        };
        let state = network.resolve_links(parsed.resolve(current.as_ref())?).await?;
        let text = state.to_yaml()?;
        durable::write(&run.paths.last_good_state(), text.as_bytes(), document.mode)?;
    }
    if !is_copied {
        durable::write(&run.paths.last_good(), document.text.as_bytes(), document.mode)?;
    }
    Ok(true)
}

/// Whether the document with this digest is in force together with the files of `nmstatectl service` that belong to it.
pub(super) fn is_whole(
    paths: &Paths,
    record: &Record,
    digest: Option<&str>,
    hostname: &str,
) -> bool {
    let Some(committed) = &record.committed else { return false };
    let files = service_files::read(paths, hostname);
    digest == Some(committed.digest.to_string().as_str())
        && record.in_force(paths, &committed.digest).unwrap_or_default()
        && files.is_ok_and(|files| record.has_service_files(&files.digests()))
}

/// Applies the last good document as a transaction.
pub(super) async fn apply(
    run: &Run<'_>,
    record: &Record,
    (document, parsed): (&Document, &Parsed),
    probed: &mut Probed,
) -> Result<(), Error> {
    let network = run.connect().await?;
    let files = ServiceFiles::none_due(record.applied_service_files(&[]));
    let change = DocumentChange { document, parsed, service_files: &files, previous: None };
    Ok(run.transaction(&network).run(&Change::Document(change), probed).await?)
}

/// Returns to the last good document, for `dayone rollback`.
pub(crate) async fn put_back(run: &Run<'_>) -> Result<(), Error> {
    let record = recover::online(run).await?;
    let (document, parsed) = last_good(run.paths, &record)?.ok_or(Error::NoLastGood)?;
    run.status.update(|s| {
        s.reason = "the last good configuration, by dayone rollback".to_owned();
        s.document = Some(document.path.clone());
        s.digest = Some(document.digest.to_string());
    });
    let mut probed = Probed::default();
    let applied = apply(run, &record, (&document, &parsed), &mut probed).await;
    run.tell_probes(probed);
    applied
}

/// The missing file of a document in force; the path of `applied` if that is the only evidence. `None`: no document
/// was ever in force in this deployment.
///
/// OSTree's `/etc` is a deployment's own, and `/var` is shared: a record without `applied` and without its profiles is of another
/// deployment, for whose document this `/etc` has nothing.
///
/// `applied` stays: without it configure-ovs would delete br-ex under the active profiles and
/// disconnect the node.
pub(crate) fn removed(paths: &Paths, record: &Record) -> Option<PathBuf> {
    let is_applied = paths.applied().exists();
    let committed = record.committed.as_ref().filter(|it| is_applied || has_profiles(paths, it));
    let source = committed.map(|committed| committed.source.clone());
    source.or_else(|| is_applied.then(|| paths.applied()))
}

/// Whether all recorded profiles are among the saved ones: nmstate edits the day-one profiles of cards and bonds in place, so that
/// the deployment before the document has profiles with the same uuids. Older records have none. They count as this deployment's,
/// and so do profiles that cannot be read.
fn has_profiles(paths: &Paths, committed: &Committed) -> bool {
    let recorded = committed.uplinks.as_ref().map(|it| it.profiles.as_slice()).unwrap_or_default();
    let texts = match profiles(&paths.profiles()) {
        Ok(texts) => texts,
        Err(error) => {
            tracing::warn!("{}", nmgen::chain(&error));
            return true;
        }
    };
    let lines = || texts.iter().flat_map(|text| text.lines());
    let saved: Vec<&str> =
        lines().filter_map(|line| line.trim().strip_prefix("uuid=")).map(str::trim).collect();
    recorded.iter().all(|profile| saved.contains(&profile.uuid.as_str()))
}

/// The text of each saved profile.
fn profiles(directory: &Path) -> Result<Vec<String>, FileError> {
    let failed = |source| FileError::Read { path: directory.to_path_buf(), source };
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut texts = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            let text = durable::read(&path)?.unwrap_or_default();
            texts.push(String::from_utf8_lossy(&text).into_owned());
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        durable::commit,
        model::{Active, Uplinks},
    };

    const A: &str = "interfaces: [{name: eno1, type: ethernet}, {name: eno2, type: ethernet}]\n";
    const B: &str = "interfaces: [{name: eno1, type: ethernet}]\n";
    const POLICY: &str =
        "capture: {card: interfaces.name == \"eno1\"}\ndesired:\n  interfaces: []\n";

    /// OSTree's `/etc` is a deployment's: an upgrade merges it, a roll back brings the earlier one.
    #[test]
    fn a_document_was_removed_where_this_etc_has_something_of_it()
    -> Result<(), Box<dyn std::error::Error>> {
        let active = |device: &str, last: u8| Active {
            uuid: format!("0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd00{last}"),
            device: device.to_owned(),
            kind: "any".to_owned(),
        };
        let own = vec![active("br-ex", 1)];
        let above_day_one = vec![active("br-ex", 1), active("eno1", 2)];
        for (applied, profile, profiles, is_removed) in [
            // Roll back to a deployment from before the document.
            (false, "uuid=0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd009", &own, false),
            (false, "", &own, false),
            // nmstate has edited the card's profile in place: before the document it had the same uuid.
            (false, "uuid=0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd002", &above_day_one, false),
            (true, "uuid=0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd002", &above_day_one, true),
            // Upgrade: what is merged has both, or one of both.
            (true, "uuid=0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd001", &own, true),
            (false, "id=br-ex\n uuid=0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd001 ", &own, true),
            (true, "", &own, true),
            // An older version recorded no profiles.
            (false, "", &Vec::new(), true),
        ] {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            std::fs::create_dir_all(paths.documents())?;
            std::fs::create_dir_all(paths.profiles())?;
            let file = paths.documents().join("worker-0.yml");
            std::fs::write(&file, B)?;
            let document = Document::read(file.clone())?;
            let uplinks = Uplinks { profiles: profiles.clone(), ..Uplinks::default() };
            commit::adopt(&paths, &document, B, uplinks, &[])?;
            if !applied {
                std::fs::remove_file(paths.applied())?;
            }
            std::fs::write(paths.profiles().join("x.nmconnection"), profile)?;
            let removed = removed(&paths, &Record::load(&paths));
            assert_eq!(removed, is_removed.then_some(file), "{applied} {profile}");
        }
        Ok(())
    }

    /// A disk has damaged one of the two copies.
    #[test]
    fn of_two_copies_the_whole_one_is_the_last_good_document()
    -> Result<(), Box<dyn std::error::Error>> {
        for damaged in [Paths::last_good, Paths::applied] {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            std::fs::create_dir_all(paths.documents())?;
            let file = paths.documents().join("worker-0.yml");
            std::fs::write(&file, B)?;
            let document = Document::read(file.clone())?;
            commit::adopt(&paths, &document, B, Uplinks::default(), &[])?;
            assert!(is_resolved(&paths));
            std::fs::write(damaged(&paths), b"[\0\xff")?;
            let (found, _) = last_good(&paths, &Record::load(&paths))?.ok_or("no document")?;
            assert_eq!((found.text.as_str(), found.path), (B, file));
            assert!(last_good_state(&paths, &Record::load(&paths))?.is_some());
            for unreadable in [&b"[\0\xff"[..], b"", b"interfaces: {"] {
                std::fs::write(paths.last_good_state(), unreadable)?;
                assert!(!is_resolved(&paths), "{unreadable:?}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_document_is_whole_with_applied_and_the_files_of_its_service()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        std::fs::create_dir_all(paths.documents())?;
        let file = paths.documents().join("worker-0.yml");
        std::fs::write(&file, B)?;
        let document = Document::read(file)?;
        let is_whole = |digest: &str| {
            let record = Record::load(&paths);
            super::is_whole(&paths, &record, Some(digest), "worker-0")
        };
        let digest = document.digest.to_string();
        assert!(!is_whole(&digest), "nothing is committed");
        commit::adopt(&paths, &document, B, Uplinks::default(), &[])?;
        assert!(is_whole(&digest));
        assert!(!is_whole(&Digest::of(b"another").to_string()));
        let due = paths.service_files().join("10-more.yml");
        std::fs::write(&due, A)?;
        assert!(!is_whole(&digest), "a file of nmstate.service is due");
        std::fs::remove_file(due)?;
        std::fs::write(paths.applied(), A)?;
        assert!(!is_whole(&digest), "another tool has applied something else");
        Ok(())
    }

    /// In `/etc` the profiles and `applied` of an earlier deployment, in `/var` the commit of a later one.
    #[test]
    fn the_previous_document_is_the_applied_one() -> Result<(), Box<dyn std::error::Error>> {
        for (applied, has_eno2) in [
            (Some(A), true),
            (Some(B), false),
            (Some(""), false),
            (Some(POLICY), false),
            (Some("interfaces: {"), false),
            (None, false),
        ] {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            std::fs::create_dir_all(paths.documents())?;
            let file = paths.documents().join("worker-0.yml");
            std::fs::write(&file, B)?;
            let document = Document::read(file)?;
            commit::adopt(&paths, &document, B, Uplinks::default(), &[])?;
            match applied {
                Some(text) => std::fs::write(paths.applied(), text)?,
                None => std::fs::remove_file(paths.applied())?,
            }
            let state = previous(&paths, &Record::load(&paths)).ok_or("no state")?.to_yaml()?;
            assert!(state.contains("eno1"), "{applied:?}: {state}");
            assert_eq!(state.contains("eno2"), has_eno2, "{applied:?}: {state}");
        }
        Ok(())
    }
}
