//! `dayone diff`: desired against current.

use super::{drift, last_good_state, print};
use crate::{
    check,
    document::{self, Document},
    error::Error,
    network::Network as _,
    paths::Paths,
    real::RealNetwork,
    record::Record,
    settings::Settings,
    state::Parsed,
};

/// Prints what the current state lacks.
pub(crate) async fn diff(paths: &Paths) -> Result<(), Error> {
    let settings = Settings::load(paths)?;
    let chosen = document::choose(paths, settings.wait.hostname.get(), || {}).await?;
    let Some(document) = chosen.document else { return print(&format!("# {}\n", chosen.reason)) };
    let parsed = check::check(&document)?;
    let network = RealNetwork::connect(paths, &settings.wait).await?;
    print(&format!("# {}: {}\n", document.path.display(), chosen.reason))?;
    print_difference(paths, &network, &document, &parsed).await
}

/// The difference as YAML; for a document in force from what it came to when it was applied.
pub(super) async fn print_difference(
    paths: &Paths,
    network: &RealNetwork<'_>,
    document: &Document,
    parsed: &Parsed,
) -> Result<(), Error> {
    let committed = Record::load(paths).committed;
    let in_force = committed.is_some_and(|committed| committed.digest == document.digest);
    let desired = match last_good_state(paths)?.filter(|_| in_force) {
        Some(desired) => desired,
        None => {
            let current = match parsed.needs_current() {
                true => Some(network.current().await?),
                false => None,
            };
            network.settle(parsed.resolve(current.as_ref())?).await?
        }
    };
    match drift(network, &desired).await? {
        Some((_, yaml)) => print(&yaml),
        None => print("# no difference\n"),
    }
}
