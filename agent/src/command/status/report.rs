//! The current state beside the account of this boot.

use std::{fmt, path::PathBuf};

use nmgen::chain;
use serde::Serialize;

use super::next_boot::{self, LackingUnit};
use crate::{
    document::{Chosen, DocumentError, digest::Digest, service_files},
    durable::{
        adopted::AdoptedChange,
        commit,
        record::{Failures, Record},
    },
    error::Result,
    model::{Family, facts::Outage},
    network::causes::Cause,
    paths::Paths,
    run::{last_good, marks, mtu_migration::Standing},
    status::{
        BridgeStatus, Fault, Outcome, SCHEMA, Status, Success,
        trial::{Trial, TrialState},
    },
};

/// The output of `--json`: the status file of this boot, and the current state.
#[derive(Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct StatusReport {
    #[serde(flatten)]
    pub(super) boot: Status,
    /// Whether this node's current document is committed and `applied` has its bytes.
    pub(super) in_force: bool,
    /// Whether this boot's run has put a network in force whose record is not written.
    pub(super) not_recorded: bool,
    /// SHA-256 of a pending document, which waits for the next boot.
    pub(super) pending: Option<Digest>,
    /// The document in force, if no file is this node's.
    pub(super) removed: Option<PathBuf>,
    /// Whether the file of the removed document is there, under a name that this node does not have.
    #[serde(skip)]
    pub(super) is_anothers: bool,
    /// Whether this node's document cannot be told or read.
    #[serde(skip)]
    pub(super) is_unread: bool,
    /// Whether br-ex is made when kubelet starts: configure-ovs's unit starts dayone-bridge.service then. Of a collected node, as
    /// far as its files say.
    #[serde(skip)]
    pub(super) awaits_kubelet: bool,
    /// The parts of the document that the current state lacks.
    pub(super) drift: Vec<String>,
    pub(super) drift_unknown: Option<String>,
    /// The last trial in this boot.
    pub(super) trial: Option<TrialReport>,
    /// Whether a mark holds the boot: kubelet does not start.
    pub(super) held: bool,
    /// A service that is down, without which the network of the document is not there.
    #[serde(serialize_with = "in_words")]
    pub(super) down: Option<Outage>,
    /// Why no gateway answers now.
    pub(super) silent: Option<String>,
    /// Address families of the commit, beside another one that is there, that no interface of the document has now.
    pub(super) missing_families: Vec<Family>,
    /// Why the next boot will refuse a pending document, or one that cannot be read.
    pub(super) refused: Option<String>,
    /// The parts of the document that the saved profiles lack: the next activation takes them away.
    pub(super) saved: Vec<String>,
    /// Units of the agent that the next boot does not start, with the effect.
    pub(super) units: Vec<LackingUnit>,
    /// The change that was made on purpose, if the network has no other difference; then `drift` and `saved` are empty.
    pub(super) adopted: Option<ChangeReport>,
    /// Whether the boot is held although the last good network carries the node: `on-failure` is `hold`.
    pub(super) stays_held: bool,
    /// Why the node has no network, where NetworkManager, its files or the wire know it; the first explains the others.
    pub(super) causes: Vec<Cause>,
    /// The unit of the agent that waits for its turn in the boot, and for what.
    pub(super) turn: Option<String>,
    /// Routes of packets to the API that no configuration has: no drift, since day two adds routes on purpose.
    pub(super) added_routes: Vec<String>,
    /// The failed unit for which kubelet does not run, with the command that shows it.
    pub(super) kubelet: Option<String>,
    /// The MTU that the cluster wants in its change, beside those of the document's links.
    pub(super) mtu_migration: Option<Standing>,
}

/// A change that `dayone adopt` has made no drift.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ChangeReport {
    pub(super) parts: Vec<String>,
    /// Seconds since 1970.
    at: u64,
    reason: Option<String>,
    #[serde(skip)]
    age: String,
}

impl ChangeReport {
    pub(super) fn new(adopted: &AdoptedChange, parts: Vec<String>) -> Self {
        let (at, reason, age) = (adopted.at, adopted.reason.clone(), adopted.age());
        Self { parts, at, reason, age }
    }
}

impl fmt::Display for ChangeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, adopted {}", self.parts.join(", "), self.age)?;
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

