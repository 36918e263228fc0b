//! `dayone status`: the result of the last run, and the current drift.

mod page;
mod report;
mod verdict;

use std::time::Duration;

use nmgen::chain;

use self::report::{Report, Seen};
use super::{
    diff::{bridge_drift, committed_bridge, drift},
    output::print_page,
};
use crate::{
    document::{self, Chosen},
    durable::{FileError, record::Record},
    error::Error,
    lock,
    network::real::RealNetwork,
    paths::Paths,
    run::last_good::last_good_state,
    settings::{Settings, Usable},
    status::{StatusFile, log},
};

/// Prints the status; an error unless the node's document is in force.
pub(crate) async fn status(paths: &Paths, json: bool) -> Result<(), Error> {
    let (text, verdict) = text(paths, json).await?;
    print_page(&text)?;
    verdict
}

/// The status as text, and the verdict.
pub(crate) async fn text(paths: &Paths, json: bool) -> Result<(String, Result<(), Error>), Error> {
    let settings = Usable::load(paths).told();
    let boot = StatusFile::load(paths)?;
    let record = Record::load(paths);
    let in_force = record.document_in_force(paths);
    let chosen = document::choose(paths, in_force.as_ref(), Duration::ZERO, || {}).await?;
    let mut report = Report::new(paths, boot, &chosen, &record)?;
    match drift_now(paths, &settings, &chosen, &record, &mut report).await {
        Ok(subjects) => report.drift = subjects,
        Err(error) => report.drift_unknown = Some(chain(&error)),
    }
    let at_work = lock::at_work(paths).map(|holder| holder.to_string());
    let seen = Seen { report: &report, chosen: &chosen, record: &record, at_work };
    let verdict = verdict::verdict(&seen);
    let text = if json {
        let text = serde_json::to_string_pretty(&report)
            .map_err(|source| FileError::Encode { path: paths.status(), source })?;
        nmgen::printable_json(&text) + "\n"
    } else {
        page::page(&verdict, &seen, log::is_coloured(&std::io::stdout()))
    };
    Ok((text, verdict.result()))
}

/// The parts that the current state lacks of a document in force, or of the automatic bridge, which is in force if
/// this boot has committed it.
async fn drift_now(
    paths: &Paths,
    settings: &Settings,
    chosen: &Chosen,
    record: &Record,
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
    let Some(desired) = last_good_state(paths, record)? else { return Ok(Vec::new()) };
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    Ok(drift(&network, &desired).await?.map(|(subjects, _)| subjects).unwrap_or_default())
}
