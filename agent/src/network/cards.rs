//! Links that something has set down. NetworkManager sets its cards up when it starts and when it
//! activates their profiles, and takes a port of an OVS bridge for active although it is down.

use super::{Result, clients::Clients};
use crate::{
    model::{Active, Link},
    warn::OrWarn as _,
};

/// Sets up the cards that NetworkManager manages and finds unavailable. With the carrier it
/// activates their profiles by itself.
pub(super) async fn set_up_unavailable(net: &Clients<'_>) -> Result {
    for card in net.netlink.links().await?.iter().filter(|link| link.physical && !link.is_set_up) {
        if net.bus.is_unavailable(&card.name).await? {
            set_up(net, card).await;
        }
    }
    Ok(())
}

/// Sets up the links of these profiles; false if all are.
pub(super) async fn set_up_those_of(net: &Clients<'_>, profiles: &[Active]) -> Result<bool> {
    let mut is_done = false;
    for link in net.netlink.links().await?.iter().filter(|link| !link.is_set_up) {
        if profiles.iter().any(|profile| profile.device == link.name) {
            is_done |= set_up(net, link).await;
        }
    }
    Ok(is_done)
}

/// A refusal is told: it must not hide why the link is wanted.
async fn set_up(net: &Clients<'_>, link: &Link) -> bool {
    tracing::warn!("something has set {} down; setting it up", link.name);
    net.netlink.set_up(link).await.or_warn().is_some()
}
