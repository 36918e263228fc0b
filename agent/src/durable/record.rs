//! The committed document, the count of failures, and the history.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use super::{
    boot::boot_id,
    file::{self, FileError},
};
use crate::{
    document::{Document, InForce, digest::Digest},
    model::Uplinks,
    paths::Paths,
};

/// A committed document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Committed {
    pub(crate) digest: Digest,
    pub(crate) source: PathBuf,
    /// Seconds since 1970.
    pub(crate) at: u64,
    /// The network that a later boot waits for; older versions did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) uplinks: Option<Uplinks>,
    /// Digests of the files of `nmstatectl service` applied before the document; older versions
    /// left them to nmstate.service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) service_files: Option<Vec<Digest>>,
    /// Whether another tool put the document in force, and the agent only recorded it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) adopted: bool,
}

/// Failures of one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failures {
    pub(crate) digest: Digest,
    pub(crate) count: u32,
    pub(crate) last_error: String,
    /// The boot of the last failure; older versions did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) boot_id: Option<String>,
    /// Attempts in a row that ended with the agent or the machine.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) cut_off: u32,
}

impl Failures {
    /// Whether the attempts keep ending with the agent or the machine: `most` in a row, or more.
    pub(crate) fn are_cut_off(&self, most: u32) -> bool {
        self.cut_off >= most
    }
}

/// Whether a number need not be written.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// `record.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Record {
    pub(crate) committed: Option<Committed>,
    pub(crate) failures: Option<Failures>,
}

/// A line of the history.
#[derive(Debug, Serialize)]
struct Entry<'a> {
    at: u64,
    digest: &'a Digest,
    source: &'a Path,
    outcome: &'a str,
    error: Option<&'a str>,
}

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Failed<'a> {
    /// Failures of the document before.
    pub(crate) before: u32,
    pub(crate) outcome: &'a str,
    pub(crate) error: &'a str,
    /// The boot of the attempt.
    pub(crate) boot_id: String,
}

/// The outcome of an attempt that ended with the agent or the machine.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// Maximum number of lines of history.
const HISTORY: usize = 200;

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

impl Record {
    /// Loads the record. A damaged one is set aside, an unreadable one gives a warning; both start
    /// empty, since neither must keep a node from booting.
    pub(crate) fn load(paths: &Paths) -> Self {
        match file::read_json_or_set_aside(&paths.record()) {
            Ok(record) => record.unwrap_or_default(),
            Err(error) => {
                tracing::warn!(error = %error, "the record is unreadable; starting a new one");
                Self::default()
            }
        }
    }

    /// The network of the committed document, if it was recorded.
    pub(crate) fn uplinks(&self) -> Option<&Uplinks> {
        self.committed.as_ref()?.uplinks.as_ref()
    }

    /// Whether `digest` is in force: committed, and `applied` still has its bytes.
    pub(crate) fn in_force(&self, paths: &Paths, digest: &Digest) -> Result<bool, FileError> {
        let committed = self.committed.as_ref().is_some_and(|c| c.digest == *digest);
        Ok(committed
            && file::read(&paths.applied())?.is_some_and(|bytes| Digest::of(&bytes) == *digest))
    }

    /// The document in force in this deployment. `None` too if `applied` cannot be read.
    pub(crate) fn document_in_force(&self, paths: &Paths) -> Option<InForce> {
        let Committed { source, digest, .. } = self.committed.as_ref()?;
        let in_force = self.in_force(paths, digest);
        let in_force = in_force.inspect_err(|error| tracing::warn!("{}", nmgen::chain(error)));
        in_force
            .unwrap_or_default()
            .then(|| InForce { source: source.clone(), digest: digest.clone() })
    }

    /// The digests that are applied in this deployment: those of the record, where the document in force is this deployment's.
    /// Another one's profiles, and those of an installation before, lack what the record knows.
    pub(crate) fn service_files_in_force(&self, paths: &Paths, all: &[Digest]) -> Vec<Digest> {
        match self.document_in_force(paths) {
            Some(_) => self.applied_service_files(all),
            None => Vec::new(),
        }
    }

