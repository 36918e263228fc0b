//! The last good document, as committed.

use std::path::{Path, PathBuf};

use super::{Run, recover};
use crate::{
    document::{
        Document, check,
        service_files::{self, ServiceFiles},
    },
    durable::{
        self, FileError,
        record::{Committed, Record},
    },
    error::{Error, Result},
    network::Network as _,
    paths::{Paths, entries},
    state::{Parsed, State, StateError},
    transaction::{Change, DocumentChange, Probed},
    warn::OrWarn as _,
};

pub(crate) fn last_good(record: &Record) -> Result<Option<(Document, Parsed)>> {
    let Some(document) = record.document() else { return Ok(None) };
    let parsed = check::check(&document)?;
    Ok(Some((document, parsed)))
}

/// What `applied` has, where no record says what is in force: a disk has damaged it, or another tool has applied the document.
pub(super) fn applied(paths: &Paths) -> Result<Option<(Document, Parsed)>> {
    let document = match paths.applied().exists() {
        true => Document::read(paths.applied())?,
        false => return Ok(None),
    };
    // The mark of nmstate-configuration up to 4.19 is empty.
    if document.text.is_empty() {
        return Ok(None);
    }
    let parsed = check::check(&document)?;
    Ok(Some((document, parsed)))
}

/// The state of the last good document, resolved when it was applied: captures and `copy-mac-from`
/// may resolve differently now.
pub(crate) fn last_good_state(record: &Record) -> Result<Option<State>> {
    let Some((_, parsed)) = last_good(record)? else { return Ok(None) };
    let then = resolved(record).transpose()?;
    Ok(match (parsed.needs_current(), then) {
        (true, then) => then,
        // Take the document, not its resolved copy: nmstate does not write every key that it reads.
        (false, Some(then)) => Some(parsed.resolve(None)?.with_links_of(&then)),
        (false, None) => Some(parsed.resolve(None)?),
    })
}

/// The state that the document was resolved to when it was applied.
fn resolved(record: &Record) -> Option<Result<State, StateError>> {
    let text =
        record.committed.as_ref()?.resolved.as_ref().filter(|text| !text.trim().is_empty())?;
    Some(Parsed::new(text).and_then(|parsed| parsed.resolve(None)))
}

/// The state of the last good document; `None`, with a warning, if it is unreadable: that must not stop a good document.
pub(crate) fn last_good_if_readable(record: &Record) -> Option<State> {
    last_good_state(record).or_warn().flatten()
}

/// The state of the document in force before this change, which removes its leftovers. It is read from `applied` where that differs
/// from the last good document (another tool or deployment wrote it), else from the recorded resolved state. `None`, with a
/// warning, if neither can be read.
pub(super) fn previous(paths: &Paths, record: &Record) -> Option<State> {
    let applied = durable::read(&paths.applied()).or_warn().flatten();
    let last_good = record.document().map(|document| document.text.into_bytes());
    match applied.filter(|applied| !applied.is_empty()) {
        Some(applied) if Some(&applied) != last_good.as_ref() => {
            let parsed = Parsed::new(&String::from_utf8_lossy(&applied));
            // A policy's captures were resolved against a state that is gone.
            let resolved = parsed.and_then(|parsed| match parsed.needs_current() {
                true => Ok(None),
                false => parsed.resolve(None).map(Some),
            });
            resolved.or_warn().flatten().or_else(|| last_good_if_readable(record))
        }
        _ => last_good_if_readable(record),
    }
}

/// Resolves the document in force again, where the record has lost the state that it was resolved to: version 0.2, on the way
/// back, leaves it out when it writes the record.
pub(super) async fn resolve_again(run: &Run<'_>) -> Result {
    let record = Record::load(run.paths);
    if matches!(resolved(&record), Some(Ok(_))) {
        return Ok(());
    }
    let Some((_, parsed)) = last_good(&record)? else { return Ok(()) };
    let network = run.connect().await?;
    let current = if parsed.needs_current() { Some(network.current().await?) } else { None };
    let state = network.resolve_links(parsed.resolve(current.as_ref())?).await?;
    let text = state.to_yaml()?;
    Ok(Record::update(run.paths, |record| {
        if let Some(committed) = &mut record.committed {
            committed.resolved = Some(text);
        }
    })?)
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
) -> Result {
    let network = run.connect().await?;
    let files = ServiceFiles::none_due(record.service_files().to_vec());
    let change = DocumentChange { document, parsed, service_files: &files, previous: None };
    Ok(run.transaction(&network).run(&Change::Document(change), probed).await?)
}

