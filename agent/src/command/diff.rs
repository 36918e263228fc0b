//! `dayone diff`: desired against current.

use super::{
    drift::{bridge_drift, committed_bridge, print_difference},
    output::print,
};
use crate::{
    bridge::plan::BridgePlan,
    document::{self, check},
    error::Error,
    network::real::RealNetwork,
    paths::Paths,
    settings::Settings,
};

/// Prints the part of the document that the current state lacks.
pub(crate) async fn diff(paths: &Paths) -> Result<(), Error> {
    let settings = Settings::load(paths)?;
    let chosen = document::choose(paths, settings.wait.hostname.get(), || {}).await?;
    let Some(document) = chosen.document else {
        return match committed_bridge(paths)? {
            Some(plan) => bridge(paths, &settings, &plan).await,
            None => print(&format!("# {}\n", chosen.reason)),
        };
    };
    let parsed = check::check(&document)?;
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    print(&format!("# {}: {}\n", document.path.display(), chosen.reason))?;
    print_difference(paths, &network, &document, &parsed).await
}

/// Prints the part of the automatic bridge that the node lacks.
async fn bridge(paths: &Paths, settings: &Settings, plan: &BridgePlan) -> Result<(), Error> {
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    print(&format!("# br-ex on {}: {}\n", plan.uplink.link, plan.uplink))?;
    let (lacking, yaml) = bridge_drift(&network, plan).await?;
    if lacking.is_empty() {
        return print("# no difference\n");
    }
    let lines: String = lacking.iter().map(|it| format!("# lacking: {it}\n")).collect();
    print(&(lines + &yaml.unwrap_or_default()))
}
