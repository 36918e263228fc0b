//! The way back while NetworkManager may or may not be there, and the proof of it.

use std::{future::Future, time::Duration};

use tokio::time::Instant;

use super::RealNetwork;
use crate::{
    dbus::Active,
    durable::FileError,
    identity,
    netlink::Events,
    network::{Before, NetworkError},
    ovsdb::Ovsdb,
};

/// Each step is bounded and none stops the next: NetworkManager may be dead, and the files must
/// come back nevertheless. The first error is returned, with their number.
pub(super) async fn roll_back(
    net: &RealNetwork<'_>,
    before: &Before,
    bridges: &[String],
    restore_files: &dyn Fn() -> Result<bool, FileError>,
    step: Duration,
) -> Result<(), NetworkError> {
    let mut errors: Vec<NetworkError> = Vec::new();
    let checkpoints = patient(net, "the checkpoints", step, async || {
        for checkpoint in net.own_checkpoints(before).await? {
            tracing::info!(?checkpoint, "rolling back");
            net.bus.roll_back(&checkpoint).await?;
        }
        Ok(())
    });
    keep(&mut errors, checkpoints.await);
    // NetworkManager forgets inactive profiles and the bytes of edited ones; the copies do not.
    match restore_files() {
        Ok(false) => {}
        Ok(true) => {
            let reload = async || Ok(net.bus.reload_profiles().await?);
            keep(&mut errors, patient(net, "the profiles", step, reload).await);
        }
        Err(error) => errors.push(error.into()),
    }
    keep(&mut errors, bounded("removed bridges", step, return_bridges(net, before)).await);
    keep(&mut errors, bounded("new bridges", step, remove_new(net, before, bridges)).await);
    if let Some(name) = &before.hostname {
        keep(&mut errors, identity::put_back(net.paths, name).map_err(Into::into));
    }
    let count = errors.len();
    match errors.into_iter().next() {
        None => Ok(()),
        Some(source) => Err(NetworkError::RollBackSteps { count, source: Box::new(source) }),
    }
}

fn keep(errors: &mut Vec<NetworkError>, result: Result<(), NetworkError>) {
    if let Err(error) = result {
        tracing::warn!("roll back: {error}");
        errors.push(error);
    }
}

async fn bounded(
    what: &str,
    bound: Duration,
    work: impl Future<Output = Result<(), NetworkError>>,
) -> Result<(), NetworkError> {
    match tokio::time::timeout(bound, work).await {
        Ok(result) => result,
        Err(_) => {
            Err(NetworkError::NotReady { what: what.to_owned(), seconds: bound.as_secs_f64() })
        }
    }
}

/// Work with NetworkManager that is done again where NetworkManager dies in the middle: systemd
/// starts another one, which has no checkpoint any more and reads the profiles from disk.
async fn patient(
    net: &RealNetwork<'_>,
    what: &str,
    bound: Duration,
    work: impl AsyncFn() -> Result<(), NetworkError>,
) -> Result<(), NetworkError> {
    bounded(what, bound, async {
        loop {
            net.bus.network_manager().await?;
            match work().await {
                Err(NetworkError::Bus(error)) if error.is_gone() => {
                    tracing::info!("NetworkManager went away; waiting for it");
                    // The name of a dead process may be owned for a moment still.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                done => return done,
            }
        }
    })
    .await
}

/// Bridges that were taken over without a profile behind them.
async fn return_bridges(net: &RealNetwork<'_>, before: &Before) -> Result<(), NetworkError> {
    let mut unmanaged = before.bridges.iter().filter(|b| !b.managed).peekable();
    if unmanaged.peek().is_none() {
        return Ok(());
    }
    let mut ovsdb = Ovsdb::connect(&net.paths.ovsdb_socket()).await?;
    let now = ovsdb.bridges().await?;
    for bridge in unmanaged.filter(|b| !now.iter().any(|n| n.name == b.name)) {
        tracing::info!(bridge = %bridge.name, "the bridge comes back");
        ovsdb.restore(bridge).await?;
    }
    Ok(())
}

/// Profiles that were active and are not: lower ones last, as activating an interface brings its
/// controllers with it.
async fn inactive<'b>(
    net: &RealNetwork<'_>,
    before: &'b Before,
) -> Result<Vec<&'b Active>, NetworkError> {
    let active = net.bus.active().await?;
    let is_inactive = |wanted: &&Active| !active.iter().any(|a| a.uuid == wanted.uuid);
    Ok(before.active.iter().filter(is_inactive).collect())
}

