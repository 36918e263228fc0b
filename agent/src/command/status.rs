//! `dayone status`: the result of the last run, and the current drift.

use std::path::PathBuf;

use serde::Serialize;

use super::{
    drift::{bridge_drift, committed_bridge, drift},
    last_good::last_good_state,
    output::print,
    removed::removed,
};
use nmgen::chain;

use crate::{
    document::{self, digest::Digest, service_files},
    durable::record::Record,
    error::Error,
    network::real::RealNetwork,
    paths::Paths,
    settings::Settings,
    status::{Outcome, Status, StatusFile},
};

/// The output of `--json`: the status file of this boot, and the current state.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Report {
    #[serde(flatten)]
    boot: Status,
    /// Whether this node's current document is committed and `applied` has its bytes.
    in_force: bool,
    /// SHA-256 of a pending document, which waits for the next boot.
    pending: Option<Digest>,
    /// The document in force, if its file is gone.
    removed: Option<PathBuf>,
    /// The parts of the document that the current state lacks.
    drift: Vec<String>,
    /// Why drift is unknown.
    drift_unknown: Option<String>,
}

/// Prints the status; an error unless the node's document is in force.
pub(crate) async fn status(paths: &Paths, json: bool) -> Result<(), Error> {
    let settings = Settings::load(paths)?;
    let boot = StatusFile::load(paths)?.unwrap_or_default();
    let no_wait = std::time::Duration::ZERO;
    let chosen = document::choose(paths, no_wait, || {}).await?;
    let record = Record::load(paths);
    let removed = match &chosen.document {
        Some(_) => None,
        None => removed(paths, &record),
    };
    let in_force = match &chosen.document {
        Some(document) => {
            let files = service_files::read(paths, &chosen.hostname)?;
            record.in_force(paths, &document.digest)? && record.has_service_files(&files.digests())
        }
        None => removed.is_none(),
    };
    // A document that this boot has tried has failed and is not pending.
    let tried = boot.digest.clone();
    let waits = |digest: &Digest| !in_force && tried != Some(digest.to_string());
    let pending = chosen.document.as_ref().map(|d| d.digest.clone()).filter(waits);
    let drift = Vec::new();
    let mut report = Report { boot, in_force, pending, removed, drift, drift_unknown: None };
    let drifted = match &chosen.document {
        Some(_) if report.in_force => drifted(paths, &settings).await,
        Some(_) => Ok(Vec::new()),
        None => bridge_drifted(paths, &settings, &mut report).await,
    };
    match drifted {
        Ok(subjects) => report.drift = subjects,
        Err(error) => report.drift_unknown = Some(chain(&error)),
    }
    if json {
        let text = serde_json::to_string_pretty(&report)
            .map_err(|source| crate::durable::FileError::Encode { path: paths.status(), source })?;
        print(&(text + "\n"))?;
    } else {
        print(&text(&report, &chosen, &record))?;
    }
    let why = if let Some(digest) = &report.pending {
        format!("it is pending, the next boot applies {digest}")
    } else if let Some(path) = &report.removed {
        format!("{} was removed; its network stays", path.display())
    } else if !report.in_force {
        not_in_force(&report.boot)
    } else if let Some(why) = &report.drift_unknown {
        format!("drift unknown: {why}")
    } else if !report.drift.is_empty() {
        format!("the current state has drifted: {}", report.drift.join(", "))
    } else {
        return Ok(());
    };
    Err(Error::NotInForce { why })
}

/// The failed document, the cause, and the configuration that carries the node.
fn not_in_force(boot: &Status) -> String {
    let mut why = match (&boot.document, &boot.error) {
        (Some(document), Some(error)) => format!("{} failed: {error}", document.display()),
        (None, Some(error)) if boot.bridge.is_some() => format!("br-ex failed: {error}"),
        _ => format!("it is not committed (this boot: {:?})", boot.outcome),
    };
    if let Some(last_good) = &boot.last_good {
        why = format!("{why}; {last_good}");
    }
    why
}

