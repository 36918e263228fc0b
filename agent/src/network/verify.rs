//! Verification by events: after each change of the kernel's or NetworkManager's the cheap
//! questions first (are the static addresses there and usable?), then nmstate's whole view.

use std::time::Duration;

use tokio::time::Instant;

use super::{NetworkError, clients::Clients};
use crate::{
    client::netlink::{Address, DefaultRoute, Events},
    state::State,
    wants::Wants,
};

/// Looked at again after this, event or none: NetworkManager finishes some things (DNS, profile
/// flags) without a signal we subscribe to.
const AT_LEAST: Duration = Duration::from_millis(500);

/// Events come in bursts; the burst is let pass before the expensive look.
const BURST: Duration = Duration::from_millis(5);

pub(super) async fn verify(
    net: &Clients<'_>,
    desired: &State,
    wants: &Wants,
    bound: Duration,
) -> Result<(), NetworkError> {
    let deadline = Instant::now() + bound;
    let mut events = Events::subscribe()?;
    let mut signals = net.bus.signals().await?;
    let mut early = None;
    loop {
        let lacking = match look(net, desired, wants, &mut early).await {
            Ok(()) => return Ok(()),
            Err(fatal @ NetworkError::Duplicate { .. }) => return Err(fatal),
            Err(lacking) => lacking,
        };
        tracing::debug!("{lacking}");
        let again = (Instant::now() + AT_LEAST).min(deadline);
        tokio::select! {
            changed = events.changed() => changed?,
            changed = signals.changed() => changed?,
            () = tokio::time::sleep_until(again) => {}
        }
        if Instant::now() >= deadline {
            return Err(lacking);
        }
        tokio::time::sleep(BURST).await;
    }
}

/// `early`: nmstate's view as it was while the kernel still lacked something. NetworkManager
/// waits for duplicate address detection then (0.2 s), which is time enough for that view. Once
/// the kernel has everything only it and Open vSwitch are asked again: what NetworkManager says
/// beyond them is what its profiles say, and those nobody has changed since.
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

/// Static addresses that are not there or not usable yet. A document that names its interface by
/// MAC address has another name for it than the kernel, so the address alone counts.
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
fn missing_routes(wants: &Wants, routes: &[DefaultRoute]) -> Vec<String> {
    wants
        .gateways
        .iter()
        .filter(|w| !routes.iter().any(|r| r.gateway == w.ip))
        .map(|w| format!("the default route by {}", w.ip))
        .collect()
}