impl StatusReport {
    /// The account of this boot beside the record, without drift.
    pub(super) fn new(
        paths: &Paths,
        boot: Option<Status>,
        (chosen, unread): (&Chosen, Option<DocumentError>),
        record: &Record,
    ) -> Result<Self> {
        let is_unread = unread.is_some();
        let (mut committed, mut in_force, mut removed) = (false, false, None);
        let unread = match (&chosen.document, unread) {
            (_, Some(unread)) => Some(unread),
            (Some(document), None) => {
                committed = record.in_force(paths, &document.digest)?;
                let files = service_files::read(paths, &chosen.hostname);
                in_force = committed
                    && files.as_ref().is_ok_and(|file| record.has_service_files(&file.digests()));
                files.err()
            }
            (None, None) => {
                removed = last_good::removed(paths, record);
                in_force = removed.is_none();
                None
            }
        };
        let is_anothers = removed.as_ref().is_some_and(|path| {
            *path != paths.applied() && paths.under(&path.to_string_lossy()).exists()
        });
        // A document that this boot has tried has failed and is not pending; one in force waits for files of /etc/nmstate.
        let tried = boot.as_ref().and_then(|boot| boot.digest.clone());
        let has_failed = |boot: &Status| matches!(boot.outcome, Outcome::Failed(_));
        let is_tried = |digest: &Digest| {
            tried == Some(digest.to_string())
                && (!committed || boot.as_ref().is_some_and(has_failed))
        };
        let waits = |digest: &Digest| !in_force && unread.is_none() && !is_tried(digest);
        let pending = chosen.document.as_ref().map(|d| d.digest.clone()).filter(waits);
        let mut boot = boot.unwrap_or_else(|| before_any_run(chosen));
        let not_recorded =
            boot.outcome == Outcome::Failed(Fault::Untouched) && commit::is_unfinished(paths);
        if not_recorded {
            boot.outcome = Outcome::Failed(Fault::NotRecorded);
        }
        let trial = Trial::load(paths)?.map(|trial| TrialReport::now(paths, trial));
        let held = marks::is_boot_held(paths);
        let units = next_boot::lacking(paths, chosen, boot.bridge.is_some());
        let awaits_kubelet = boot.outcome == Outcome::Succeeded(Success::Nothing)
            && boot.bridge.is_none()
            && next_boot::makes_bridge(paths);
        let refused = match (&chosen.document, unread) {
            // The run of this boot has told it.
            (_, Some(_)) if has_failed(&boot) => None,
            (_, Some(unread)) => Some(chain(&unread)),
            (Some(document), None) if pending.is_some() => {
                next_boot::refusal(paths, chosen, document)
            }
            (Some(_) | None, None) => None,
        };
        let known =
            Self { boot, in_force, not_recorded, pending, removed, trial, held, ..Self::default() };
        Ok(Self { units, refused, is_anothers, is_unread, awaits_kubelet, ..known })
    }

    /// The automatic bridge, once its uplink is chosen.
    pub(super) fn bridge(&self) -> Option<&BridgeStatus> {
        self.boot.bridge.as_ref().filter(|bridge| !bridge.uplink.is_empty())
    }
}

/// A trial, with the time left.
#[derive(Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct TrialReport {
    #[serde(flatten)]
    pub(super) trial: Trial,
    /// Seconds until it goes back, while it waits for its confirmation.
    pub(super) left: Option<u64>,
}

impl TrialReport {
    fn now(paths: &Paths, trial: Trial) -> Self {
        let left = match paths.collected() {
            Some(facts) => trial.left_at(facts.monotonic),
            None => trial.left(),
        };
        Self { trial, left }
    }

    /// Whether the network is, or may be, the trial's.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.trial.state, TrialState::Asked | TrialState::Undone | TrialState::Failed)
    }
}

#[allow(clippy::ref_option, reason = "serde passes a reference")]
fn in_words<S: serde::Serializer>(down: &Option<Outage>, serializer: S) -> Result<S::Ok, S::Error> {
    down.as_ref().map(ToString::to_string).serialize(serializer)
}

/// Everything that is known of the node: what the verdict is about, and what the page shows.
pub(crate) struct NodeStatus {
    pub(super) report: StatusReport,
    pub(crate) chosen: Chosen,
    pub(super) record: Record,
    /// The run that is at work now.
    pub(super) at_work: Option<String>,
}

impl NodeStatus {
    /// The failures in a row of this document; a network that works has ended their count.
    pub(super) fn failures(&self) -> Option<&Failures> {
        let document = self.chosen.document.as_ref()?;
        let report = &self.report;
        let is_past = report.in_force && matches!(report.boot.outcome, Outcome::Succeeded(_));
        let failures = self.record.failures.as_ref();
        failures.filter(|failures| failures.digest == document.digest && !is_past)
    }

    /// Whether the failure of this boot's run is another document's, which has gone again: that of now is the one whose network
    /// has carried the node all the time.
    pub(super) fn is_back(&self) -> bool {
        let boot = &self.report.boot;
        let digest = self.chosen.document.as_ref().map(|document| document.digest.to_string());
        self.report.in_force
            && (boot.last_good_in_force || boot.outcome == Outcome::Failed(Fault::RolledBack))
            && digest.is_some()
            && boot.digest.is_some()
            && boot.digest != digest
    }
}

/// The status before any run in this boot: the choice of now.
fn before_any_run(chosen: &Chosen) -> Status {
    let document = chosen.document.as_ref();
    Status {
        schema: SCHEMA,
        hostname: chosen.hostname.clone(),
        document: document.map(|document| document.path.clone()),
        digest: document.map(|document| document.digest.to_string()),
        reason: chosen.reason.clone(),
        warnings: chosen.warnings.clone(),
        ..Status::default()
    }
}
