//! Verification by events: after each change of the kernel or NetworkManager the cheap checks first
//! (static addresses present and usable), then nmstate's full state.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    NetworkError,
    clients::Clients,
    wait::{Changes, wait_until},
};
use crate::{
    model::{Address, Route, Wants},
    state::State,
};

/// Maximum time between two checks: NetworkManager finishes some work (DNS, profile flags) without
/// a subscribed signal.
const AT_LEAST: Duration = Duration::from_millis(500);

/// Events come in bursts; wait for the end of a burst before the expensive check.
const BURST: Duration = Duration::from_millis(5);

pub(super) async fn verify(
    net: &Clients<'_>,
    desired: &State,
    wants: &Wants,
    bound: Duration,
) -> Result<(), NetworkError> {
    let mut changes = Changes::of_both(&net.bus).await?.at_least_every(AT_LEAST);
    let mut early = None;
    let mut is_first = true;
    wait_until(&mut changes, Instant::now() + bound, async || {
        if !std::mem::take(&mut is_first) {
            tokio::time::sleep(BURST).await;
        }
        match look(net, desired, wants, &mut early).await {
            Err(fatal @ NetworkError::Duplicate { .. }) => Err(fatal),
            seen => {
                if let Err(lacking) = &seen {
                    tracing::debug!("{lacking}");
                }
                Ok(seen)
            }
        }
    })
    .await?
}

/// `early`: nmstate's full state, read while the kernel was still incomplete. NetworkManager then
/// waits for duplicate address detection (0.2 s), long enough to read that state. Once the kernel
/// is complete, only its state and Open vSwitch's are read again: the rest of NetworkManager's
/// state comes from its profiles, which have not changed since.
async fn look(
    net: &Clients<'_>,
    desired: &State,
    wants: &Wants,
    early: &mut Option<State>,
) -> Result<(), NetworkError> {
    let addresses = net.netlink.addresses().await?;
    if let Some(address) = addresses.iter().find(|a| a.duplicate && wants.addresses.contains(&a.on))
    {
        return Err(NetworkError::Duplicate { address: address.on.clone() });
    }
    let mut missing = missing(wants, &addresses);
    if missing.is_empty() {
        missing = missing_routes(wants, &net.netlink.default_routes().await?);
    }
    if !missing.is_empty() {
        if early.is_none() && wants.dynamic.is_empty() {
            *early = Some(State::retrieve().await?);
        }
        return Err(NetworkError::Missing { subjects: missing.join(", ") });
    }
    if let Some(early) = early.take()
        && let Some(current) = early.with_newer(&State::retrieve_kernel().await?, desired)
        && desired.missing_in(&current)?.is_none()
    {
        return Ok(());
    }
    let current = State::retrieve().await?;
    let waiting = current.without_address(&wants.dynamic);
    if !waiting.is_empty() {
        return Err(NetworkError::NoLease { links: waiting.join(", ") });
    }
    match desired.missing_in(&current)? {
        None => Ok(()),
        Some(diff) => {
            if let Ok(yaml) = diff.to_shown_yaml() {
                tracing::debug!("the current state lacks:\n{yaml}");
            }
            Err(NetworkError::Missing { subjects: diff.subjects().join(", ") })
        }
    }
}

/// Static addresses that are missing or not usable yet. Compares only the address: a document that
/// identifies its interface by MAC address uses another name than the kernel.
fn missing(wants: &Wants, addresses: &[Address]) -> Vec<String> {
    wants
        .addresses
        .iter()
        .filter(|w| {
            !addresses.iter().any(|a| a.on.ip == w.ip && a.on.prefix == w.prefix && !a.tentative)
        })
        .map(ToString::to_string)
        .collect()
}

/// Default routes that the document names and the kernel lacks.
fn missing_routes(wants: &Wants, routes: &[Route]) -> Vec<String> {
    wants
        .gateways
        .iter()
        .filter(|w| !routes.iter().any(|r| r.gateway == w.ip))
        .map(|w| format!("the default route by {}", w.ip))
        .collect()
}