async fn drifted(paths: &Paths, settings: &Settings) -> Result<Vec<String>, Error> {
    let Some(desired) = last_good_state(paths)? else { return Ok(Vec::new()) };
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    Ok(drift(&network, &desired).await?.map(|(subjects, _)| subjects).unwrap_or_default())
}

/// The drift of the automatic bridge, which is in force if this boot has committed it.
async fn bridge_drifted(
    paths: &Paths,
    settings: &Settings,
    report: &mut Report,
) -> Result<Vec<String>, Error> {
    let Some(plan) = committed_bridge(paths)? else {
        // A run of `dayone bridge` that has not committed.
        report.in_force &= report.boot.bridge.is_none();
        return Ok(Vec::new());
    };
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    Ok(bridge_drift(&network, &plan).await?.0)
}

fn text(report: &Report, chosen: &document::Chosen, record: &Record) -> String {
    let mut lines = Vec::new();
    let mut line = |key: &str, value: String| lines.push(format!("{key:>10}: {value}\n"));
    match &chosen.document {
        Some(document) => {
            line("document", document.path.display().to_string());
            line("digest", document.digest.to_string());
        }
        None => line("document", "none".to_owned()),
    }
    line("chosen", chosen.reason.clone());
    let boot = &report.boot;
    if let Some(bridge) = boot.bridge.as_ref().filter(|bridge| !bridge.uplink.is_empty()) {
        line("bridge", boot.reason.clone());
        line("profiles", bridge.profiles.join(", "));
        for loss in &bridge.losses {
            line("warning", loss.clone());
        }
    }
    let of_boot = boot.warnings.iter().filter(|warning| !chosen.warnings.contains(warning));
    for warning in chosen.warnings.iter().chain(of_boot) {
        line("warning", warning.clone());
    }
    let outcome = match boot.outcome {
        Outcome::Running => "running, or never run in this boot",
        Outcome::Committed => "applied and committed",
        Outcome::Unchanged => "in force already, nothing done",
        Outcome::Adopted => "in force by another tool, recorded",
        Outcome::Nothing => "nothing to do",
        Outcome::Removed => "the document in force was removed; its network stays",
        Outcome::Failed => "failed, nothing was changed",
        Outcome::RolledBack => "failed and rolled back",
        Outcome::RollBackFailed => "failed, and the roll back failed too",
        Outcome::GivenUp => "failed too often, not tried again",
    };
    line("this boot", outcome.to_owned());
    for done in &boot.phases {
        let verdict = if done.ok { "" } else { "  FAILED" };
        line("phase", format!("{}: {:.1} ms{verdict}", done.phase, done.milliseconds));
    }
    for (key, probes) in [("before", &boot.probes_before), ("probe", &boot.probes_after)] {
        for probe in probes {
            let verdict = if probe.ok { "ok" } else { "no answer" };
            let text = &probe.detail;
            line(key, format!("{}: {verdict}, {text} ({} ms)", probe.name, probe.milliseconds));
            if let Some(warning) = &probe.warning {
                line("warning", format!("{}: {warning}", probe.name));
            }
        }
    }
    if let Some(error) = &boot.error {
        line("error", error.clone());
    }
    if let Some(text) = &boot.last_good {
        line("last good", text.clone());
    }
    if let Some(next) = &boot.next {
        line("next", next.clone());
    }
    if let Some(failures) = &record.failures {
        line("failures", format!("{} of document {}", failures.count, failures.digest));
    }
    if let Some(digest) = &report.pending {
        line("pending", digest.to_string());
    }
    if let Some(path) = &report.removed {
        line("removed", path.display().to_string());
    }
    let force = match (report.in_force, &report.drift_unknown, report.drift.is_empty()) {
        (false, _, _) if boot.last_good_in_force => "no, the last good configuration is".to_owned(),
        (false, _, _) => "no".to_owned(),
        (true, Some(why), _) => format!("committed; drift unknown: {why}"),
        (true, None, true) => "yes".to_owned(),
        (true, None, false) => format!("drifted: {}", report.drift.join(", ")),
    };
    line("in force", force);
    lines.concat()
}
