//! Verification by events: after each change of the kernel or NetworkManager the cheap checks first
//! (static addresses present and usable), then nmstate's full state.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    NetworkError, Result,
    clients::Clients,
    readiness,
    wait::{Changes, wait_until},
};
use crate::{
    client::dbus::DeviceState,
    model::{Address, Dynamic, Link, OnLink, Route, Wants},
    state::State,
};

/// Maximum time between two checks: NetworkManager finishes some work (DNS, profile flags) without
/// a subscribed signal.
const AT_LEAST: Duration = Duration::from_millis(500);

/// Events come in bursts; wait for the end of a burst before the expensive check.
const BURST: Duration = Duration::from_millis(5);

/// The state that a change is compared with.
#[allow(clippy::large_enum_variant, reason = "there is one of it")]
pub(super) enum Compared {
    /// nmstate's full state, if it was read while the kernel was still incomplete.
    Whole(Option<State>),
    /// The kernel's and Open vSwitch's, and nmstate's full state where they lack something. Profiles are proved by themselves.
    KernelFirst,
}

impl Compared {
    /// Keeps a full state for the next look.
    fn keep(&mut self, state: State) {
        if let Self::Whole(early) = self {
            *early = Some(state);
        }
    }
}

/// Reason to look again.
enum Lacking {
    /// A missing part of the document.
    Part(NetworkError),
    /// Optional links without an address that have a carrier: the network may still answer.
    Optional(Vec<String>),
}

pub(super) async fn verify(
    net: &Clients<'_>,
    desired: &State,
    wants: &Wants,
    bound: Duration,
    mut compared: Compared,
) -> Result {
    let mut changes = Changes::of_both(&net.bus).await?.at_least_every(AT_LEAST);
    let mut is_first = true;
    let mut patience = Patience::of(bound);
    let seen = wait_until(&mut changes, Instant::now() + bound, async || {
        if !std::mem::take(&mut is_first) {
            tokio::time::sleep(BURST).await;
        }
        let lacking = match look(net, desired, wants, &mut compared).await {
            Ok(silent) => match has_carrier(net, &silent).await {
                Ok(false) => return Ok(Ok(silent)),
                Ok(true) => return Ok(Err(Lacking::Optional(silent))),
                Err(error) => error,
            },
            Err(fatal @ NetworkError::Duplicate { .. }) => return Err(fatal),
            Err(lacking) => lacking,
        };
        tracing::debug!("{lacking}");
        let is_old = matches!(lacking, NetworkError::Missing { .. })
            && patience.is_over(&lacking.to_string(), Instant::now());
        // NetworkManager may be about to start again.
        if is_old && matches!(is_under_way(net, wants).await, Ok(false)) {
            return Err(lacking);
        }
        Ok(Err(Lacking::Part(lacking)))
    });
    match seen.await? {
        Ok(silent) | Err(Lacking::Optional(silent)) => {
            if !silent.is_empty() {
                tracing::warn!(
                    "no address came from the network on {}, which is no uplink; going on",
                    silent.join(", ")
                );
            }
            Ok(())
        }
        Err(Lacking::Part(lacking)) => Err(lacking),
    }
}

/// How long a difference may stay the same, if nothing is under way that may close it.
struct Patience {
    quiet: Duration,
    since: Option<(String, Instant)>,
}

impl Patience {
    /// nmstate looks five times, once a second; a node with a longer bound is slower.
    fn of(bound: Duration) -> Self {
        let quiet = (bound / 9).max((bound / 6).min(Duration::from_secs(10)));
        Self { quiet: quiet.max(Duration::from_secs(5)), since: None }
    }

    /// Whether `lacking` has been the same for long enough. Then it counts anew.
    fn is_over(&mut self, lacking: &str, now: Instant) -> bool {
        match &self.since {
            Some((before, since)) if before == lacking && now < *since + self.quiet => false,
            Some((before, _)) if before == lacking => {
                self.since = None;
                true
            }
            Some(_) | None => {
                self.since = Some((lacking.to_owned(), now));
                false
            }
        }
    }
}

