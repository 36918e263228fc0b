//! `dayone status`: the result of the last run, and the current drift.

mod metrics;
mod next_boot;
mod page;
mod report;
mod verdict;

use std::time::Duration;

use nmgen::chain;

use serde::Serialize;

pub(super) use self::{page::wrapped, verdict::GracePeriod};
use self::{
    report::{ChangeReport, NodeStatus, StatusReport},
    verdict::{Assessment, Code},
};
use super::{
    diff::{bridge_differences, committed_bridge},
    difference::{Differences, from_record},
    gateway, mtu_migration,
    output::{as_json, print_page, print_to_fit},
    services,
};
use crate::{
    cli::StatusForm,
    client::dbus::{awaited_by, failed_below},
    document::{self, Chosen},
    durable::record::Record,
    error::Result,
    lock,
    model::{Oversized, Wants},
    network::{
        causes::{self, Cause},
        sight::Sight,
    },
    paths::Paths,
    run::{
        bridge,
        last_good::last_good_if_readable,
        mtu_migration::{Migration, Standing},
    },
    settings::{OnFailure, Settings, Usable},
    state::Parsed,
    status::{Open, Outcome, StatusFile, Success, log},
    warn::OrWarn as _,
};

/// Units that are named, of a boot that may start many at once.
const UNITS: usize = 4;

/// Prints the status; an error unless the node's document is in force.
pub(crate) async fn status(paths: &Paths, form: StatusForm) -> Result {
    let (text, verdict) = text(paths, form).await?;
    let text = paths.on_node(&text);
    match form {
        StatusForm::Text => print_to_fit(&text, "dayone status | less")?,
        StatusForm::Json | StatusForm::Prometheus => print_page(&text)?,
    }
    verdict
}

/// How much is asked besides the files of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// The network of now, and its gateways.
    Gateways,
    /// The network of now; nothing is sent.
    Network,
    /// Nothing: a run is at work.
    Files,
}

/// The node and its verdict for other commands.
pub(super) async fn look(
    paths: &Paths,
    settings: &Settings,
    depth: Depth,
) -> Result<(NodeStatus, Assessment)> {
    let mut node = find(paths, settings, depth).await?;
    let assessment = verdict::assess(&node);
    let is_asked = depth == Depth::Gateways && paths.is_system() && node.report.down.is_none();
    if !is_asked || !assessment.verdict.has_no_network() {
        return Ok((node, assessment));
    }
    node.report.causes = causes(paths, &node.chosen).await;
    let assessment = verdict::assess(&node);
    Ok((node, assessment))
}

/// The causes that are known; a look that fails is a warning, beside the verdict.
async fn causes(paths: &Paths, chosen: &Chosen) -> Vec<Cause> {
    let parsed = chosen.document.as_ref().and_then(|document| Parsed::new(&document.text).ok());
    match services::in_time(causes::causes(paths, parsed.as_ref())).await {
        Ok(found) => found.or_warn_of("causes are not known").unwrap_or_default(),
        Err(late) => {
            tracing::warn!("causes are not known: {late}");
            Vec::new()
        }
    }
}

/// The unit of the agent that waits for its turn, and the units whose start is at work meanwhile.
async fn turn(report: &StatusReport) -> Option<String> {
    let unit = match report.boot.outcome {
        Outcome::Open(Open::NotRun) => "dayone.service",
        Outcome::Succeeded(Success::Nothing) if report.boot.bridge.is_none() => {
            "dayone-bridge.service"
        }
        Outcome::Open(_) | Outcome::Succeeded(_) | Outcome::Failed(_) => return None,
    };
    let mut units = awaited_by(unit).await.or_warn().flatten()?;
    units.truncate(UNITS);
    Some(match units.is_empty() {
        true => format!("{unit} waits for its turn"),
        false => format!("{unit} waits for its turn, after {}", units.join(", ")),
    })
}

/// Returns why kubelet does not run although nothing of the agent holds the boot: its job is over, and systemd starts it no more.
async fn kubelet() -> Option<String> {
    const KUBELET: &str = "kubelet.service";
    // A bus that says nothing must not end the account; a service that is down is named before.
    let Ok(failed) = tokio::time::timeout(services::ANSWER, failed_below(KUBELET)).await else {
        tracing::warn!("systemd does not say whether kubelet has failed");
        return None;
    };
    let failed = failed.or_warn().flatten()?;
    Some(match failed == KUBELET {
        true => format!("{KUBELET} failed: `systemctl status {KUBELET}`"),
        false => {
            format!("{KUBELET} does not run, because {failed} failed: `systemctl status {failed}`")
        }
    })
}

