//! Foreign addresses on the document's interfaces: found before an apply, kept through it.

use super::{NetworkError, clients::Clients};
use crate::{
    client::netlink::{Events, KeptAddress},
    model::Wants,
};

/// Addresses on the document's interfaces from neither a profile nor a lease, such as a keepalived
/// VIP. nmstate neither lists nor keeps them: a reapply makes NetworkManager remove addresses that
/// the profile lacks.
pub(super) async fn find(
    net: &Clients<'_>,
    wants: &Wants,
    all: &[KeptAddress],
) -> Result<Vec<KeptAddress>, NetworkError> {
    let mut found = Vec::new();
    let with_ip = wants
        .addresses
        .iter()
        .map(|a| (&a.link, a.ip.is_ipv4()))
        .chain(wants.dynamic.iter().filter(|d| d.v4).map(|d| (&d.link, true)))
        .chain(wants.dynamic.iter().filter(|d| d.v6).map(|d| (&d.link, false)));
    let with_ip: Vec<(&String, bool)> = with_ip.collect();
    let mut links: Vec<&String> = with_ip.iter().map(|(link, _)| *link).collect();
    links.sort_unstable();
    links.dedup();
    for link in links {
        let candidates = all.iter().filter(|KeptAddress { address: a, .. }| {
            a.on.link == *link
                && a.is_global()
                && !a.dynamic
                && with_ip.contains(&(link, a.on.ip.is_ipv4()))
                && !wants.addresses.contains(&a.on)
        });
        let candidates: Vec<&KeptAddress> = candidates.collect();
        if candidates.is_empty() {
            continue;
        }
        let own = net.bus.own_addresses(link).await?;
        found.extend(candidates.into_iter().filter(|a| !own.contains(&a.address.on.ip)).cloned());
    }
    Ok(found)
}

/// Restores foreign addresses as soon as the kernel reports their loss, since a service is down
/// without its VIP. Returns only on an error.
pub(super) async fn guard(
    net: &Clients<'_>,
    foreign: &[KeptAddress],
) -> Result<std::convert::Infallible, NetworkError> {
    if foreign.is_empty() {
        return std::future::pending().await;
    }
    let mut events = Events::addresses()?;
    loop {
        // The interface may be down or gone briefly; its return is another event.
        if let Err(error) = put_back(net, foreign).await {
            tracing::debug!("{error}");
        }
        events.changed().await?;
    }
}

/// Restores lost foreign addresses.
pub(super) async fn put_back(
    net: &Clients<'_>,
    foreign: &[KeptAddress],
) -> Result<(), NetworkError> {
    if foreign.is_empty() {
        return Ok(());
    }
    let now = net.netlink.addresses().await?;
    for lost in foreign.iter().filter(|f| !now.iter().any(|a| a.on == f.address.on)) {
        net.netlink.put_back(lost).await?;
        tracing::info!(address = %lost.address.on, "restored an address of another program");
    }
    Ok(())
}
