//! `dayone apply --dry-run`: prints the changes of an attempt.

use super::{drift::print_difference, output::print};
use crate::{
    document::{self, check},
    durable::record::Record,
    error::Error,
    network::real::RealNetwork,
    paths::Paths,
    settings::Settings,
};

/// Chooses and checks, and prints the difference.
pub(crate) async fn dry_run(paths: &Paths) -> Result<(), Error> {
    let settings = Settings::load(paths)?;
    let chosen = document::choose(paths, settings.wait.hostname.get(), || {}).await?;
    let Some(document) = chosen.document else { return print(&format!("{}\n", chosen.reason)) };
    print(&format!("# {}: {}\n", document.path.display(), chosen.reason))?;
    if Record::load(paths).in_force(paths, &document.digest)? {
        return print("# in force already\n");
    }
    let parsed = check::check(&document)?;
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    print_difference(paths, &network, &document, &parsed).await
}
