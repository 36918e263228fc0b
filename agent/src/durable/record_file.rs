//! `record.json` on the disk, and the history beside it.

use std::path::Path;

use serde::Serialize;

use super::{
    boot::now,
    file::{self, FileError, Result},
    from_0_2,
    record::{Failures, Record},
};
use crate::{document::digest::Digest, paths::Paths};

/// Permissions of `record.json`.
pub(super) const MODE: u32 = 0o600;

#[derive(Debug, Serialize)]
struct HistoryLine<'a> {
    at: u64,
    digest: &'a Digest,
    source: &'a Path,
    outcome: &'a str,
    error: Option<&'a str>,
}

#[derive(Debug)]
pub(crate) struct Failed<'a> {
    /// Failures of the document before.
    pub(crate) before: u32,
    pub(crate) outcome: &'a str,
    pub(crate) error: &'a str,
    pub(crate) boot_id: String,
}

/// The outcome of an attempt that ended with the agent or the machine.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// Maximum number of lines of history.
const HISTORY: usize = 200;

impl Record {
    /// Loads the record. A damaged one is set aside, an unreadable one gives a warning; both start
    /// empty, since neither must keep a node from booting.
    pub(crate) fn load(paths: &Paths) -> Self {
        let record = file::read_json_or_set_aside(&paths.record()).unwrap_or_else(|error| {
            tracing::warn!(error = %error, "the record is unreadable; starting a new one");
            None
        });
        from_0_2::completed(record.unwrap_or_default(), paths, &paths.state_dir())
    }

    /// Changes the record on the disk, if it differs then. The lock's holder alone calls it.
    pub(crate) fn update(paths: &Paths, change: impl FnOnce(&mut Self)) -> Result {
        let before = Self::load(paths);
        let mut record = before.clone();
        change(&mut record);
        if record == before { Ok(()) } else { record.write(paths) }
    }

    /// Replaces the record on the disk, which then has what version 0.2 keeps in files of their own.
    pub(super) fn write(&self, paths: &Paths) -> Result {
        file::create_dir(&paths.state_dir())?;
        file::write_json(&paths.record(), self, MODE)?;
        from_0_2::remove(paths)
    }

    /// Counts a failure of a document.
    pub(crate) fn failed(
        paths: &Paths,
        digest: &Digest,
        source: &Path,
        failed: Failed<'_>,
    ) -> Result {
        let Failed { before, outcome, error, boot_id } = failed;
        let (count, last_error) = (before.saturating_add(1), error.to_owned());
        Self::update(paths, |record| {
            let earlier = record.failures.take().filter(|earlier| earlier.digest == *digest);
            let cut_off = match outcome {
                // A recovery that is cut off itself counts again: the attempt is one.
                INTERRUPTED => earlier.map_or(1, |earlier| {
                    earlier.cut_off.saturating_add((earlier.count <= before).into())
                }),
                _ => 0,
            };
            let digest = digest.clone();
            record.failures = Some(Failures { digest, count, last_error, boot_id, cut_off });
        })?;
        append(paths, digest, source, outcome, Some(error))
    }
}

/// Appends to the history, which is for display: bounded, and rewritten as a whole.
pub(crate) fn append(
    paths: &Paths,
    digest: &Digest,
    source: &Path,
    outcome: &str,
    error: Option<&str>,
) -> Result {
    let path = paths.history();
    let entry = HistoryLine { at: now(), digest, source, outcome, error };
    let line = serde_json::to_string(&entry)
        .map_err(|source| FileError::Encode { path: path.clone(), source })?;
    let old = file::read(&path)?.unwrap_or_default();
    let old = String::from_utf8_lossy(&old);
    let lines: Vec<&str> = old.lines().collect();
    let keep = &lines[lines.len().saturating_sub(HISTORY - 1)..];
    let lines = keep.iter().copied().chain([line.as_str()]);
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    file::write(&path, text.as_bytes(), 0o600)
}

#[cfg(test)]
mod tests {
    use super::{Failed, Failures, HISTORY, INTERRUPTED, Record, append};
    use crate::{document::Document, document::digest::Digest, paths::Paths};

    fn document(text: &str) -> Document {
        Document {
            path: "/etc/nmstate/openshift/cluster.yml".into(),
            text: text.to_owned(),
            digest: Digest::of(text.as_bytes()),
            mode: 0o644,
        }
    }

    fn failures(digest: &Digest, count: u32) -> Failures {
        let last_error = "why".to_owned();
        Failures { digest: digest.clone(), count, last_error, boot_id: String::new(), cut_off: 0 }
    }

