//! Desired against current.

use super::{last_good::last_good_state, output::print};
use crate::{
    document::Document,
    durable::record::Record,
    error::Error,
    network::{Network as _, real::RealNetwork},
    paths::Paths,
    state::{Parsed, State},
};

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

/// Prints the difference as YAML; for a document in force, against its state resolved at apply
/// time.
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
