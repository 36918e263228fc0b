//! The committed document, the count of failures, and the machine.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{
    adopted::AdoptedChange,
    boot::{boot_id, now},
    file::{self, Result},
    machine::Machine,
};
use crate::{
    document::{Document, InForce, digest::Digest},
    model::Uplinks,
    paths::Paths,
    warn::OrWarn as _,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Committed {
    pub(crate) digest: Digest,
    pub(crate) source: PathBuf,
    /// Seconds since 1970.
    pub(crate) at: u64,
    /// The network that a later boot waits for; a commit that is staged has none until its network is proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) uplinks: Option<Uplinks>,
    /// Digests of the files of `nmstatectl service` applied before the document.
    #[serde(default)]
    pub(crate) service_files: Vec<Digest>,
    /// Whether another tool put the document in force, and the agent only recorded it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) adopted: bool,
    /// The document; version 0.2 drops this field and those below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) document: Option<Text>,
    /// The state that the document was resolved to when it was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resolved: Option<String>,
    /// The change of the network that is no drift.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) adopted_change: Option<AdoptedChange>,
}

/// The content of a file and its permissions, which its copies get too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) mode: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failures {
    pub(crate) digest: Digest,
    pub(crate) count: u32,
    pub(crate) last_error: String,
    /// The boot of the last failure.
    #[serde(default)]
    pub(crate) boot_id: String,
    /// Attempts in a row that ended with the agent or the machine.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) cut_off: u32,
}

impl Failures {
    /// Returns how often the document failed, and by what; `last` names the boot of the last failure, in words.
    pub(crate) fn in_words(&self, last: &str) -> String {
        format!("it failed {}{last}; the last error: {}", times(self.count), self.last_error)
    }

    /// Whether the attempts keep ending with the agent or the machine: `most` in a row, or more.
    pub(crate) fn are_cut_off(&self, most: u32) -> bool {
        self.cut_off >= most
    }
}

/// Returns how often in words.
pub(crate) fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Whether a number need not be written.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// `record.json`, the only memory beside the open transaction and the history. Only root may read it: a document may have secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Record {
    pub(crate) committed: Option<Committed>,
    pub(crate) failures: Option<Failures>,
    /// The machine and the installation of all state; `None`: this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<Machine>,
}

impl Record {
    /// The document of the last commit; its path is the one that it had then.
    pub(crate) fn document(&self) -> Option<Document> {
        let Committed { digest, source, document, .. } = self.committed.as_ref()?;
        let Text { text, mode } = document.clone()?;
        Some(Document { path: source.clone(), text, digest: digest.clone(), mode })
    }

    /// The change of the network in force that somebody has adopted.
    pub(crate) fn adopted_change(&self) -> Option<&AdoptedChange> {
        self.committed.as_ref()?.adopted_change.as_ref()
    }

    /// The network of the committed document, if it was recorded.
    pub(crate) fn uplinks(&self) -> Option<&Uplinks> {
        self.committed.as_ref()?.uplinks.as_ref()
    }

    /// Records another network of the committed document.
    pub(crate) fn set_uplinks(&mut self, uplinks: Uplinks) {
        if let Some(committed) = &mut self.committed {
            committed.uplinks = Some(uplinks);
        }
    }

    /// Whether `digest` is in force: committed, and `applied` still has its bytes.
    pub(crate) fn in_force(&self, paths: &Paths, digest: &Digest) -> Result<bool> {
        let committed = self.committed.as_ref().is_some_and(|c| c.digest == *digest);
        Ok(committed
            && file::read(&paths.applied())?.is_some_and(|bytes| Digest::of(&bytes) == *digest))
    }

    /// The document in force in this deployment. `None` too if `applied` cannot be read.
    pub(crate) fn document_in_force(&self, paths: &Paths) -> Option<InForce> {
        let Committed { source, digest, .. } = self.committed.as_ref()?;
        let in_force = self.in_force(paths, digest).or_warn()?;
        in_force.then(|| InForce { source: source.clone(), digest: digest.clone() })
    }

    /// The digests that are applied in this deployment: those of the record, where the document in force is this deployment's.
    /// Another one's profiles, and those of an installation before, lack what the record knows.
    pub(crate) fn service_files_in_force(&self, paths: &Paths) -> &[Digest] {
        match self.document_in_force(paths) {
            Some(_) => self.service_files(),
            None => &[],
        }
    }

    /// The digests already applied.
    pub(crate) fn service_files(&self) -> &[Digest] {
        self.committed.as_ref().map_or(&[], |committed| &committed.service_files)
    }

    /// Whether all these files are already applied.
    pub(crate) fn has_service_files(&self, all: &[Digest]) -> bool {
        all.iter().all(|digest| self.service_files().contains(digest))
    }

    /// Returns the failures of this document; `None` if the record has none, or those of another one.
    pub(crate) fn known_failures(&self, digest: &Digest) -> Option<&Failures> {
        self.failures.as_ref().filter(|failures| failures.digest == *digest)
    }

    /// The number of failures of this document.
    pub(crate) fn failures_of(&self, digest: &Digest) -> u32 {
        self.known_failures(digest).map_or(0, |failures| failures.count)
    }

    /// The failures of a document that is not tried again in this boot: `most` of them, or more. Each boot tries once, since
    /// somebody may have mended the network meanwhile, unless the attempts keep ending with the agent or the machine. 0: never
    /// given up, and neither is a document in force: it has worked here, and the network may be away for any time.
    pub(crate) fn given_up(&self, paths: &Paths, digest: &Digest, most: u32) -> Option<&Failures> {
        let failures = self.known_failures(digest)?;
        let is_enough = most != 0 && failures.count >= most;
        let is_tried = failures.boot_id == boot_id(paths);
        // Unless `applied` can be read, the document may be in force.
        let is_in_force = self.in_force(paths, digest).unwrap_or(true);
        let is_over = is_tried && !is_in_force;
        (is_enough && (is_over || failures.are_cut_off(most))).then_some(failures)
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
            service_files: Vec::new(),
            adopted: false,
            document: Some(Text { text: document.text.clone(), mode: document.mode }),
            resolved: None,
            adopted_change: None,
        };
        Self { committed: Some(committed), failures, machine: earlier.machine }
    }

    /// Forgets the failures of the committed document, whose network works. Those of another document stay: the two must not
    /// alternate for ever.
    pub(crate) fn forget_failures_in_force(&mut self) {
        let committed = self.committed.as_ref().map(|committed| &committed.digest);
        if self.failures.as_ref().map(|failures| &failures.digest) == committed {
            self.failures = None;
        }
    }

    /// Forgets failures, for `--retry`.
    pub(crate) fn forgive(&mut self) {
        self.failures = None;
    }
}
