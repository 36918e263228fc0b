//! `dayone plan`: the br-ex of a node without a document, before it is made.

use std::{io::IsTerminal as _, time::Duration};

use nmgen::{Reading, diagnostic::Style, source::Source};
use serde::Serialize;

use super::output::{as_json, print_page};
use crate::{
    bridge::{
        gather::{Readings, gather},
        inputs::Inputs,
        plan::BridgePlan,
        planner,
        uplink::{Choice, Patience, choose},
    },
    client::{dbus::Bus, netlink::Netlink},
    document,
    durable::record::Record,
    error::{Error, Result},
    network::NetworkError,
    paths::Paths,
    settings::{Settings, Usable},
};

/// `dayone plan --json`; `doc/plan.schema.json` describes it.
#[derive(Debug, Serialize)]
struct PlanReport<'a> {
    schema: u32,
    /// The document that this node has, by which it gets its br-ex instead.
    document: Option<String>,
    /// The event that a boot waits for before it makes this choice.
    awaited: Option<String>,
    plan: &'a BridgePlan,
}

pub(crate) async fn plan(paths: &Paths, json: bool) -> Result {
    let settings = Usable::load(paths).told();
    let in_force = Record::load(paths).document_in_force(paths);
    let chosen = document::choose(paths, in_force.as_ref(), Duration::ZERO, || {}).await?;
    let document = chosen.document.map(|document| document.path.display().to_string());
    let inputs = inputs(paths, &settings).await?;
    let awaited = match choose(&inputs, Patience::Left) {
        Ok(Choice::Wait(awaited)) => Some(awaited.to_string()),
        Ok(Choice::Decided(_)) | Err(_) => None,
    };
    let uplink = match choose(&inputs, Patience::Over)? {
        Choice::Decided(uplink) => uplink,
        Choice::Wait(_) => return Err(crate::bridge::error::BridgeError::NoDefaultRoute.into()),
    };
    let plan = planner::plan(&inputs, uplink)?;
    let report = PlanReport { schema: 1, document, awaited, plan: &plan };
    print_page(&paths.on_node(&if json { as_json(&report)? } else { as_text(&report) }))
}

/// The inputs of now, or of a node that was collected.
async fn inputs(paths: &Paths, settings: &Settings) -> Result<Inputs> {
    if let Some(facts) = paths.collected() {
        return Ok(Readings::collected(facts)?.inputs(paths, settings)?);
    }
    let bound = settings.timeout.snapshot.get();
    let inputs = async {
        let (bus, netlink) = (
            Bus::connect().await.map_err(NetworkError::from)?,
            Netlink::connect().map_err(NetworkError::from)?,
        );
        bus.network_manager().await.map_err(NetworkError::from)?;
        Ok::<_, Error>(gather(paths, settings, &bus, &netlink).await?)
    };
    tokio::time::timeout(bound, inputs).await.map_err(|_| {
        let what = "NetworkManager, the kernel or Open vSwitch".to_owned();
        NetworkError::NotReady { what, bound }
    })?
}

/// The document, and everything else as comments above it.
fn as_text(report: &PlanReport<'_>) -> String {
    let mut comments = Vec::new();
    if let Some(document) = &report.document {
        let text = format!("{document} is this node's document; br-ex would be this without it");
        comments.push(nmgen::printable(&text));
    }
    let plan = report.plan;
    let own = |line: &&str| line.starts_with('#');
    let said = plan.document.lines().take_while(own).map(|line| line.trim_start_matches("# "));
    comments.extend(said.map(str::to_owned));
    if let Some(awaited) = &report.awaited {
        comments.push(nmgen::printable(&format!("a boot would first wait for {awaited}")));
    }
    comments.push(String::new());
    comments.extend(tree(plan).lines().map(str::to_owned));
    if !plan.losses.is_empty() {
        comments.push(String::new());
        comments.extend(plan.losses.iter().map(|loss| nmgen::printable(&loss.to_string())));
    }
    let comment =
        |line: String| if line.is_empty() { "#\n".to_owned() } else { format!("# {line}\n") };
    let yaml = plan.document.lines().skip_while(own).map(|line| format!("{line}\n"));
    comments.into_iter().map(comment).chain(yaml).collect()
}

fn tree(plan: &BridgePlan) -> String {
    let source = Source { name: "plan".into(), text: plan.document.as_str().into() };
    let style = if std::io::stdout().is_terminal() { Style::Coloured } else { Style::Plain };
    // The agent's own text parses; a reader still gets the document if it does not.
    Reading::parse(&source).map(|reading| reading.tree("br-ex", style)).unwrap_or_default()
}
