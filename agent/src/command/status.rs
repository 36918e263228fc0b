//! `dayone status`: the result of the last run, and the current drift.

mod layout;
mod page;
mod report;
mod trial;
mod verdict;

use nmgen::chain;

use self::report::{Report, Seen, Tried, before_any_run};
use super::{
    drift::{bridge_drift, committed_bridge, drift},
    last_good::last_good_state,
    output::print,
    removed::removed,
};
use crate::{
    document::{self, digest::Digest, service_files},
    durable::record::Record,
    error::Error,
    lock,
    network::real::RealNetwork,
    paths::Paths,
    settings::Settings,
    status::{Status, StatusFile, log, trial::Trial},
};

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
    let tried = boot.as_ref().and_then(|boot| boot.digest.clone());
    let waits = |digest: &Digest| !in_force && tried != Some(digest.to_string());
    let pending = chosen.document.as_ref().map(|d| d.digest.clone()).filter(waits);
    let drift = Vec::new();
    let boot = boot.unwrap_or_else(|| before_any_run(&chosen));
    let trial = Trial::load(paths)?.map(Tried::now);
    let mut report = Report { boot, in_force, pending, removed, drift, drift_unknown: None, trial };
    let drifted = match &chosen.document {
        Some(_) if report.in_force => drifted(paths, &settings).await,
        Some(_) => Ok(Vec::new()),
        None => bridge_drifted(paths, &settings, &mut report).await,
    };
    match drifted {
        Ok(subjects) => report.drift = subjects,
        Err(error) => report.drift_unknown = Some(chain(&error)),
    }
    let text = if json {
        let text = serde_json::to_string_pretty(&report)
            .map_err(|source| crate::durable::FileError::Encode { path: paths.status(), source })?;
        text + "\n"
    } else {
        let seen = Seen {
            report: &report,
            chosen: &chosen,
            record: &record,
            at_work: lock::at_work(paths).map(|holder| holder.to_string()),
        };
        page::page(&seen, log::is_coloured(&std::io::stdout()))
    };
    Ok((text, verdict(&report)))
}

/// An error unless the node's document is in force and the network is its.
fn verdict(report: &Report) -> Result<(), Error> {
    let why = if let Some(on) = report.trial.as_ref().filter(|it| it.is_open()) {
        format!("{} is on trial", on.trial.document.display())
    } else if let Some(digest) = &report.pending {
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