    /// The digests already applied. With a record of an older version these are `all` files of
    /// `nmstatectl service`, applied by nmstate.service.
    pub(crate) fn applied_service_files(&self, all: &[Digest]) -> Vec<Digest> {
        match &self.committed {
            None => Vec::new(),
            Some(committed) => committed.service_files.clone().unwrap_or_else(|| all.to_vec()),
        }
    }

    /// Whether all these files are already applied.
    pub(crate) fn has_service_files(&self, all: &[Digest]) -> bool {
        let applied = self.applied_service_files(all);
        all.iter().all(|digest| applied.contains(digest))
    }

    /// Adds the missing fields to the record of an older version.
    pub(crate) fn complete(
        &mut self,
        paths: &Paths,
        uplinks: Uplinks,
        service_files: &[Digest],
    ) -> Result<(), FileError> {
        if let Some(committed) = &mut self.committed {
            committed.uplinks = Some(uplinks);
            committed.service_files = Some(service_files.to_vec());
        }
        file::write_json(&paths.record(), self, 0o600)
    }

    /// The number of failures of this document.
    pub(crate) fn failures_of(&self, digest: &Digest) -> u32 {
        self.failures.as_ref().filter(|f| f.digest == *digest).map_or(0, |f| f.count)
    }

    /// The failures of a document that is not tried again in this boot: `most` of them, or more. Each boot tries once, since
    /// somebody may have mended the network meanwhile, unless the attempts keep ending with the agent or the machine. 0: never
    /// given up, and neither is a document in force: it has worked here, and the network may be away for any time.
    pub(crate) fn given_up(&self, paths: &Paths, digest: &Digest, most: u32) -> Option<&Failures> {
        let failures = self.failures.as_ref().filter(|f| f.digest == *digest)?;
        let is_enough = most != 0 && failures.count >= most;
        let is_tried = failures.boot_id.as_ref().is_none_or(|id| *id == boot_id(paths));
        // Unless `applied` can be read, the document may be in force.
        let is_in_force = self.in_force(paths, digest).unwrap_or(true);
        let is_over = is_tried && !is_in_force;
        (is_enough && (is_over || failures.are_cut_off(most))).then_some(failures)
    }

    /// Counts a failure of a document.
    pub(crate) fn failed(
        &mut self,
        paths: &Paths,
        digest: &Digest,
        source: &Path,
        failed: Failed<'_>,
    ) -> Result<(), FileError> {
        let Failed { before, outcome, error, boot_id } = failed;
        let (count, last_error) = (before.saturating_add(1), error.to_owned());
        let earlier = self.failures.as_ref().filter(|f| f.digest == *digest);
        let cut_off = match outcome {
            // A recovery that is cut off itself counts again: the attempt is one.
            INTERRUPTED => {
                earlier.map_or(1, |f| f.cut_off.saturating_add((f.count <= before).into()))
            }
            _ => 0,
        };
        let (digest_of, boot_id) = (digest.clone(), Some(boot_id));
        self.failures = Some(Failures { digest: digest_of, count, last_error, boot_id, cut_off });
        file::create_dir(&paths.state_dir())?;
        file::write_json(&paths.record(), self, 0o600)?;
        append(paths, digest, source, outcome, Some(error))
    }

    /// The record of a commit of `document`, now. Committing the last good document again after
    /// another one failed keeps the other's count of failures: the two must not alternate for ever.
    pub(crate) fn of(document: &Document, earlier: Self) -> Self {
        let (digest, source) = (document.digest.clone(), document.path.clone());
        let returns = earlier.committed.is_some_and(|c| c.digest == digest);
        let failures = earlier.failures.filter(|f| returns && f.digest != digest);
        let committed = Committed {
            digest,
            source,
            at: now(),
            uplinks: None,
            service_files: None,
            adopted: false,
        };
        Self { committed: Some(committed), failures }
    }

