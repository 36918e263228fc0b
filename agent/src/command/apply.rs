//! `dayone apply`.

use std::time::Duration;

use super::{gateway, services};
use crate::{
    document,
    durable::record::Record,
    error::Error,
    paths::Paths,
    run::{AttemptKind, Caller, Extent, attempt::attempt, refused, retry, signals::Signals},
    settings::Usable,
    status::{Outcome, StatusFile, Success},
};

/// Tries once, or until the boot may go on. Only a success of a single attempt decides the boot: after a failure
/// dayone.service goes on trying.
pub(crate) async fn apply(paths: &Paths, retry: bool, keep_trying: bool) -> Result<(), Error> {
    let extent = if retry { Extent::Forgiving } else { Extent::Whole };
    if keep_trying {
        return retry::repeat(paths, AttemptKind::Document, extent).await;
    }
    let stop = Signals::listen()?.stop;
    let needs_ovs = needs_ovs(paths).await;
    if needs_ovs == Some(true) {
        services::open_vswitch(paths).await?;
    }
    attempt(paths, &stop, AttemptKind::Document, extent, Caller::Person).await?;
    match needs_ovs {
        Some(_) => works(paths).await.inspect_err(refused),
        None => Ok(()),
    }
}

/// Whether this node's document needs Open vSwitch; `None`: it has none, or none that can be read.
async fn needs_ovs(paths: &Paths) -> Option<bool> {
    let in_force = Record::load(paths).document_in_force(paths);
    let chosen = document::choose(paths, in_force.as_ref(), Duration::ZERO, || {}).await.ok()?;
    chosen.document.as_ref().map(services::needs_ovs)
}

/// An error if the network in force is dead. A boot goes on with a silent gateway, since a reboot mends none; somebody at a
/// terminal asked for a network that works.
async fn works(paths: &Paths) -> Result<(), Error> {
    // A transaction has asked the gateways that decide.
    let is_committed = StatusFile::load(paths)
        .ok()
        .flatten()
        .is_some_and(|it| it.outcome == Outcome::Succeeded(Success::Committed));
    if is_committed {
        return Ok(());
    }
    let settings = Usable::load(paths).settings;
    match gateway::silent(paths, &settings, &Record::load(paths), None).await {
        Some(why) if paths.is_system() => Err(Error::Silent { why }),
        Some(_) | None => Ok(()),
    }
}
