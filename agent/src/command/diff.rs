//! `dayone diff`: desired against current.

use super::{output::print, services};
use crate::{
    bridge::plan::BridgePlan,
    document::{self, Document, check},
    durable::{self, record::Record},
    error::Error,
    network::{Network as _, real::RealNetwork},
    paths::Paths,
    run::last_good::last_good_state,
    settings::{Settings, Usable},
    state::{Parsed, State},
};

/// Prints the part of the document that the current state lacks.
pub(crate) async fn diff(paths: &Paths) -> Result<(), Error> {
    let settings = Usable::load(paths).told();
    let record = Record::load(paths);
    let in_force = record.document_in_force(paths);
    let bound = settings.wait.hostname.get();
    let chosen = document::choose(paths, in_force.as_ref(), bound, || {}).await?;
    let Some(document) = chosen.document else {
        return match committed_bridge(paths)? {
            Some(plan) => bridge(paths, &settings, &plan).await,
            None => print(&format!("# {}\n", chosen.reason)),
        };
    };
    let parsed = check::check(&document)?;
    services::required(paths, services::needs_ovs(&document)).await?;
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    print(&format!("# {}: {}\n", document.path.display(), chosen.reason))?;
    print_difference(paths, &record, &network, &document, &parsed).await
}

/// Prints the part of the automatic bridge that the node lacks.
async fn bridge(paths: &Paths, settings: &Settings, plan: &BridgePlan) -> Result<(), Error> {
    services::required(paths, true).await?;
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    print(&format!("# br-ex on {}: {}\n", plan.uplink.link, plan.uplink))?;
    let (lacking, yaml) = bridge_drift(&network, plan).await?;
    if lacking.is_empty() {
        return print("# no difference\n");
    }
    let lines: String = lacking.iter().map(|it| format!("# lacking: {it}\n")).collect();
    print(&(lines + &yaml.unwrap_or_default()))
}

/// The part of `desired` that the current state lacks: names for messages, and YAML.
pub(super) async fn drift(
    network: &RealNetwork<'_>,
    desired: &State,
) -> Result<Option<(Vec<String>, String)>, Error> {
    let current = network.current().await?;
    match desired.missing_in(&current)? {
        None => Ok(None),
        Some(diff) => Ok(Some((diff.subjects(), diff.to_shown_yaml()?))),
    }
}

/// The parts of the automatic bridge that the node lacks, in words, and as YAML those that NMState
/// can say; the plan is the one of this boot's commit.
pub(super) async fn bridge_drift(
    network: &RealNetwork<'_>,
    plan: &BridgePlan,
) -> Result<(Vec<String>, Option<String>), Error> {
    let mut lacking = network.lacking(plan).await?;
    let picture = Parsed::new(&plan.document)?.resolve(None)?.visible();
    let difference = drift(network, &picture).await?;
    let yaml = difference.map(|(subjects, yaml)| {
        lacking.extend(subjects);
        yaml
    });
    Ok((lacking, yaml))
}

/// The plan of the automatic bridge that was committed in this boot.
pub(super) fn committed_bridge(paths: &Paths) -> Result<Option<BridgePlan>, Error> {
    Ok(durable::read_json_or_set_aside(&paths.bridge())?)
}

/// Prints the difference as YAML; for a document in force, against its state resolved at apply
/// time.
pub(super) async fn print_difference(
    paths: &Paths,
    record: &Record,
    network: &RealNetwork<'_>,
    document: &Document,
    parsed: &Parsed,
) -> Result<(), Error> {
    let committed = record.committed.as_ref();
    let in_force = committed.is_some_and(|committed| committed.digest == document.digest);
    let desired = match last_good_state(paths, record)?.filter(|_| in_force) {
        Some(desired) => desired,
        None => resolved(network, parsed).await?,
    };
    print_missing(network, &desired).await
}

/// The document resolved against the current state.
pub(super) async fn resolved(network: &RealNetwork<'_>, parsed: &Parsed) -> Result<State, Error> {
    let current = match parsed.needs_current() {
        true => Some(network.current().await?),
        false => None,
    };
    Ok(network.resolve_links(parsed.resolve(current.as_ref())?).await?)
}

/// Prints the part of `desired` that the current state lacks.
pub(super) async fn print_missing(network: &RealNetwork<'_>, desired: &State) -> Result<(), Error> {
    match drift(network, desired).await? {
        Some((_, yaml)) => print(&yaml),
        None => print("# no difference\n"),
    }
}
