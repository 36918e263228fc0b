//! `dayone diff`: desired against current.

use std::{io::IsTerminal as _, path::Path};

use nmgen::{diagnostic::Style, difference::painted};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{
    difference::{Differences, Lacking, compare, compare_in_force, saved},
    output::{print_of, print_page},
    services,
};
use crate::{
    bridge::plan::BridgePlan,
    cli::Form,
    document::{self, Document, check},
    durable::{self, record::Record},
    error::{Error, Result},
    network::sight::Sight,
    paths::Paths,
    run::last_good::last_good_state,
    settings::{Settings, Usable},
    state::{Parsed, State},
};

/// A comparison with its subject.
#[derive(Debug, Default)]
struct Comparison {
    /// The document, or the automatic br-ex.
    subject: Option<String>,
    reason: String,
    /// Parts of the automatic br-ex that NMState has no words for.
    lacking: Vec<String>,
    differences: Differences,
}

/// Prints the differences; with `exit_code` an error if there are any. `file` takes the place of the node's document.
pub(crate) async fn diff(
    paths: &Paths,
    file: Option<&Path>,
    form: Form,
    exit_code: bool,
) -> Result {
    let compared = compared(paths, file).await?;
    let Comparison { lacking, differences: Differences { now, then }, .. } = &compared;
    let is_different = !lacking.is_empty() || !now.is_empty() || !then.is_empty();
    match form {
        Form::Text => {
            let style = Style::of_terminal(std::io::stdout().is_terminal());
            let text = paths.on_node(&nmgen::printable_lines(&text(&compared)));
            let lines = text.lines().map(|line| painted(line, style) + "\n");
            print_page(&lines.collect::<String>())?;
        }
        Form::Json => print_of(paths, &json(&compared))?,
    }
    if exit_code && is_different { Err(Error::Differs) } else { Ok(()) }
}

async fn compared(paths: &Paths, file: Option<&Path>) -> Result<Comparison> {
    let settings = Usable::load(paths).told();
    let record = Record::load(paths);
    let in_force = record.document_in_force(paths);
    let bound = settings.wait.hostname.get();
    let chosen = match file {
        Some(file) => document::given(paths, file)?,
        None => document::choose(paths, in_force.as_ref(), bound, || {}).await?,
    };
    let Some(document) = chosen.document else {
        return match committed_bridge(paths)? {
            Some(plan) => bridge(paths, &settings, &plan).await,
            None => Ok(Comparison { reason: chosen.reason, ..Comparison::default() }),
        };
    };
    let parsed = check::check(&document)?;
    services::required(paths, services::needs_ovs(&document)).await?;
    let network = Sight::connect(paths, &settings.wait).await?;
    let differences = differences(paths, &record, &network, &document, &parsed).await?;
    let (subject, reason) = (Some(document.path.display().to_string()), chosen.reason);
    Ok(Comparison { subject, reason, differences, ..Comparison::default() })
}

async fn bridge(paths: &Paths, settings: &Settings, plan: &BridgePlan) -> Result<Comparison> {
    services::required(paths, true).await?;
    let network = Sight::connect(paths, &settings.wait).await?;
    let subject = Some(format!("br-ex on {}", plan.uplink.link));
    let (lacking, differences) = bridge_differences(paths, &network, plan).await?;
    Ok(Comparison { subject, reason: plan.uplink.to_string(), lacking, differences })
}

/// The parts of the automatic bridge that the node lacks, in words, and those that NMState can say; the plan is the one of
/// this boot's commit.
pub(super) async fn bridge_differences(
    paths: &Paths,
    network: &Sight<'_>,
    plan: &BridgePlan,
) -> Result<(Vec<String>, Differences)> {
    let lacking = network.lacking(plan).await?;
    let picture = Parsed::new(&plan.document)?.resolve(None)?.visible();
    Ok((lacking, compare_in_force(paths, network, &picture, &[]).await?))
}

/// The plan of the automatic bridge that was committed in this boot.
pub(super) fn committed_bridge(paths: &Paths) -> Result<Option<BridgePlan>> {
    Ok(durable::read_json_or_set_aside(&paths.bridge())?)
}

/// The differences from a document; from one in force, as it was resolved when it was applied.
pub(super) async fn differences(
    paths: &Paths,
    record: &Record,
    network: &Sight<'_>,
    document: &Document,
    parsed: &Parsed,
) -> Result<Differences> {
    let committed = record.committed.as_ref();
    let in_force = committed.is_some_and(|committed| committed.digest == document.digest);
    match last_good_state(record)?.filter(|_| in_force) {
        Some(desired) => {
            let desired = network.with_names_of_now(desired).await?;
            compare_in_force(paths, network, &desired, &saved(paths, record)).await
        }
        None => compare(network, &resolved(network, parsed).await?).await,
    }
}

/// The document resolved against the current state.
pub(super) async fn resolved(network: &Sight<'_>, parsed: &Parsed) -> Result<State> {
    let current = if parsed.needs_current() { Some(network.current().await?) } else { None };
    Ok(network.resolve_links(parsed.resolve(current.as_ref())?).await?)
}

fn text(compared: &Comparison) -> String {
    let Some(subject) = &compared.subject else { return format!("# {}\n", compared.reason) };
    let lacking: String =
        compared.lacking.iter().map(|part| format!("# lacking: {part}\n")).collect();
    let head = format!("# {subject}: {}\n{lacking}", compared.reason);
    match (compared.lacking.is_empty(), changes(&compared.differences)) {
        (true, None) => head + "# no difference\n",
        (_, changes) => head + &changes.unwrap_or_default(),
    }
}

/// The differences for people, as `nmgen diff` shows them; `None` if there are none.
pub(super) fn changes(Differences { now, then }: &Differences) -> Option<String> {
    let lines = |lacking: &Lacking| lacking.lines().map(|line| line + "\n").collect::<String>();
    let mut text = lines(now);
    if !then.is_empty() {
        text += "# the next activation of the saved profiles:\n";
        text += &lines(then);
    }
    (!text.is_empty()).then_some(text)
}

/// `dayone diff --format json`; `doc/diff.schema.json` describes it.
fn json(compared: &Comparison) -> String {
    let Differences { now, then } = &compared.differences;
    let hidden = now.subjects.iter().filter(|_| now.fields.is_empty());
    let report = json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "document": compared.subject,
        "reason": compared.reason,
        "lacking": compared.lacking.iter().chain(hidden).collect::<Vec<_>>(),
        "differences": fields(now),
        "next-activation": fields(then),
    });
    format!("{report:#}\n")
}

fn fields(lacking: &Lacking) -> Vec<Value> {
    let one = |difference: &nmgen::difference::Difference| {
        let [before, after] = [&difference.before, &difference.after].map(|side| {
            side.as_ref().map(|node| {
                let text = || nmgen::difference::Inline(node).to_string().into();
                Value::deserialize(node).unwrap_or_else(|_| text())
            })
        });
        json!({"field": difference.field, "before": before, "after": after})
    };
    lacking.fields.iter().map(one).collect()
}
