//! `dayone status`: the result of the last run, and the current drift.

mod page;
mod verdict;

use std::{path::PathBuf, time::Duration};

use nmgen::chain;
use serde::Serialize;

use super::{
    drift::{bridge_drift, committed_bridge, drift},
    last_good::last_good_state,
    output::print,
    removed::removed,
};
use crate::{
    document::{self, Chosen, digest::Digest, service_files},
    durable::{FileError, record::Record},
    error::Error,
    lock,
    network::real::RealNetwork,
    paths::Paths,
    settings::Settings,
    status::{
        Bridge, Fault, Outcome, SCHEMA, Status, StatusFile, log,
        trial::{State, Trial},
    },
};

/// The output of `--json`: the status file of this boot, and the current state.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Report {
    #[serde(flatten)]
    boot: Status,
    /// Whether this node's current document is committed and `applied` has its bytes.
    in_force: bool,
    /// Whether this boot's run has put a network in force whose record is not written.
    not_recorded: bool,
    /// SHA-256 of a pending document, which waits for the next boot.
    pending: Option<Digest>,
    /// The document in force, if its file is gone.
    removed: Option<PathBuf>,
    /// The parts of the document that the current state lacks.
    drift: Vec<String>,
    /// Why drift is unknown.
    drift_unknown: Option<String>,
    /// The last trial in this boot.
    trial: Option<Tried>,
}

impl Report {
    /// The automatic bridge, once its uplink is chosen.
    fn bridge(&self) -> Option<&Bridge> {
        self.boot.bridge.as_ref().filter(|bridge| !bridge.uplink.is_empty())
    }
}

/// A trial, with the time left.
#[derive(Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Tried {
    #[serde(flatten)]
    trial: Trial,
    /// Seconds until it goes back, while it waits for its confirmation.
    left: Option<u64>,
}

impl Tried {
    fn now(trial: Trial) -> Self {
        let left = trial.left();
        Self { trial, left }
    }

    /// Whether the network is, or may be, the trial's.
    fn is_open(&self) -> bool {
        !matches!(self.trial.state, State::Asked | State::Undone | State::Failed)
    }
}

/// Everything that the page shows.
struct Seen<'a> {
    report: &'a Report,
    chosen: &'a Chosen,
    record: &'a Record,
    /// The run that is at work now.
    at_work: Option<String>,
}

/// Prints the status; an error unless the node's document is in force.
pub(crate) async fn status(paths: &Paths, json: bool) -> Result<(), Error> {
    let (text, verdict) = text(paths, json).await?;
    print(&text)?;
    verdict
}

/// The status as text, and the verdict.
pub(crate) async fn text(paths: &Paths, json: bool) -> Result<(String, Result<(), Error>), Error> {
    let settings = Settings::load(paths)?;
    let boot = StatusFile::load(paths)?;
    let chosen = document::choose(paths, Duration::ZERO, || {}).await?;
    let record = Record::load(paths);
    let mut report = report(paths, boot, &chosen, &record)?;
    match drift_now(paths, &settings, &chosen, &mut report).await {
        Ok(subjects) => report.drift = subjects,
        Err(error) => report.drift_unknown = Some(chain(&error)),
    }
    let at_work = lock::at_work(paths).map(|holder| holder.to_string());
    let seen = Seen { report: &report, chosen: &chosen, record: &record, at_work };
    let verdict = verdict::verdict(&seen);
    let text = if json {
        let text = serde_json::to_string_pretty(&report)
            .map_err(|source| FileError::Encode { path: paths.status(), source })?;
        text + "\n"
    } else {
        page::page(&verdict, &seen, log::is_coloured(&std::io::stdout()))
    };
    Ok((text, verdict.result()))
}

/// The account of this boot beside the record, without drift.
fn report(
    paths: &Paths,
    boot: Option<Status>,
    chosen: &Chosen,
    record: &Record,
) -> Result<Report, Error> {
    let (in_force, removed) = match &chosen.document {
        Some(document) => {
            let files = service_files::read(paths, &chosen.hostname)?.digests();
            let committed = record.in_force(paths, &document.digest)?;
            (committed && record.has_service_files(&files), None)
        }
        None => {
            let removed = removed(paths, record);
            (removed.is_none(), removed)
        }
    };
    // A document that this boot has tried has failed and is not pending.
    let tried = boot.as_ref().and_then(|boot| boot.digest.clone());
    let waits = |digest: &Digest| !in_force && tried != Some(digest.to_string());
    let pending = chosen.document.as_ref().map(|d| d.digest.clone()).filter(waits);
    let mut boot = boot.unwrap_or_else(|| before_any_run(chosen));
    let not_recorded =
        boot.outcome == Outcome::Failed(Fault::Untouched) && paths.committed().exists();
    if not_recorded {
        boot.outcome = Outcome::Failed(Fault::NotRecorded);
    }
    let trial = Trial::load(paths)?.map(Tried::now);
    let (drift, drift_unknown) = (Vec::new(), None);
    Ok(Report { boot, in_force, not_recorded, pending, removed, drift, drift_unknown, trial })
}

/// The status before any run in this boot: the choice of now.
fn before_any_run(chosen: &Chosen) -> Status {
    let document = chosen.document.as_ref();
    Status {
        schema: SCHEMA,
        hostname: chosen.hostname.clone(),
        document: document.map(|it| it.path.clone()),
        digest: document.map(|it| it.digest.to_string()),
        reason: chosen.reason.clone(),
        warnings: chosen.warnings.clone(),
        ..Status::default()
    }
}

/// The parts that the current state lacks of a document in force, or of the automatic bridge, which is in force if
/// this boot has committed it.
async fn drift_now(
    paths: &Paths,
    settings: &Settings,
    chosen: &Chosen,
    report: &mut Report,
) -> Result<Vec<String>, Error> {
    if chosen.document.is_none() {
        let Some(plan) = committed_bridge(paths)? else {
            // A run of `dayone bridge` that has not committed.
            report.in_force &= report.boot.bridge.is_none();
            return Ok(Vec::new());
        };
        let network = RealNetwork::connect(paths, &settings.wait).await?;
        return Ok(bridge_drift(&network, &plan).await?.0);
    }
    if !report.in_force {
        return Ok(Vec::new());
    }
    let Some(desired) = last_good_state(paths)? else { return Ok(Vec::new()) };
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    Ok(drift(&network, &desired).await?.map(|(subjects, _)| subjects).unwrap_or_default())
}
