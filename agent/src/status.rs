//! Reporting of a run: phases, journal, console, and `/run/dayone/status.json` (schema:
//! `agent/doc/status.schema.json`).

pub(crate) mod log;
pub(crate) mod phase;
pub(crate) mod progress;
pub(crate) mod trial;

use std::{
    cell::RefCell,
    path::PathBuf,
    rc::Rc,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use self::{phase::Phase, progress::Done};
use crate::{
    bridge::plan::{BridgePlan, Role},
    durable,
    model::ProbeResult,
    paths::{Paths, cannot},
    warn::OrWarn as _,
};

/// The schema's version.
pub(crate) const SCHEMA: u32 = 1;

/// How far this boot's run is. The file has one word for it, of all three kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Outcome {
    Open(Open),
    Succeeded(Success),
    Failed(Fault),
}

impl Default for Outcome {
    fn default() -> Self {
        Self::Open(Open::NotRun)
    }
}

impl Outcome {
    /// Its word in the file.
    pub(crate) fn name(self) -> String {
        word(self)
    }
}

/// The word of a variant in the file.
fn word(variant: impl Serialize) -> String {
    let word = serde_json::to_value(variant).ok();
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A run without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Open {
    /// No run in this boot; never in the file.
    NotRun,
    /// Not finished.
    Running,
}

/// The end of a run that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Success {
    /// Applied and committed in this run.
    Committed,
    /// In force already.
    Unchanged,
    /// In force by another tool, and recorded.
    Adopted,
    /// This node has no document.
    Nothing,
    /// The document in force was removed; its network stays.
    Removed,
}

/// The end of a failed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fault {
    /// Nothing was changed.
    #[serde(rename = "failed")]
    Untouched,
    /// The new network is in force, and its record is not written. The file has the word of older
    /// versions for it; the decided commit, which is still on disk, tells the two apart.
    #[serde(rename = "failed", skip_deserializing)]
    NotRecorded,
    /// The old network is back.
    RolledBack,
    /// The old network is not back.
    RollBackFailed,
    /// Failed too often; not tried again.
    GivenUp,
}

/// The automatic bridge of a node without a document.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct BridgeStatus {
    /// The uplink of br-ex; `reason` says why.
    pub(crate) uplink: String,
    pub(crate) bridges: Vec<String>,
    /// Ids of its profiles.
    pub(crate) profiles: Vec<String>,
    /// Settings of the earlier configuration that br-ex loses.
    pub(crate) losses: Vec<String>,
}

