//! The state of version 0.2, which keeps parts of the record in files of their own. They are read until the record has them, and
//! each write of the record removes them. On the way back version 0.2 takes `applied` for the document in force, and drops what it
//! does not know when it writes the record.

use std::path::{Path, PathBuf};

use super::{
    file::{self, Result},
    record::{Committed, Record, Text},
};
use crate::{
    document::digest::Digest, model::LinkRef, paths::Paths, state::Parsed, warn::OrWarn as _,
};

const DOCUMENT: &str = "last-good.yml";
const RESOLVED: &str = "last-good.resolved.yml";

/// The files beside the record.
fn files(paths: &Paths) -> [PathBuf; 3] {
    let state = paths.state_dir();
    [state.join(DOCUMENT), state.join(RESOLVED), paths.machine()]
}

/// Returns the record with what these files have and it lacks. `directory` is the record's: that of the state, or of a commit.
pub(super) fn completed(mut record: Record, paths: &Paths, directory: &Path) -> Record {
    // Version 0.2 writes the machine without the record.
    let machine = file::read_json_or_set_aside(&paths.machine());
    record.machine = readable(machine).or(record.machine);
    if let Some(committed) = &mut record.committed {
        if committed.document.is_none() {
            complete(committed, paths, directory);
        }
        if committed.uplinks.as_ref().is_some_and(|uplinks| uplinks.addressable.is_none()) {
            let addressable = addressable(committed);
            if let Some(uplinks) = &mut committed.uplinks {
                uplinks.addressable = addressable;
            }
        }
    }
    record
}

fn complete(committed: &mut Committed, paths: &Paths, directory: &Path) {
    // A commit that was cut off has moved some of its files to the state's directory.
    let directories = [directory, &paths.state_dir()];
    let own = directories
        .iter()
        .find_map(|directory| document(&directory.join(DOCUMENT), &committed.digest));
    if own.is_some() {
        let bytes = directories
            .iter()
            .find_map(|directory| readable(file::read(&directory.join(RESOLVED))));
        committed.resolved = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    }
    committed.document = own.or_else(|| document(&paths.applied(), &committed.digest));
}

/// The links that can have addresses, by the document; `None` where it cannot be read.
fn addressable(committed: &Committed) -> Option<Vec<LinkRef>> {
    let document = committed.document.as_ref().map(|document| &document.text);
    let text = committed.resolved.as_ref().or(document)?;
    let state = Parsed::new(text).and_then(|parsed| parsed.resolve(None)).ok()?;
    Some(state.wants().addressable).filter(|links| !links.is_empty())
}

/// The content of the file, if it has this digest.
fn document(path: &Path, digest: &Digest) -> Option<Text> {
    let bytes = readable(file::read(path)).filter(|bytes| Digest::of(bytes) == *digest)?;
    let mode = readable(file::mode(path).map(Some))?;
    Some(Text { text: String::from_utf8(bytes).ok()?, mode })
}

/// `None`, with a warning, if it cannot be read.
fn readable<T>(read: Result<Option<T>>) -> Option<T> {
    read.or_warn().flatten()
}

/// Writes the record with what the files have, if there are any.
pub(crate) fn migrate(paths: &Paths) -> Result {
    match files(paths).iter().any(|file| file.exists()) {
        true => Record::load(paths).write(paths),
        false => Ok(()),
    }
}