/// Returns to the last good document, for `dayone rollback`.
pub(crate) async fn put_back(run: &Run<'_>) -> Result {
    let record = recover::online(run).await?;
    let (document, parsed) = last_good(&record)?.ok_or(Error::NoLastGood)?;
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
    let committed =
        record.committed.as_ref().filter(|committed| is_applied || has_profiles(paths, committed));
    let source = committed.map(|committed| committed.source.clone());
    source.or_else(|| is_applied.then(|| paths.applied()))
}

/// Whether all recorded profiles are among the saved ones: nmstate edits the day-one profiles of cards and bonds in place, so that
/// the deployment before the document has profiles with the same uuids. A record without any counts as this deployment's, and so
/// do profiles that cannot be read.
fn has_profiles(paths: &Paths, committed: &Committed) -> bool {
    let recorded =
        committed.uplinks.as_ref().map(|uplink| uplink.profiles.as_slice()).unwrap_or_default();
    let Some(texts) = profiles(&paths.profiles()).or_warn() else { return true };
    let lines = || texts.iter().flat_map(|text| text.lines());
    let saved: Vec<&str> =
        lines().filter_map(|line| line.trim().strip_prefix("uuid=")).map(str::trim).collect();
    recorded.iter().all(|profile| saved.contains(&profile.uuid.as_str()))
}

/// The text of each saved profile.
fn profiles(directory: &Path) -> Result<Vec<String>, FileError> {
    let mut texts = Vec::new();
    for path in entries("read", directory)?.into_iter().filter(|path| path.is_file()) {
        let text = durable::read(&path)?.unwrap_or_default();
        texts.push(String::from_utf8_lossy(&text).into_owned());
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        document::digest::Digest,
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
            // No profile was active.
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

    /// Nothing but `applied` says what is in force.
    #[test]
    fn without_a_record_the_applied_document_counts() -> Result<(), Box<dyn std::error::Error>> {
        for (text, is_found) in [(Some(B), true), (Some(""), false), (None, false)] {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            std::fs::create_dir_all(paths.documents())?;
            if let Some(text) = text {
                std::fs::write(paths.applied(), text)?;
            }
            assert_eq!(applied(&paths)?.is_some(), is_found, "{text:?}");
            assert!(last_good(&Record::load(&paths))?.is_none());
        }
        Ok(())
    }

    /// A policy has no state but the one that it was resolved to.
    #[test]
    fn a_document_without_its_resolved_state_is_resolved_by_itself()
    -> Result<(), Box<dyn std::error::Error>> {
        for (text, is_resolved, expected) in
            [(B, true, true), (B, false, true), (POLICY, true, true), (POLICY, false, false)]
        {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            std::fs::create_dir_all(paths.documents())?;
            let file = paths.documents().join("worker-0.yml");
            std::fs::write(&file, text)?;
            let document = Document::read(file)?;
            commit::adopt(&paths, &document, B, Uplinks::default(), &[])?;
            let mut record = Record::load(&paths);
            assert_eq!(record.document().map(|document| document.text).as_deref(), Some(text));
            let committed = record.committed.as_mut().ok_or("no commit")?;
            committed.resolved = committed.resolved.take().filter(|_| is_resolved);
            assert_eq!(last_good_state(&record)?.is_some(), expected, "{text} {is_resolved}");
            // A disk has damaged it.
            for unreadable in ["", "interfaces: {"] {
                let committed = record.committed.as_mut().ok_or("no commit")?;
                committed.resolved = Some(unreadable.to_owned());
                assert!(!matches!(resolved(&record), Some(Ok(_))), "{unreadable:?}");
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