    /// Forgets the failures of the committed document, whose network works. Those of another document stay: the two must not
    /// alternate for ever.
    pub(crate) fn forget_failures_in_force(&mut self, paths: &Paths) -> Result<(), FileError> {
        let committed = self.committed.as_ref().map(|it| &it.digest);
        if self.failures.as_ref().is_none_or(|it| Some(&it.digest) != committed) {
            return Ok(());
        }
        self.failures = None;
        file::write_json(&paths.record(), self, 0o600)
    }

    /// Forgets failures, for `--retry`.
    pub(crate) fn forgive(&mut self) {
        self.failures = None;
    }
}

/// Appends to the history, which is for display: bounded, and rewritten as a whole.
pub(crate) fn append(
    paths: &Paths,
    digest: &Digest,
    source: &Path,
    outcome: &str,
    error: Option<&str>,
) -> Result<(), FileError> {
    let path = paths.history();
    let entry = Entry { at: now(), digest, source, outcome, error };
    let line = serde_json::to_string(&entry)
        .map_err(|source| FileError::Encode { path: path.clone(), source })?;
    let old = file::read(&path)?.unwrap_or_default();
    let old = String::from_utf8_lossy(&old);
    let lines: Vec<&str> = old.lines().collect();
    let keep = &lines[lines.len().saturating_sub(HISTORY - 1)..];
    let mut text = Vec::new();
    for line in keep.iter().copied().chain([line.as_str()]) {
        // Writing to a Vec cannot fail.
        let _ = writeln!(text, "{line}");
    }
    file::write(&path, &text, 0o600)
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
        Failures { digest: digest.clone(), count, last_error, boot_id: None, cut_off: 0 }
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
        let (a, mut record) = (document("a"), Record::default());
        let fail = |record: &mut Record, outcome, boot: &str| {
            let (before, boot_id) = (record.failures_of(&a.digest), boot.to_owned());
            let failed = Failed { before, outcome, error: "why", boot_id };
            record.failed(&paths, &a.digest, &a.path, failed)
        };
        boot("first")?;
        for is_given_up in [false, false, true] {
            fail(&mut record, "rolled-back", "first")?;
            assert_eq!(record.given_up(&paths, &a.digest, 3).is_some(), is_given_up);
        }
        assert!(record.given_up(&paths, &a.digest, 0).is_none());
        assert!(record.given_up(&paths, &Digest::of(b"b"), 3).is_none());
        // The attempt of the next boots ends with the machine: the third time is the last.
        for (ended, now, is_given_up) in
            [("first", "second", false), ("second", "third", false), ("third", "fourth", true)]
        {
            boot(now)?;
            assert!(record.given_up(&paths, &a.digest, 3).is_none(), "{now}");
            let before = record.clone();
            fail(&mut record, "interrupted", ended)?;
            let once = record.clone();
            // The recovery is cut off, and counts the same attempt again.
            let counted = before.failures_of(&a.digest);
            let (error, boot_id) = ("why", ended.to_owned());
            let failed = Failed { before: counted, outcome: INTERRUPTED, error, boot_id };
            record.failed(&paths, &a.digest, &a.path, failed)?;
            assert_eq!(record, once);
            assert_eq!(record.given_up(&paths, &a.digest, 3).is_some(), is_given_up, "{now}");
        }
        // The record of an older version says nothing of the boot.
        record.failures = Some(failures(&a.digest, 3));
        assert!(record.given_up(&paths, &a.digest, 3).is_some());
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
            std::fs::create_dir_all(paths.state_dir())?;
            record.failures = Some(failures(&failed.digest, 3));
            super::file::write_json(&paths.record(), &record, 0o600)?;
            record.forget_failures_in_force(&paths)?;
            assert_eq!(Record::load(&paths), record);
            assert_eq!(record.failures.is_none(), is_forgotten);
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
        let (a, mut record) = (document("a"), Record::default());
        for before in 0..3 {
            let (outcome, boot_id) = ("rolled-back", String::new());
            let failed = Failed { before, outcome, error: "why", boot_id };
            record.failed(&paths, &a.digest, &a.path, failed)?;
        }
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
