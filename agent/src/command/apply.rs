//! `dayone apply`.

use std::time::Duration;

use super::{
    difference::from_record,
    gateway, services,
    status::{Depth, look},
};
use crate::{
    document,
    durable::record::Record,
    error::{Error, Result},
    paths::Paths,
    run::{AttemptKind, Caller, Extent, attempt::attempt, refused, retry, signals::Signals},
    settings::Usable,
    status::{
        Outcome, StatusFile, Success,
        log::{Tone, console},
    },
};

/// Tries once, or until the boot may go on. Only a success of a single attempt decides the boot: after a failure
/// dayone.service goes on trying.
pub(crate) async fn apply(paths: &Paths, retry: bool, keep_trying: bool) -> Result {
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
    if needs_ovs.is_none() {
        return Ok(());
    }
    let outcome = StatusFile::load(paths).ok().flatten().map(|status| status.outcome);
    // A transaction has asked the gateways that decide, and has left no difference.
    if outcome == Some(Outcome::Succeeded(Success::Committed)) {
        return Ok(());
    }
    works(paths).await.inspect_err(refused)?;
    has_no_change(paths).await.inspect_err(refused)
}

/// Whether this node's document needs Open vSwitch; `None`: it has none, or none that can be read.
async fn needs_ovs(paths: &Paths) -> Option<bool> {
    let in_force = Record::load(paths).document_in_force(paths);
    let chosen = document::choose(paths, in_force.as_ref(), Duration::ZERO, || {}).await.ok()?;
    chosen.document.as_ref().map(services::needs_ovs)
}

/// An error if the network in force is dead. A boot goes on with a silent gateway, since a reboot mends none; somebody at a
/// terminal asked for a network that works.
async fn works(paths: &Paths) -> Result {
    let settings = Usable::load(paths).settings;
    match gateway::silent(paths, &settings, &Record::load(paths), None).await {
        Some(why) if paths.is_system() => Err(Error::Silent { why }),
        Some(_) | None => Ok(()),
    }
}

/// An error, after a list of the differences, if the network in force was changed since its commit. A boot leaves such a change
/// too.
async fn has_no_change(paths: &Paths) -> Result {
    if !paths.is_system() {
        return Ok(());
    }
    let settings = Usable::load(paths).settings;
    let (_, assessment) = look(paths, &settings, Depth::Network).await?;
    if !assessment.verdict.is_drift() {
        return Ok(());
    }
    let differences = from_record(paths, &settings, &Record::load(paths)).await?;
    console(Tone::Plain, &differences.map(|difference| difference.lines()).unwrap_or_default());
    let reason = "`dayone rollback` puts the document's network back, and the changes go; `dayone adopt \
                  --reason TEXT` keeps them";
    Err(Error::NotInForce { line: assessment.line, reason: reason.to_owned() })
}