/// Whether NetworkManager or the kernel still works on the document's interfaces: an activation, the detection of duplicate
/// addresses, a card that is about to get its carrier.
async fn is_under_way(net: &Clients<'_>, wants: &Wants) -> Result<bool> {
    let is_meant = |name: &String| wants.links.contains(name) || wants.bridge_ports.contains(name);
    let addresses = net.netlink.addresses().await?;
    let links = net.netlink.links().await?;
    if addresses
        .iter()
        .any(|address| address.tentative && !address.duplicate && is_meant(&address.on.link))
        || links.iter().any(|link| {
            link.physical && link.is_set_up && !link.has_carrier && is_meant(&link.name)
        })
    {
        return Ok(true);
    }
    for name in wants.links.iter().chain(&wants.bridge_ports) {
        if net.bus.device_state(name).await? == DeviceState::UnderWay {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the network may still answer on one of these links.
async fn has_carrier(net: &Clients<'_>, links: &[String]) -> Result<bool> {
    if links.is_empty() {
        return Ok(false);
    }
    let known = net.netlink.links().await?;
    Ok(known.iter().any(|link| link.has_carrier && links.contains(&link.name)))
}

/// Whether the kernel has each of these links. Open vSwitch makes its interfaces some 0.1 s after NetworkManager has asked for
/// them: a state that is read before lacks them, and has to be read again.
async fn are_made(net: &Clients<'_>, names: &[String]) -> Result<bool> {
    if names.is_empty() {
        return Ok(true);
    }
    let links = net.netlink.links().await?;
    Ok(names.iter().all(|name| links.iter().any(|link| link.name == *name)))
}

/// With [`Compared::Whole`] nmstate's full state is read while the kernel is still incomplete. NetworkManager then
/// waits for duplicate address detection (0.2 s) or for a lease, long enough to read that state. Once the kernel
/// is complete, only its state and Open vSwitch's are read again: the rest of NetworkManager's
/// state comes from its profiles, which have not changed since.
///
/// Returns the optional links that have no address from the network.
async fn look(
    net: &Clients<'_>,
    desired: &State,
    wants: &Wants,
    compared: &mut Compared,
) -> Result<Vec<String>> {
    let addresses = net.netlink.addresses().await?;
    if let Some(address) = addresses.iter().find(|a| a.duplicate && wants.addresses.contains(&a.on))
    {
        return Err(NetworkError::Duplicate { address: address.on.clone() });
    }
    let links = match addresses.iter().any(|address| address.tentative) {
        true => net.netlink.links().await?,
        false => Vec::new(),
    };
    let mut missing = missing(wants, &addresses, &links);
    if missing.is_empty() {
        missing = missing_routes(wants, &net.netlink.default_routes().await?);
    }
    if !missing.is_empty() {
        if matches!(compared, Compared::Whole(None))
            && wants.dynamic.is_empty()
            && are_made(net, &wants.ovs_interfaces).await?
        {
            compared.keep(State::retrieve().await?);
        }
        return Err(NetworkError::Missing { subjects: missing.join(", ") });
    }
    // ovs-vswitchd that starts again makes its links as the database has them, and a change that NetworkManager sent to a database
    // that ended is lost: the kernel shows the MTU until then.
    if wants.ovs {
        readiness::open_vswitch(net, &|_, _| {}).await?;
    }
    let (optional, needed): (Vec<Dynamic>, Vec<Dynamic>) =
        wants.dynamic.iter().cloned().partition(|dynamic| dynamic.is_optional);
    let no_lease = |waiting: Vec<String>| NetworkError::NoLease { links: waiting.join(", ") };
    let early = match compared {
        Compared::KernelFirst => Some(State::retrieve_kernel().await?),
        Compared::Whole(early) => match early.take() {
            Some(early) => early.with_newer(&State::retrieve_kernel().await?, desired),
            None => None,
        },
    };
    if let Some(current) = early {
        let waiting = current.without_address(&needed);
        if !waiting.is_empty() {
            compared.keep(current);
            return Err(no_lease(waiting));
        }
        if desired.missing_in(&current)?.is_none() {
            return Ok(current.without_address(&optional));
        }
    }
    let current = State::retrieve().await?;
    let waiting = current.without_address(&needed);
    if !waiting.is_empty() {
        if are_made(net, &wants.ovs_interfaces).await? {
            compared.keep(current);
        }
        return Err(no_lease(waiting));
    }
    match desired.missing_in(&current)? {
        None => Ok(current.without_address(&optional)),
        Some(diff) => {
            if let Ok(yaml) = diff.to_shown_yaml() {
                tracing::debug!("the current state lacks:\n{yaml}");
            }
            Err(NetworkError::Missing { subjects: diff.subjects().join(", ") })
        }
    }
}

/// Static addresses that are missing or not usable yet. Compares only the address: a document that
/// identifies its interface by MAC address uses another name than the kernel. The uplink's gateway is asked afterwards.
fn missing(wants: &Wants, addresses: &[Address], links: &[Link]) -> Vec<String> {
    let is_there = |address: &Address, wanted: &OnLink| {
        address.on.ip == wanted.ip
            && address.on.prefix == wanted.prefix
            && address.is_settled(links)
    };
    let lacks = |wanted: &&OnLink| !addresses.iter().any(|address| is_there(address, wanted));
    wants.addresses.iter().filter(lacks).map(ToString::to_string).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_that_stays_is_final_long_before_the_bound() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut patience = Patience::of(90 * second);
        assert!(!patience.is_over("mtu", start));
        assert!(!patience.is_over("mtu", start + 9 * second));
        assert!(patience.is_over("mtu", start + 10 * second));
        // Where something is under way, it waits once more.
        assert!(!patience.is_over("mtu", start + 11 * second));
        // Each change counts anew.
        assert!(!patience.is_over("dns-resolver", start + 20 * second));
        assert!(!patience.is_over("dns-resolver", start + 29 * second));
        assert!(patience.is_over("dns-resolver", start + 30 * second));
        let mut short = Patience::of(4 * second);
        assert!(!short.is_over("mtu", start) && !short.is_over("mtu", start + 4 * second));
    }
}
