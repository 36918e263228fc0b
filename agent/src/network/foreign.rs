//! Addresses of others on the document's interfaces: found before, kept through an apply.

use super::{NetworkError, clients::Clients};
use crate::{
    client::netlink::{Address, Events},
    wants::Wants,
};

/// Addresses on the document's interfaces that no profile and no lease put there: a
/// keepalived VIP, say. nmstate would neither list nor keep them: reapplying a profile makes
/// NetworkManager remove what the profile does not have.
pub(super) async fn find(
    net: &Clients<'_>,
    wants: &Wants,
    all: &[Address],
) -> Result<Vec<Address>, NetworkError> {
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
        let candidates = all.iter().filter(|a| {
            a.on.link == *link
                && a.global
                && !a.dynamic
                && with_ip.contains(&(link, a.on.ip.is_ipv4()))
                && !wants.addresses.contains(&a.on)
        });
        let candidates: Vec<&Address> = candidates.collect();
        if candidates.is_empty() {
            continue;
        }
        let profile = net.bus.profile_addresses(link).await?;
        found.extend(candidates.into_iter().filter(|a| !profile.contains(&a.on.ip)).cloned());
    }
    Ok(found)
}

/// Never returns: puts addresses of others back as soon as the kernel reports their loss, since
/// what a VIP serves is down as long as the VIP is away.
pub(super) async fn guard(
    net: &Clients<'_>,
    foreign: &[Address],
) -> Result<std::convert::Infallible, NetworkError> {
    if foreign.is_empty() {
        return std::future::pending().await;
    }
    let mut events = Events::addresses()?;
    loop {
        // The interface may be down or gone for a moment; its return is an event too.
        if let Err(error) = put_back(net, foreign).await {
            tracing::debug!("{error}");
        }
        events.changed().await?;
    }
}

/// Puts lost addresses of others back.
pub(super) async fn put_back(net: &Clients<'_>, foreign: &[Address]) -> Result<(), NetworkError> {
    if foreign.is_empty() {
        return Ok(());
    }
    let now = net.netlink.addresses().await?;
    for address in foreign.iter().filter(|f| !now.iter().any(|a| a.on == f.on)) {
        net.netlink.put_back(address).await?;
        tracing::info!(address = %address.on, "an address of someone else's was put back");
    }
    Ok(())
}