impl From<&BridgePlan> for BridgeStatus {
    fn from(plan: &BridgePlan) -> Self {
        let bridges = plan.profiles.iter().filter(|profile| profile.role == Role::Bridge);
        Self {
            uplink: plan.uplink.link.clone(),
            bridges: bridges.map(|bridge| bridge.interface_name().to_owned()).collect(),
            profiles: plan.profiles.iter().map(|profile| profile.id.clone()).collect(),
            losses: plan.losses.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The content of the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct Status {
    pub(crate) schema: u32,
    pub(crate) outcome: Outcome,
    /// The exit code, once finished.
    pub(crate) exit: Option<u8>,
    /// The running phase, or the last one.
    pub(crate) phase: Option<Phase>,
    pub(crate) hostname: String,
    pub(crate) document: Option<PathBuf>,
    pub(crate) digest: Option<String>,
    pub(crate) reason: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) phases: Vec<Done>,
    pub(crate) probes_before: Vec<ProbeResult>,
    pub(crate) probes_after: Vec<ProbeResult>,
    /// Probes that answered earlier in this boot, and that the commit was made without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unproved: Vec<String>,
    /// The number of this attempt, of those since the last one that did not fail.
    pub(crate) attempt: u32,
    /// What the attempt before this one failed by.
    pub(crate) failed_before: Option<String>,
    /// The chain of causes.
    pub(crate) error: Option<String>,
    /// State of the last good configuration after a failure.
    pub(crate) last_good: Option<String>,
    /// Whether the last good configuration carries the node, so that the boot went on.
    pub(crate) last_good_in_force: bool,
    /// When the waiting service tries again, in words.
    pub(crate) next: Option<String>,
    pub(crate) bridge: Option<BridgeStatus>,
    /// Milliseconds since 1970.
    pub(crate) started: u64,
    pub(crate) finished: Option<u64>,
}

impl Status {
    /// The account of a run that begins, after the one of `earlier`.
    fn after(earlier: Option<Self>) -> Self {
        let earlier = earlier.unwrap_or_default();
        let failed_before = match earlier.outcome {
            Outcome::Failed(_) => earlier.error,
            Outcome::Open(Open::Running) => Some("it ended without an account".to_owned()),
            Outcome::Open(Open::NotRun) | Outcome::Succeeded(_) => None,
        };
        let attempt = if failed_before.is_some() { earlier.attempt.max(1) + 1 } else { 1 };
        let (schema, outcome) = (SCHEMA, Outcome::Open(Open::Running));
        Self { schema, outcome, attempt, failed_before, started: now(), ..Self::default() }
    }

    /// Whether the network came back because its profiles were activated.
    pub(crate) fn is_repaired(&self) -> bool {
        self.phases.iter().any(|done| done.phase == Phase::Activate && done.ok)
    }

    /// Whether the network of the document in force came after an attempt to apply it again had failed.
    pub(crate) fn has_returned(&self) -> bool {
        self.phases.iter().any(|done| done.phase == Phase::LastGood && done.ok)
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

/// The status and its file; clones share both.
#[derive(Clone)]
pub(crate) struct StatusFile {
    paths: Paths,
    status: Rc<RefCell<Status>>,
}

impl StatusFile {
    /// The file of a run that begins.
    pub(crate) fn new(paths: &Paths) -> Self {
        Self::of(paths, Status::after(Self::load(paths).or_warn().flatten()))
    }

    pub(crate) fn of(paths: &Paths, status: Status) -> Self {
        Self { paths: paths.clone(), status: Rc::new(RefCell::new(status)) }
    }

    /// The status of this boot, if any run wrote one.
    pub(crate) fn load(paths: &Paths) -> Result<Option<Status>, durable::FileError> {
        durable::read_json_or_set_aside(&paths.status())
    }

    /// Changes the status in memory.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.status.borrow_mut());
    }

    pub(crate) fn get(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Writes the file. A failure to write is a warning: the run itself goes on.
    pub(crate) fn write(&self) {
        let written = write_in_runtime(&self.paths.status(), &*self.status.borrow());
        if let Err(error) = written {
            tracing::warn!(error = %error, "the status cannot be written");
        }
    }
}

/// Writes JSON for everyone, in a directory that may not be there yet.
pub(crate) fn write_in_runtime<T: Serialize>(
    path: &std::path::Path,
    value: &T,
) -> Result<(), durable::FileError> {
    path.parent().map_or(Ok(()), create_runtime_dir)?;
    durable::write_json(path, value, 0o644)
}

/// Readable for everyone: monitoring is not root.
pub(crate) fn create_runtime_dir(path: &std::path::Path) -> Result<(), durable::FileError> {
    Ok(std::fs::create_dir_all(path).map_err(cannot("create the directory", path))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_knows_what_the_one_before_failed_by() {
        let ended = |outcome, attempt| {
            let error = Some("why".to_owned());
            let earlier = Status { outcome, attempt, error, ..Status::default() };
            let next = Status::after(Some(earlier));
            (next.attempt, next.failed_before)
        };
        let why = |text: &str| Some(text.to_owned());
        assert_eq!(ended(Outcome::Failed(Fault::RolledBack), 1), (2, why("why")));
        assert_eq!(ended(Outcome::Failed(Fault::Untouched), 2), (3, why("why")));
        // The account of an older version has no number.
        assert_eq!(ended(Outcome::Failed(Fault::GivenUp), 0), (2, why("why")));
        let killed = why("it ended without an account");
        assert_eq!(ended(Outcome::Open(Open::Running), 2), (3, killed));
        assert_eq!(ended(Outcome::Succeeded(Success::Committed), 4), (1, None));
        assert_eq!(Status::after(None).attempt, 1);
    }
}
