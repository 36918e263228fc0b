//! Waiting for the uplink of br-ex by events, and the plan.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    NetworkError, Result, Say, cards,
    clients::Clients,
    readiness,
    wait::{Changes, wait_until},
};
use crate::{
    bridge::{
        error::BridgeError,
        families,
        gather::gather,
        inputs::Inputs,
        plan::BridgePlan,
        planner::plan,
        uplink::{Awaited, Choice, Patience, choose},
    },
    client::dbus::DeviceState,
    settings::Settings,
};

/// How long the other family is waited for: an answer to DHCP takes up to 3 s where the server looks for duplicates first.
const OTHER_FAMILY: Duration = Duration::from_secs(5);

/// NetworkManager has set up its cards by then, and a default route of a static address is there. A card that is down and
/// unavailable afterwards stays so: NetworkManager sets it up only when it starts.
const SET_UP: Duration = Duration::from_secs(2);

/// Reports go to systemd this often.
const TICK: Duration = Duration::from_secs(1);

/// Returns the plan once the uplink is decided and NetworkManager is done with it. `earlier` is the uplink that a default route
/// chose earlier in this boot.
pub(super) async fn planned(
    net: &Clients<'_>,
    settings: &Settings,
    earlier: Option<&str>,
    say: Say<'_>,
) -> Result<BridgePlan> {
    readiness::network_manager_and_ovsdb(net, say).await?;
    let start = Instant::now();
    let deadline = start + settings.wait.uplink.get();
    let mut changes = Changes::of_both(&net.bus).await?.at_least_every(TICK);
    let mut until = None;
    let planned = wait_until(&mut changes, deadline, async || {
        let is_left = Instant::now() < deadline;
        let patience = if is_left { Patience::Left } else { Patience::Over };
        let inputs = gather(net.paths, settings, &net.bus, &net.netlink).await?;
        let inputs = Inputs { earlier: earlier.map(str::to_owned), ..inputs };
        let choice = choose(&inputs, patience);
        if lacks_route(&choice) && (!is_left || start.elapsed() >= SET_UP) {
            cards::set_up_unavailable(net).await?;
        }
        let choice = choice?;
        if let Choice::Decided(uplink) = &choice
            && let Some(family) = families::awaited(&inputs, uplink)
        {
            let until = *until.get_or_insert_with(|| deadline.min(Instant::now() + OTHER_FAMILY));
            let rest = until.saturating_duration_since(Instant::now());
            if !rest.is_zero() {
                let awaited = format!("an {family} address of {}", uplink.link);
                say(&format!("waiting for {awaited}"), rest);
                return Ok(Err(awaited));
            }
        }
        let awaited = match choice {
            Choice::Wait(awaited) => awaited.to_string(),
            Choice::Decided(uplink)
                if is_left
                    && net.bus.device_state(&uplink.link).await? == DeviceState::UnderWay =>
            {
                format!("NetworkManager to be done with {}", uplink.link)
            }
            Choice::Decided(uplink) => match plan(&inputs, uplink) {
                Ok(plan) => return Ok(Ok(plan)),
                // NetworkManager or the kernel may still lift these, at the start of a system.
                Err(error @ (BridgeError::NoProfile { .. } | BridgeError::NoLink { .. }))
                    if is_left =>
                {
                    error.to_string()
                }
                Err(error) => return Err(error.into()),
            },
        };
        let rest = deadline.saturating_duration_since(Instant::now());
        say(&format!("waiting for {awaited}"), rest);
        Ok(Err(awaited))
    });
    let late = |what| NetworkError::NotReady { what, bound: settings.wait.uplink.get() };
    planned.await?.map_err(late)
}

/// Whether the uplink is not known for want of a default route.
fn lacks_route(choice: &Result<Choice, BridgeError>) -> bool {
    match choice {
        Ok(Choice::Wait(awaited)) => !matches!(awaited, Awaited::Link { .. }),
        Ok(Choice::Decided(_)) => false,
        Err(error) => {
            matches!(error, BridgeError::NoDefaultRoute | BridgeError::NoRouteOfEarlier { .. })
        }
    }
}