async fn activate(net: &RealNetwork<'_>, profiles: &[&Active]) -> Result<(), NetworkError> {
    for wanted in profiles {
        tracing::info!(profile = %wanted.uuid, device = %wanted.device, "activating again");
        net.bus.activate(wanted).await?;
    }
    Ok(())
}

/// OVS bridges of the document that were not there before and that nothing took away.
async fn remove_new(
    net: &RealNetwork<'_>,
    before: &Before,
    bridges: &[String],
) -> Result<(), NetworkError> {
    let new: Vec<String> =
        bridges.iter().filter(|b| !before.bridges.iter().any(|o| o.name == **b)).cloned().collect();
    if new.is_empty() {
        return Ok(());
    }
    match Ovsdb::connect(&net.paths.ovsdb_socket()).await {
        Ok(mut ovsdb) => Ok(ovsdb.remove(&new).await?),
        // Without the daemon there is no bridge that works, and none was made.
        Err(error) => {
            tracing::warn!("{error}; bridges cannot be looked at");
            Ok(())
        }
    }
}

/// NetworkManager has come to rest when nothing happens for so long.
const QUIET: Duration = Duration::from_millis(500);

/// Waits until the addresses and gateways of before are there.
///
/// NetworkManager is left to bring its profiles up by itself, and is not disturbed in that: an activation
/// on top of its own makes it begin again. What is still down when it has come to rest is activated: a
/// profile may have gone down with an interface of the undone document that it stood on a moment before
/// ("dependency-failed"), or may not be one that starts by itself.
pub(super) async fn restored(
    net: &RealNetwork<'_>,
    before: &Before,
    bound: Duration,
) -> Result<(), NetworkError> {
    let deadline = Instant::now() + bound;
    let mut events = Events::subscribe()?;
    let mut signals = net.bus.signals().await.ok();
    // Each profile is given one chance beyond what the proof needs.
    let mut has_activated = false;
    loop {
        if let Err(error) = net.put_foreign_back().await {
            tracing::debug!("{error}");
        }
        let missing = missing(net, before).await?;
        let inactive = inactive(net, before).await.unwrap_or_else(|error| {
            tracing::debug!("{error}");
            Vec::new()
        });
        if missing.is_empty() && (inactive.is_empty() || has_activated) {
            return Ok(());
        }
        let signal = async {
            match &mut signals {
                Some(signals) => signals.changed().await,
                None => std::future::pending().await,
            }
        };
        let (is_quiet, is_closed) = tokio::select! {
            changed = events.changed() => changed.map(|()| (false, false))?,
            changed = signal => (false, changed.is_err()),
            () = tokio::time::sleep_until((Instant::now() + QUIET).min(deadline)) => (true, false),
        };
        if is_closed {
            signals = None;
        }
        if Instant::now() >= deadline {
            return match missing.is_empty() {
                true => Ok(()),
                false => Err(NetworkError::NotRestored { missing: missing.join(", ") }),
            };
        }
        if is_quiet && !inactive.is_empty() {
            has_activated = true;
            if let Err(error) = activate(net, &inactive).await {
                tracing::warn!("activating the old profiles: {error}");
            }
        }
    }
}

async fn missing(net: &RealNetwork<'_>, before: &Before) -> Result<Vec<String>, NetworkError> {
    let addresses = net.netlink.addresses().await?;
    let routes = net.netlink.default_routes().await?;
    let lost = before
        .addresses
        .iter()
        .filter(|b| !addresses.iter().any(|a| a.on == **b && !a.tentative))
        .map(ToString::to_string);
    let gateways = before
        .gateways
        .iter()
        .filter(|b| {
            !routes
                .iter()
                .any(|r| r.gateway == b.ip && b.link.as_ref().is_none_or(|l| *l == r.link))
        })
        .map(|b| format!("the default route by {}", b.ip));
    Ok(lost.chain(gateways).collect())
}
