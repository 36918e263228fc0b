//! A family of addresses that the network gives after the boot has gone on: the next boot waits for it too. A router may send its
//! advertisement long after the lease of IPv4, as behind a port of a switch that is learning; kubelet has one family then, in each
//! boot, as long as no record has the other.

use std::time::Duration;

use nmgen::chain;
use tokio::sync::watch;

use super::{
    in_force::recorded_in_force, last_good::last_good_if_readable, signals::stoppable, waits,
};
use crate::{
    client::netlink::Netlink,
    durable::record::Record,
    error::{Error, Result},
    lock,
    network::NetworkError,
    paths::Paths,
    settings::Usable,
};

/// A port of a switch with spanning tree forwards after 30 s; another 30 s until a router has answered.
const LATE: Duration = Duration::from_secs(60);

/// Records such families, at most for a minute and without the lock: other runs go first.
pub(crate) async fn record_families(paths: &Paths, stop: &watch::Receiver<bool>) {
    match record(paths, stop).await {
        Ok(None) => {}
        Ok(Some(families)) => {
            tracing::info!("{families} came late, and is recorded: the next boot waits for it");
        }
        Err(Error::Stopped) => {}
        Err(error) => tracing::warn!("families that come late are not recorded: {}", chain(&error)),
    }
}

async fn record(paths: &Paths, stop: &watch::Receiver<bool>) -> Result<Option<String>> {
    let Some((record, uplinks)) = recorded_in_force(paths) else { return Ok(None) };
    let Some(state) = last_good_if_readable(&record) else { return Ok(None) };
    let netlink = Netlink::connect().map_err(NetworkError::from)?;
    let wants = state.wants();
    let late = stoppable(stop, uplinks.with_late_families(&netlink, &wants, LATE)).await?;
    if late.is_none() {
        return Ok(None);
    }
    let turn = Usable::load(paths).settings.wait.turn.get();
    let lock = stoppable(stop, lock::take(paths, "apply", turn, waits)).await?;
    // Another run may have changed the record meanwhile.
    let now = recorded_in_force(paths);
    if now.is_none_or(|(now, _)| now.committed != record.committed) {
        return Ok(None);
    }
    // A trial may have given the family, and have ended meanwhile.
    let late = uplinks.with_late_families(&netlink, &wants, Duration::ZERO).await?;
    let Some(late) = late else { return Ok(None) };
    let new = late.families.iter().filter(|family| !uplinks.families.contains(family));
    let families: Vec<String> = new.map(ToString::to_string).collect();
    Record::update(paths, |record| record.set_uplinks(late))?;
    lock.unsign();
    Ok(Some(families.join(" and ")))
}