/// Removes the files: the record has their content.
pub(super) fn remove(paths: &Paths) -> Result {
    let left = files(paths).into_iter().filter(|file| file.exists());
    left.into_iter().try_for_each(|file| file::remove_durably(&file))
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    };

    use super::*;
    use crate::{durable::commit, model::Family};

    type Tested = Result<(), Box<dyn std::error::Error>>;

    const TEXT: &str = "interfaces: [{name: eno1, type: ethernet, state: up}, \
                        {name: br-ex, type: linux-bridge, state: up, ipv4: {enabled: true, dhcp: true}, \
                        bridge: {port: [{name: eno1}]}}]\n";

    /// The record as version 0.2 writes it.
    fn record() -> String {
        let digest = Digest::of(TEXT.as_bytes());
        format!(
            "{{\"committed\": {{\"digest\": \"{digest}\", \"source\": \"/etc/nmstate/openshift/a.yml\", \"at\": 1, \
             \"uplinks\": {{\"families\": [\"ipv4\"], \"links\": [{{\"name\": \"eno1\"}}, {{\"name\": \"br-ex\"}}]}}, \
             \"service_files\": []}}, \"failures\": null}}"
        )
    }

    fn node() -> Result<(tempfile::TempDir, Paths), std::io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        fs::create_dir_all(paths.documents())?;
        fs::create_dir_all(paths.state_dir())?;
        fs::write(paths.record(), record())?;
        Ok((root, paths))
    }

    fn put(directory: &Path, mode: u32) -> std::io::Result<()> {
        for (name, text) in [(DOCUMENT, TEXT), (RESOLVED, TEXT)] {
            fs::write(directory.join(name), text)?;
            fs::set_permissions(directory.join(name), fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    #[test]
    fn the_files_become_parts_of_the_record() -> Tested {
        let (_root, paths) = node()?;
        put(&paths.state_dir(), 0o640)?;
        fs::write(paths.machine(), "{\"machine-id\": \"a1\", \"cards\": [\"52:54:00:00:00:01\"]}")?;
        let read = Record::load(&paths);
        assert_eq!(fs::read_dir(paths.state_dir())?.count(), 4, "reading changes nothing");
        let document = read.document().ok_or("no document")?;
        assert_eq!((document.text.as_str(), document.mode), (TEXT, 0o640));
        let committed = read.committed.clone().ok_or("no commit")?;
        assert_eq!(committed.resolved.as_deref(), Some(TEXT));
        // A port that has an address instead of its bridge is no network of the document's.
        let uplinks = committed.uplinks.ok_or("no uplinks")?;
        assert_eq!(uplinks.addressable, Some(vec![LinkRef::Name("br-ex".to_owned())]));
        assert_eq!((uplinks.families.as_slice(), uplinks.links.len()), (&[Family::Ipv4][..], 2));
        assert!(
            read.machine.as_ref().is_some_and(|machine| machine.cards == ["52:54:00:00:00:01"])
        );
        migrate(&paths)?;
        assert_eq!(fs::read_dir(paths.state_dir())?.count(), 1);
        assert_eq!(Record::load(&paths), read);
        assert_eq!(fs::metadata(paths.record())?.mode() & 0o777, 0o600);
        // The removal was cut off.
        put(&paths.state_dir(), 0o640)?;
        migrate(&paths)?;
        assert_eq!((fs::read_dir(paths.state_dir())?.count(), Record::load(&paths)), (1, read));
        Ok(())
    }

    #[test]
    fn a_machine_that_version_0_2_has_written_since_is_the_newer_one() -> Tested {
        let (_root, paths) = node()?;
        for card in ["52:54:00:00:00:01", "52:54:00:00:00:02"] {
            fs::write(paths.machine(), format!("{{\"cards\": [\"{card}\"]}}"))?;
            migrate(&paths)?;
            assert!(Record::load(&paths).machine.is_some_and(|machine| machine.cards == [card]));
        }
        Ok(())
    }

    /// On the way back version 0.2 has dropped the document; a disk has damaged the copy.
    #[test]
    fn without_its_copy_the_document_is_the_applied_one() -> Tested {
        for (copy, applied, expected) in [
            (None, TEXT, Some(TEXT)),
            (Some(&b"[\0\xff"[..]), TEXT, Some(TEXT)),
            (None, "another tool's", None),
        ] {
            let (_root, paths) = node()?;
            if let Some(copy) = copy {
                fs::write(paths.state_dir().join(DOCUMENT), copy)?;
            }
            fs::write(paths.applied(), applied)?;
            let text = Record::load(&paths).document().map(|document| document.text);
            assert_eq!(text.as_deref(), expected, "{copy:?} {applied}");
        }
        Ok(())
    }

    /// The update comes between the decision of version 0.2 and the end of its commit.
    #[test]
    fn a_decided_commit_is_finished_wherever_it_was_cut_off() -> Tested {
        for moved in 0..=2 {
            let (_root, paths) = node()?;
            let directory = paths.committed();
            fs::create_dir_all(&directory)?;
            put(&directory, 0o600)?;
            fs::rename(paths.record(), directory.join("record.json"))?;
            for name in &[RESOLVED, DOCUMENT][..moved] {
                fs::rename(directory.join(name), paths.state_dir().join(name))?;
            }
            commit::finish(&paths)?;
            assert_eq!(fs::read_to_string(paths.applied())?, TEXT, "cut off after {moved}");
            assert_eq!(fs::metadata(paths.applied())?.mode() & 0o777, 0o600);
            let record = Record::load(&paths);
            assert!(record.in_force(&paths, &Digest::of(TEXT.as_bytes()))?);
            assert!(
                record
                    .committed
                    .is_some_and(|committed| committed.resolved.as_deref() == Some(TEXT))
            );
            let mut left: Vec<_> = fs::read_dir(paths.state_dir())?
                .map(|entry| entry.map(|entry| entry.file_name()))
                .collect::<Result<_, _>>()?;
            left.sort_unstable();
            assert_eq!(left, ["history.jsonl", "record.json"]);
        }
        Ok(())
    }
}
