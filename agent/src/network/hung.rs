//! Interfaces of Open vSwitch that NetworkManager leaves in the middle for good.
//!
//! In "prepare": before 1.50.3 NetworkManager activates such an interface, for the sake of its port, while it still removes its own
//! bridges of the boot before from Open vSwitch's database: the port begins anew, and the interface waits for the port of before
//! (`autoconnect-ports`, which nmstate sets). Another activation finds the port that is there. Or the removal takes the device
//! away under the activation that has just begun: then there is neither a device nor an activation, until somebody asks for one.
//!
//! In "ip-config": a start of NetworkManager, 1.52 too, may take the link of before for the interface's while Open vSwitch replaces
//! it, and wait for the link that is gone. So may the second of two activations in a row, as nmstate asks for them: Open vSwitch
//! sees a port that went and came at once, and leaves its link. The link may even be up from before; then it lacks the addresses of
//! its profile. Another activation takes the link that is there.

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
use crate::{
    client::{dbus::Waiting, ovsdb::Ovsdb},
    model::Active,
};

/// An interface whose port is activated leaves "prepare" as soon as NetworkManager comes to it; two
/// answers this far apart show that it has done other things meanwhile.
const HANGS: Duration = Duration::from_secs(1);

/// Most waits are over by then, and whatever hangs does so for good: nothing is asked for its sake before.
const BEGINS: Duration = Duration::from_millis(200);

/// A deactivation takes milliseconds, and as long as a script of the dispatcher takes.
const DEACTIVATION: Duration = Duration::from_secs(5);

/// Open vSwitch carries a change out within milliseconds.
const CARRIED_OUT: Duration = Duration::from_secs(2);

/// Returns why only a new start of NetworkManager helps, if it does not end the deactivation of one of these interfaces of Open
/// vSwitch. NetworkManager awaits the end of the link, and if Open vSwitch's database refused the deletion, as on a full disk, the
/// link stays. Each further activation waits behind it.
pub(super) async fn endless_deactivation(
    net: &Clients<'_>,
    interfaces: &[impl AsRef<str>],
) -> Result<Option<String>> {
    let held = async || -> Result<Vec<String>> {
        let mut held = net.bus.deactivating_interfaces().await?;
        held.retain(|name| interfaces.iter().any(|interface| interface.as_ref() == name));
        Ok(held)
    };
    if held().await?.is_empty() {
        return Ok(None);
    }
    let mut changes = Changes::of_manager(&net.bus).await?;
    let ended = wait_until(&mut changes, Instant::now() + DEACTIVATION, async || {
        let held = held().await?;
        Ok(if held.is_empty() { Ok(()) } else { Err(held) })
    });
    let Err(held) = ended.await? else { return Ok(None) };
    if let Err(late) = carried_out(net).await {
        tracing::warn!("{}; going on", chain(&late));
        return Ok(None);
    }
    Ok(Some(format!("NetworkManager does not end the deactivation of {}", held.join(", "))))
}

/// Waits until Open vSwitch has carried out what its database has. One that hangs, or that cannot write its database, ends what
/// NetworkManager waits for once it goes on.
async fn carried_out(net: &Clients<'_>) -> Result {
    let mut ovsdb = Ovsdb::connect(&net.paths.ovsdb_socket()).await?;
    Ok(ovsdb.carried_out(CARRIED_OUT).await?)
}

/// Does `work`, and activates meanwhile whatever hangs.
pub(super) async fn released<T>(net: &Clients<'_>, work: impl Future<Output = T>) -> T {
    let aid = async {
        tokio::time::sleep(BEGINS).await;
        loop {
            release(net, &[]).await?;
        }
    };
    // The work of a whole phase: on the heap, since each caller up to the main thread would have it on its stack.
    beside(Box::pin(work), aid).await
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
        let links = net.netlink.links().await?;
        let addresses = net.netlink.addresses_of(&links).await?;
        let now = net.bus.waiting_for_ports_that_are_up(expected, &links, &addresses).await?;
        let mut hung: Vec<&Waiting> =
            now.iter().filter(|waiting| before.contains(waiting)).collect();
        if !hung.is_empty()
            && let Err(late) = carried_out(net).await
        {
            tracing::debug!("{}; waiting for it", chain(&late));
            hung.clear();
        }
        for waiting in &hung {
            let device = &waiting.active.device;
            tracing::warn!(
                "NetworkManager waits for {device} beside its port; activating it again"
            );
            net.bus.activate(&waiting.active).await?;
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
