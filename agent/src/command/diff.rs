//! `dayone diff`: desired against current.

use super::{drift, print};
use crate::{
    check, document, error::Error, network::Network as _, paths::Paths, real::RealNetwork,
    settings::Settings, state::Parsed,
};

/// Prints what the current state lacks.
pub(crate) async fn diff(paths: &Paths) -> Result<(), Error> {
    let settings = Settings::load(paths)?;
    let chosen = document::choose(paths, settings.wait.hostname.get(), || {}).await?;
    let Some(document) = chosen.document else { return print(&format!("# {}\n", chosen.reason)) };
    let parsed = check::check(&document)?;
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    print(&format!("# {}: {}\n", document.path.display(), chosen.reason))?;
    print_difference(&network, &parsed).await
}

/// The difference as YAML.
pub(super) async fn print_difference(
    network: &RealNetwork<'_>,
    parsed: &Parsed,
) -> Result<(), Error> {
    let current = match parsed.needs_current() {
        true => Some(network.current().await?),
        false => None,
    };
    match drift(network, &parsed.resolve(current.as_ref())?).await? {
        Some((_, yaml)) => print(&yaml),
        None => print("# no difference\n"),
    }
}