    #[test]
    fn each_boot_tries_once_unless_it_keeps_ending_in_the_attempt()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let boot = |id: &str| {
            let path = paths.boot_id();
            std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
            std::fs::write(path, id)
        };
        let a = document("a");
        let load = || Record::load(&paths);
        let fail = |outcome, boot: &str| {
            let (before, boot_id) = (load().failures_of(&a.digest), boot.to_owned());
            let failed = Failed { before, outcome, error: "why", boot_id };
            Record::failed(&paths, &a.digest, &a.path, failed)
        };
        boot("first")?;
        for is_given_up in [false, false, true] {
            fail("rolled-back", "first")?;
            assert_eq!(load().given_up(&paths, &a.digest, 3).is_some(), is_given_up);
        }
        assert!(load().given_up(&paths, &a.digest, 0).is_none());
        assert!(load().given_up(&paths, &Digest::of(b"b"), 3).is_none());
        // The attempt of the next boots ends with the machine: the third time is the last.
        for (ended, now, is_given_up) in
            [("first", "second", false), ("second", "third", false), ("third", "fourth", true)]
        {
            boot(now)?;
            assert!(load().given_up(&paths, &a.digest, 3).is_none(), "{now}");
            let before = load();
            fail("interrupted", ended)?;
            let once = load();
            // The recovery is cut off, and counts the same attempt again.
            let counted = before.failures_of(&a.digest);
            let (error, boot_id) = ("why", ended.to_owned());
            let failed = Failed { before: counted, outcome: INTERRUPTED, error, boot_id };
            Record::failed(&paths, &a.digest, &a.path, failed)?;
            assert_eq!(load(), once);
            assert_eq!(once.given_up(&paths, &a.digest, 3).is_some(), is_given_up, "{now}");
        }
        Ok(())
    }

    #[test]
    fn a_document_in_force_is_never_given_up() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        std::fs::create_dir_all(paths.documents())?;
        let a = document("a");
        let mut record = Record::of(&a, Record::default());
        record.failures = Some(failures(&a.digest, 3));
        for (applied, is_given_up) in [("a", false), ("another tool's", true)] {
            std::fs::write(paths.applied(), applied)?;
            assert_eq!(record.given_up(&paths, &a.digest, 3).is_some(), is_given_up, "{applied}");
        }
        // Unless its attempts keep ending with the agent or the machine.
        std::fs::write(paths.applied(), "a")?;
        record.failures = Some(Failures { cut_off: 3, ..failures(&a.digest, 3) });
        assert!(record.given_up(&paths, &a.digest, 3).is_some());
        Ok(())
    }

    #[test]
    fn a_network_that_works_ends_the_count_of_its_own_document_alone()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let (good, bad) = (document("good"), document("bad"));
        for (failed, is_forgotten) in [(&good, true), (&bad, false)] {
            let mut record = Record::of(&good, Record::default());
            record.failures = Some(failures(&failed.digest, 3));
            record.write(&paths)?;
            Record::update(&paths, Record::forget_failures_in_force)?;
            assert_eq!(Record::load(&paths).failures.is_none(), is_forgotten);
        }
        Ok(())
    }

    #[test]
    fn a_return_keeps_the_failures_of_the_other_document() {
        let (good, bad) = (document("good"), document("bad"));
        let mut record = Record::of(&good, Record::default());
        record.failures = Some(failures(&bad.digest, 2));
        assert_eq!(Record::of(&good, record.clone()).failures_of(&bad.digest), 2);
        // Committing another document resets the count, since a document in force has not failed.
        assert_eq!(Record::of(&document("new"), record.clone()).failures, None);
        assert_eq!(Record::of(&bad, record).failures, None);
    }

    #[test]
    fn failures_are_of_one_document() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let a = document("a");
        for before in 0..3 {
            let (outcome, boot_id) = ("rolled-back", String::new());
            let failed = Failed { before, outcome, error: "why", boot_id };
            Record::failed(&paths, &a.digest, &a.path, failed)?;
        }
        let record = Record::load(&paths);
        assert_eq!(record.failures_of(&Digest::of(b"a")), 3);
        assert_eq!(record.failures_of(&Digest::of(b"b")), 0);
        Ok(())
    }

    #[test]
    fn the_history_keeps_its_last_lines_with_their_time() -> Result<(), Box<dyn std::error::Error>>
    {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        std::fs::create_dir_all(paths.state_dir())?;
        let path = std::path::Path::new("/etc/nmstate/openshift/cluster.yml");
        for run in 0..=HISTORY {
            append(&paths, &Digest::of(b""), path, &format!("run {run}"), None)?;
        }
        let text = std::fs::read_to_string(paths.history())?;
        let lines: Vec<serde_json::Value> =
            text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        assert_eq!(lines.len(), HISTORY);
        assert_eq!(
            (&lines[0]["outcome"], &lines[HISTORY - 1]["outcome"]),
            (&"run 1".into(), &"run 200".into())
        );
        // After 2020: a node's clock may be wrong, but this host's counts seconds since 1970.
        assert!(lines[0]["at"].as_u64().is_some_and(|at| at > 1_577_836_800), "{}", lines[0]);
        Ok(())
    }

    #[test]
    fn forgiven_failures_are_gone() {
        let failures = Some(failures(&Digest::of(b"a"), 2));
        let mut record = Record { failures, ..Record::default() };
        record.forgive();
        assert_eq!(record.failures_of(&Digest::of(b"a")), 0);
    }
}
