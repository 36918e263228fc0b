//! `dayone diff`: desired against current.

use super::{drift::print_difference, output::print};
use crate::{
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
    let Some(document) = chosen.document else { return print(&format!("# {}\n", chosen.reason)) };
    let parsed = check::check(&document)?;
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    print(&format!("# {}: {}\n", document.path.display(), chosen.reason))?;
    print_difference(paths, &network, &document, &parsed).await
}
