//! Waits for events: NetworkManager on the bus, OVSDB's socket, links, settled devices.

use std::{future::Future, path::Path, time::Duration};

use tokio::time::Instant;

use super::{
    NetworkError, Result, Say,
    clients::Clients,
    hung, stale, version,
    wait::{Changes, wait_for},
};
use crate::{
    client::dbus::DeviceState,
    client::ovsdb::Ovsdb,
    client::watch::Watch,
    durable::FileError,
    model::{LinkRef, Wants},
    paths::cannot,
    settings::Seconds,
};

/// Cards that are named, of a machine that may have many.
const CARDS: usize = 8;

/// Returns when NetworkManager is on the bus.
pub(super) async fn network_manager(net: &Clients<'_>, say: Say<'_>) -> Result {
    let started = net.bus.started_network_manager();
    awaited("NetworkManager", net.wait.network_manager, say, started).await??;
    // It activates nothing then, and a transaction would end in a roll back.
    if net.bus.is_networking_off().await? {
        return Err(NetworkError::NetworkingOff);
    }
    version::tell(net).await
}

/// Restarts NetworkManager for this reason, and returns when it is on the bus again.
pub(super) async fn restart_network_manager(net: &Clients<'_>, why: &str, say: Say<'_>) -> Result {
    tracing::warn!("{why}; restarting it");
    let restarted = net.bus.restart_network_manager();
    awaited("NetworkManager's restart", net.wait.network_manager, say, restarted).await??;
    Ok(())
}

/// Returns when NetworkManager and OVSDB are there.
pub(super) async fn network_manager_and_ovsdb(net: &Clients<'_>, say: Say<'_>) -> Result {
    tokio::try_join!(network_manager(net, say), ovsdb(net, say)).map(|_| ())
}

/// Returns when Open vSwitch's database answers.
async fn ovsdb(net: &Clients<'_>, say: Say<'_>) -> Result {
    let path = net.paths.ovsdb_socket();
    awaited("Open vSwitch's database", net.wait.ovsdb, say, socket(&path)).await?
}

/// Returns when the database answers and ovs-vswitchd has carried out what it has. The database accepts a change although the
/// daemon hangs or has not started, and NetworkManager then waits for a link until its bound.
pub(super) async fn open_vswitch(net: &Clients<'_>, say: Say<'_>) -> Result {
    ovsdb(net, say).await?;
    let bound = net.wait.ovsdb.get();
    if bound.is_zero() {
        return Ok(());
    }
    let mut database = Ovsdb::connect(&net.paths.ovsdb_socket()).await?;
    // The kernel accepts a connection to a database that hangs.
    let answer = database.settings(&[]);
    awaited("Open vSwitch's database", net.wait.ovsdb, say, answer).await??;
    // The database's own bound comes after this one.
    let carried_out = database.carried_out(bound.saturating_mul(2));
    match awaited("ovs-vswitchd", net.wait.ovsdb, say, carried_out).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(NetworkError::HungDaemon { bound }),
    }
}

/// Returns when the services and the needed links are there, and NetworkManager is done with the
/// declared links. Removes stale ones.
pub(super) async fn ready(net: &Clients<'_>, wants: &Wants, say: Say<'_>) -> Result {
    let manager = network_manager(net, say);
    let open_vswitch = async { if wants.ovs { open_vswitch(net, say).await } else { Ok(()) } };
    let links = async {
        let needed = wants.needed.iter().map(|link| async move {
            let what = format!("link {link}");
            match awaited(&what, net.wait.link, say, link_there(net, link)).await {
                Ok(found) => found,
                Err(late) => Err(beside_cards(net, late).await),
            }
        });
        let ports = wants.awaited.iter().map(|name| async move {
            let (what, link) = (format!("link {name}"), LinkRef::Name(name.clone()));
            match awaited(&what, net.wait.link, say, link_there(net, &link)).await {
                Ok(found) => found.map(Some),
                Err(_) => {
                    tracing::warn!(
                        "there is no card {name}: nmstate takes it for an internal port of Open vSwitch"
                    );
                    Ok(None)
                }
            }
        });
        let (needed, ports) = futures_util::future::try_join(
            futures_util::future::try_join_all(needed),
            futures_util::future::try_join_all(ports),
        )
        .await?;
        Ok(needed.into_iter().chain(ports.into_iter().flatten()).collect::<Vec<_>>())
    };
    let ((), (), names) = futures_util::future::try_join3(manager, open_vswitch, links).await?;
    // Each change would wait behind it, and be rolled back.
    if wants.ovs
        && let Some(why) = hung::endless_deactivation(net, &wants.ovs_interfaces).await?
    {
        restart_network_manager(net, &why, say).await?;
    }
    // The snapshot would take the addresses of such a link for the old network's.
    stale::remove(net, &wants.ovs_interfaces).await?;
    // An interface yet to be created has no device. One that NetworkManager is about to activate
    // carries the old network: the snapshot waits for it.
    let declared = wants.links.iter().filter(|link| !names.contains(*link));
    let mut declared: Vec<(String, bool)> = declared.map(|link| (link.clone(), false)).collect();
    declared.dedup();
    let needed = names.iter().map(|name| (name.clone(), true));
    // In parallel: each wait has the whole bound.
    let all = needed.chain(declared).map(|(name, must_exist)| async move {
        let what = format!("NetworkManager to finish with {name}");
        let done = device_done(net, &name, must_exist);
        match awaited(&what, net.wait.device_settled, say, done).await {
            Ok(done) => done?,
            // Not an error: the document is about to change the device anyway.
            Err(late) => tracing::warn!("{late}; going on"),
        }
        Ok::<_, NetworkError>(())
    });
    futures_util::future::try_join_all(all).await?;
    Ok(())
}

