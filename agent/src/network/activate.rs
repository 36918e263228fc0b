//! Activation of profiles that did not come up by themselves.

use std::time::Duration;

use super::{NetworkError, cards, clients::Clients, readiness, stale};
use nmgen::chain;

use crate::{client::ovsdb::Ovsdb, model::Active};

/// Activates those of `profiles` that are not up. Interfaces first: they bring their OVS bridges
/// and ports up. An activating profile is restarted, since a DHCP client without an answer retries
/// less and less often. NetworkManager is restarted where it takes a deleted bridge for active,
/// links that something has set down are set up, and stale ones are removed.
pub(super) async fn activate(
    net: &Clients<'_>,
    profiles: &[Active],
    say: &dyn Fn(&str, Duration),
) -> Result<(), NetworkError> {
    readiness::network_manager(net, say).await?;
    let interfaces = profiles.iter().filter(|profile| profile.kind == "ovs-interface");
    let interfaces: Vec<&str> = interfaces.map(|profile| profile.device.as_str()).collect();
    let mut activated = stale::remove(net, &interfaces).await?;
    let deleted = deleted_bridges(net, profiles).await?;
    if !deleted.is_empty() {
        let names = deleted.join(", ");
        tracing::warn!(
            "Open vSwitch lacks {names}, which NetworkManager shows as up; restarting it"
        );
        let restarted = net.bus.restart_network_manager();
        let bound = net.wait.network_manager;
        readiness::awaited("NetworkManager's restart", bound, say, restarted).await??;
        return Ok(());
    }
    let mut order: Vec<&Active> = profiles.iter().collect();
    order.sort_by_key(|profile| ["ovs-bridge", "ovs-port"].contains(&profile.kind.as_str()));
    activated |= cards::set_up_those_of(net, profiles).await?;
    for profile in order {
        if net.bus.activated().await?.contains(&profile.uuid) {
            continue;
        }
        tracing::info!(profile = %profile.uuid, device = %profile.device, "activating");
        match net.bus.activate(profile).await {
            Ok(()) => activated = true,
            Err(error) => {
                tracing::warn!(device = %profile.device, "{}", chain(&error));
            }
        }
    }
    if activated { Ok(()) } else { Err(NetworkError::NoProfile) }
}

/// Bridges that NetworkManager shows as active and Open vSwitch does not have. Where somebody deletes
/// a bridge with ports of others, NetworkManager 1.52 may keep it, its ports and interfaces as
/// active: neither an activation nor a reapply makes them again, only a new start, which finds them
/// missing.
async fn deleted_bridges(
    net: &Clients<'_>,
    profiles: &[Active],
) -> Result<Vec<String>, NetworkError> {
    let active = net.bus.activated().await?;
    let bridges = profiles.iter().filter(|it| it.kind == "ovs-bridge" && active.contains(&it.uuid));
    let mut bridges: Vec<String> = bridges.map(|profile| profile.device.clone()).collect();
    if !bridges.is_empty() {
        let there = Ovsdb::connect(&net.paths.ovsdb_socket()).await?.bridges().await?;
        bridges.retain(|name| there.iter().all(|bridge| bridge.name != *name));
    }
    Ok(bridges)
}

/// The devices of those of `profiles` that NetworkManager does not have, or that are not up although
/// their device carries a default route: it keeps address and route while NetworkManager waits for
/// Open vSwitch to take its link away.
pub(super) async fn lost(
    net: &Clients<'_>,
    profiles: &[Active],
) -> Result<Vec<String>, NetworkError> {
    let there = net.bus.profiles().await?;
    let up = net.bus.activated().await?;
    let routes = net.netlink.default_routes().await?;
    let is_lost = |profile: &&Active| {
        let is_gone = there.iter().all(|it| it.uuid != profile.uuid);
        let carries_route = routes.iter().any(|route| route.link == profile.device);
        is_gone || (carries_route && !up.contains(&profile.uuid))
    };
    let mut devices: Vec<String> =
        profiles.iter().filter(is_lost).map(|profile| profile.device.clone()).collect();
    devices.sort_unstable();
    devices.dedup();
    Ok(devices)
}
