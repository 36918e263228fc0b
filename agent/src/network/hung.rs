//! Interfaces of Open vSwitch that NetworkManager leaves in the middle for good.
//!
//! In "prepare": before 1.50.3 NetworkManager activates such an interface, for the sake of its port, while it still removes its own
//! bridges of the boot before from Open vSwitch's database: the port begins anew, and the interface waits for the port of before
//! (`autoconnect-ports`, which nmstate sets). Another activation finds the port that is there. Or the removal takes the device
//! away under the activation that has just begun: then there is neither a device nor an activation, until somebody asks for one.

use std::{
    convert::Infallible,
    future::{Future, pending},
    time::Duration,
};

use nmgen::chain;
use tokio::time::Instant;

use super::{
    Result,
    clients::Clients,
    wait::{Changes, wait_until},
};
use crate::{client::dbus::Waiting, model::Active};

/// An interface whose port is activated leaves "prepare" as soon as NetworkManager comes to it; two
/// answers this far apart show that it has done other things meanwhile.
const HANGS: Duration = Duration::from_secs(1);

/// Most waits are over by then, and whatever hangs does so for good: nothing is asked for its sake before.
const BEGINS: Duration = Duration::from_millis(200);

/// A deactivation takes milliseconds, and as long as a script of the dispatcher takes.
const DEACTIVATION: Duration = Duration::from_secs(5);

/// Interfaces of Open vSwitch among these whose deactivation has no end: NetworkManager awaits the end of the link, and where
/// Open vSwitch's database refused the deletion, as on a full disk, the link stays. Each further activation waits behind it.
pub(super) async fn in_deactivation(net: &Clients<'_>, interfaces: &[&str]) -> Result<Vec<String>> {
    let mut changes = Changes::of_manager(&net.bus).await?;
    let ended = wait_until(&mut changes, Instant::now() + DEACTIVATION, async || {
        let mut held = net.bus.deactivating_interfaces().await?;
        held.retain(|name| interfaces.contains(&name.as_str()));
        Ok(if held.is_empty() { Ok(()) } else { Err(held) })
    });
    Ok(ended.await?.err().unwrap_or_default())
}

/// Does `work`, and activates meanwhile whatever hangs.
pub(super) async fn released<T>(net: &Clients<'_>, work: impl Future<Output = T>) -> T {
    let aid = async {
        tokio::time::sleep(BEGINS).await;
        loop {
            release(net, &[]).await?;
        }
    };
    beside(work, aid).await
}

/// Does `work`, and meanwhile `aid`, whose failure ends itself alone.
pub(crate) async fn beside<T>(
    work: impl Future<Output = T>,
    aid: impl Future<Output = Result<Infallible>>,
) -> T {
    let never = async {
        let Err(error) = aid.await;
        tracing::debug!("{}; nothing that hangs is sought", chain(&error));
        pending::<Infallible>().await
    };
    tokio::select! {
        biased;
        done = work => done,
        never = never => match never {},
    }
}

/// Returns when it has activated something that hung, with the devices' names. Interfaces without an activation count only among
/// `expected`: somebody may have taken another one down.
pub(super) async fn release(net: &Clients<'_>, expected: &[Active]) -> Result<Vec<String>> {
    net.bus.network_manager().await?;
    let mut signals = net.bus.signals().await?;
    let mut before: Vec<Waiting> = Vec::new();
    loop {
        let now = net.bus.waiting_for_ports_that_are_up(expected).await?;
        let hung: Vec<&Waiting> = now.iter().filter(|waiting| before.contains(waiting)).collect();
        for it in &hung {
            let device = &it.active.device;
            tracing::warn!(
                "NetworkManager leaves {device} down beside its port; activating it again"
            );
            net.bus.activate(&it.active).await?;
        }
        if !hung.is_empty() {
            return Ok(hung.iter().map(|waiting| waiting.active.device.clone()).collect());
        }
        if now.is_empty() {
            signals.changed().await?;
        }
        tokio::time::sleep(HANGS).await;
        before = now;
    }
}