async fn find(paths: &Paths, settings: &Settings, depth: Depth) -> Result<NodeStatus> {
    let boot = StatusFile::load(paths)?;
    let record = Record::load(paths);
    let in_force = record.document_in_force(paths);
    // A document that cannot be read takes no account of the node away.
    let (mut chosen, unread) =
        match document::choose(paths, in_force.as_ref(), Duration::ZERO, || {}).await {
            Ok(chosen) => (chosen, None),
            Err(error) => (Chosen::none(paths, "this node's document is not known"), Some(error)),
        };
    if depth != Depth::Files {
        chosen.warnings.extend(oversized(paths, &record).await);
    }
    let mut report = StatusReport::new(paths, boot, (&chosen, unread), &record)?;
    report.stays_held =
        report.held && report.boot.last_good_in_force && settings.on_failure == OnFailure::Hold;
    let at_work = lock::at_work(paths);
    if depth == Depth::Files {
        return Ok(NodeStatus { report, chosen, record, at_work });
    }
    if paths.has_network() {
        // The service whose absence explains everything else; a node without a document or bridge needs none.
        report.down = match &chosen.document {
            Some(document) => services::down(paths, services::needs_ovs(document)).await,
            None if report.boot.bridge.is_some() => services::down(paths, true).await,
            None => None,
        };
    }
    match (&report.down, report.removed.is_some()) {
        (Some(down), false) => report.drift_unknown = Some(format!("{down}: {}", down.why)),
        (Some(_) | None, _) => {
            let look = drift_now(paths, settings, &chosen, &record, &mut report);
            match services::in_time(look).await {
                Ok(Ok((lacking, differences))) => {
                    report.adopted = adopted(&record, &lacking, &differences);
                    if report.adopted.is_none() {
                        report.drift = [lacking, differences.now.subjects].concat();
                        report.saved = differences.then.subjects;
                    }
                }
                Ok(Err(error)) => report.drift_unknown = Some(chain(&error)),
                Err(late) => report.drift_unknown = Some(late),
            }
        }
    }
    if report.in_force && chosen.document.is_some() {
        report.mtu_migration = of_the_cluster(paths, &record).await?;
    }
    if report.in_force && chosen.document.is_some() && report.down.is_none() && paths.has_network()
    {
        report.missing_families = gateway::missing_families(paths, &record).await;
    }
    if paths.is_system() {
        report.turn = turn(&report).await;
        report.awaits_kubelet = report.awaits_kubelet && bridge::awaits_kubelet(paths).await;
    }
    let asks = depth == Depth::Gateways && paths.has_network();
    if asks && paths.is_system() && !report.held && report.down.is_none() {
        report.kubelet = kubelet().await;
        report.added_routes = gateway::added_routes(paths, settings).await;
    }
    if asks && report.in_force && report.down.is_none() {
        report.silent = gateway::silent(paths, settings, &record, report.bridge()).await;
    }
    Ok(NodeStatus { report, chosen, record, at_work })
}

pub(crate) async fn text(paths: &Paths, form: StatusForm) -> Result<(String, Result)> {
    let settings = Usable::load(paths).told();
    let (node, assessment) = look(paths, &settings, Depth::Gateways).await?;
    let text = match form {
        StatusForm::Text => page::page(&assessment, &node, log::is_coloured(&std::io::stdout())),
        StatusForm::Prometheus => metrics::metrics(&assessment, &node),
        StatusForm::Json => {
            let printed = Printed {
                report: &node.report,
                verdict: assessment.verdict.row().word,
                verdict_reason: assessment.code,
                why: &assessment.reason,
            };
            as_json(&printed)?
        }
    };
    Ok((text, assessment.result()))
}

/// The output of `--json`: the report, and its verdict in fixed words and in a sentence.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Printed<'a> {
    #[serde(flatten)]
    report: &'a StatusReport,
    verdict: &'static str,
    verdict_reason: Option<Code>,
    why: &'a str,
}

/// The MTU that the cluster wants while it changes its own, beside those of the document's links; `None` where its script sets it.
async fn of_the_cluster(paths: &Paths, record: &Record) -> Result<Option<Standing>> {
    let migration =
        Migration::load(paths)?.filter(|migration| !migration.by_script && paths.has_network());
    let Some(migration) = migration else { return Ok(None) };
    let standing = mtu_migration::compared(migration, paths, record).await;
    Ok(standing.or_warn_of("the MTU of the document's links is not known"))
}

/// Interfaces of the document in force, or of the automatic bridge, that are larger than what carries them.
async fn oversized(paths: &Paths, record: &Record) -> Vec<String> {
    let of_bridge = || -> Option<Wants> {
        let plan = committed_bridge(paths).ok().flatten()?;
        Some(Parsed::new(&plan.document).ok()?.first_wants())
    };
    let in_force = record.document_in_force(paths).and_then(|_| last_good_if_readable(record));
    let wants = in_force.map(|state| state.wants()).or_else(of_bridge);
    let (Some(wants), true) = (wants, paths.has_network() || paths.collected().is_some()) else {
        return Vec::new();
    };
    match Sight::links(paths).await {
        Ok(links) => Oversized::of(&wants, &links).iter().map(ToString::to_string).collect(),
        Err(error) => {
            tracing::debug!("{}", chain(&error));
            Vec::new()
        }
    }
}

/// The parts that the current state and the saved profiles lack of a document in force, or of the automatic bridge, which is
/// in force if this boot has committed it.
async fn drift_now(
    paths: &Paths,
    settings: &Settings,
    chosen: &Chosen,
    record: &Record,
    report: &mut StatusReport,
) -> Result<(Vec<String>, Differences)> {
    let nothing = || (Vec::new(), Differences::default());
    if chosen.document.is_none() {
        let Some(plan) = committed_bridge(paths)? else {
            // A run of `dayone bridge` that has not committed.
            report.in_force &= report.boot.bridge.is_none();
            return Ok(nothing());
        };
        let network = Sight::connect(paths, &settings.wait).await?;
        return bridge_differences(paths, &network, &plan).await;
    }
    // The network of now is this system's.
    if !report.in_force || !paths.has_network() {
        return Ok(nothing());
    }
    let differences = from_record(paths, settings, record).await?;
    Ok((Vec::new(), differences.unwrap_or_default()))
}

/// The change that somebody has adopted, if the network has no other difference.
fn adopted(record: &Record, lacking: &[String], differences: &Differences) -> Option<ChangeReport> {
    let lines = differences.lines();
    if lines.is_empty() || !lacking.is_empty() {
        return None;
    }
    let adopted = record.adopted_change().filter(|change| change.has_all(&lines));
    adopted.map(|change| ChangeReport::new(change, differences.parts()))
}