/// Runs `work` for at most `bound`, and reports once a second that `what` is awaited.
pub(super) async fn awaited<T>(
    what: &str,
    bound: Seconds,
    say: Say<'_>,
    work: impl Future<Output = T>,
) -> Result<T> {
    let bound = bound.get();
    let start = Instant::now();
    let mut work = std::pin::pin!(work);
    let mut tick = tokio::time::interval_at(start, Duration::from_secs(1));
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            _ = tick.tick() => {
                let waited = start.elapsed();
                if waited >= bound {
                    return Err(NetworkError::NotReady { what: what.to_owned(), bound });
                }
                let text =
                    format!("waiting for {what} ({} s of {})", waited.as_secs(), bound.as_secs());
                say(&text, bound.saturating_sub(waited));
            }
        }
    }
}

/// Waits for the link, and returns its kernel name. Most links are there: those need no subscription.
async fn link_there(net: &Clients<'_>, wanted: &LinkRef) -> Result<String> {
    let find = async || -> Result<Option<String>> {
        let links = net.netlink.links().await?;
        Ok(links.into_iter().find(|l| l.is(wanted)).map(|l| l.name))
    };
    match find().await? {
        Some(name) => Ok(name),
        None => wait_for(&mut Changes::of_kernel()?, find).await,
    }
}

/// Names the cards that are there beside the one that is missing: it may have another name, after a change of slot or firmware.
async fn beside_cards(net: &Clients<'_>, late: NetworkError) -> NetworkError {
    let (NetworkError::NotReady { what, bound }, Ok(links)) = (&late, net.netlink.links().await)
    else {
        return late;
    };
    let cards = links.iter().filter(|link| link.physical).map(|link| {
        let mac = link.permanent_mac.as_ref().or(link.mac.as_ref());
        mac.map_or_else(|| link.name.clone(), |mac| format!("{} with MAC {mac}", link.name))
    });
    let cards: Vec<String> = cards.take(CARDS).collect();
    match cards.is_empty() {
        true => late,
        false => NetworkError::NotReady {
            what: format!("{what} (cards here: {})", cards.join(", ")),
            bound: *bound,
        },
    }
}

async fn device_done(net: &Clients<'_>, name: &str, must_exist: bool) -> Result {
    let is_done = async || -> Result<Option<()>> {
        Ok(match net.bus.device_state(name).await? {
            DeviceState::Done => Some(()),
            DeviceState::Unknown => (!must_exist).then_some(()),
            DeviceState::UnderWay => None,
        })
    };
    match is_done().await? {
        Some(()) => Ok(()),
        None => wait_for(&mut Changes::of_manager(&net.bus).await?, is_done).await,
    }
}

/// Returns when the socket accepts a connection. The file appears shortly before the daemon
/// listens; so a refused connection is retried at the next change of the directory (the daemon then
/// writes its pid file) or after a short delay.
async fn socket(path: &Path) -> Result {
    let watch = |error| FileError::from(cannot("watch", path)(error));
    loop {
        if Ovsdb::connect(path).await.is_ok() {
            return Ok(());
        }
        let directory = path.parent().unwrap_or(path);
        let changes = Watch::on(&[directory]).map_err(watch)?;
        if Ovsdb::connect(path).await.is_ok() {
            return Ok(());
        }
        let refused = path.exists();
        tokio::select! {
            changed = changes.changed() => changed.map_err(watch)?,
            () = tokio::time::sleep(Duration::from_millis(50)), if refused => {}
        }
    }
}
