//! Activation of profiles that did not come up by themselves.

use std::time::Duration;

use super::{NetworkError, clients::Clients, readiness};
use nmgen::chain;

use crate::client::dbus::Active;

/// Activates those of `profiles` that are not up. Interfaces first: they bring their OVS bridges
/// and ports up. An activating profile is restarted, since a DHCP client without an answer retries
/// less and less often.
pub(super) async fn activate(
    net: &Clients<'_>,
    profiles: &[Active],
    say: &dyn Fn(&str, Duration),
) -> Result<(), NetworkError> {
    readiness::network_manager(net, say).await?;
    let mut order: Vec<&Active> = profiles.iter().collect();
    order.sort_by_key(|profile| ["ovs-bridge", "ovs-port"].contains(&profile.kind.as_str()));
    let mut activated = false;
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

/// The devices of those of `profiles` that NetworkManager does not have.
pub(super) async fn gone(
    net: &Clients<'_>,
    profiles: &[Active],
) -> Result<Vec<String>, NetworkError> {
    let there = net.bus.profiles().await?;
    let is_gone = |profile: &&Active| there.iter().all(|it| it.uuid != profile.uuid);
    Ok(profiles.iter().filter(is_gone).map(|profile| profile.device.clone()).collect())
}
