//! Foreign addresses: found before an apply, and kept through it on the document's interfaces.

use super::{Result, clients::Clients};
use crate::{
    client::netlink::{Events, KeptAddress},
    model::{Active, Wants},
};

/// Addresses of global scope from neither a profile nor a lease, such as a keepalived VIP.
pub(super) async fn find(
    net: &Clients<'_>,
    active: &[Active],
    all: &[KeptAddress],
) -> Result<Vec<KeptAddress>> {
    let is_fixed = |kept: &&KeptAddress| kept.address.is_global() && !kept.address.dynamic;
    let fixed: Vec<&KeptAddress> = all.iter().filter(is_fixed).collect();
    let mut links: Vec<&String> = fixed.iter().map(|kept| &kept.address.on.link).collect();
    links.sort_unstable();
    links.dedup();
    let mut found = Vec::new();
    for link in links {
        let own = match active.iter().any(|profile| profile.device == *link) {
            true => net.bus.own_addresses(link).await?,
            false => Vec::new(),
        };
        let on_link = fixed.iter().filter(|kept_address| kept_address.address.on.link == *link);
        let foreign = on_link.filter(|kept| !own.contains(&kept.address.on.ip));
        found.extend(foreign.map(|kept| (*kept).clone()));
    }
    Ok(found)
}

/// Addresses of `foreign` on the document's interfaces. nmstate neither lists nor keeps them: a reapply makes NetworkManager
/// remove addresses that the profile lacks.
pub(super) fn of_document(foreign: &[KeptAddress], wants: &Wants) -> Vec<KeptAddress> {
    let with_ip = wants
        .addresses
        .iter()
        .map(|a| (&a.link, a.ip.is_ipv4()))
        .chain(wants.dynamic.iter().filter(|d| d.v4).map(|d| (&d.link, true)))
        .chain(wants.dynamic.iter().filter(|d| d.v6).map(|d| (&d.link, false)));
    let with_ip: Vec<(&String, bool)> = with_ip.collect();
    let stays = |KeptAddress { address: a, .. }: &&KeptAddress| {
        with_ip.contains(&(&a.on.link, a.on.ip.is_ipv4())) && !wants.addresses.contains(&a.on)
    };
    foreign.iter().filter(stays).cloned().collect()
}

/// Restores foreign addresses as soon as the kernel reports their loss, since a service is down
/// without its VIP. Returns only on an error.
pub(super) async fn guard(
    net: &Clients<'_>,
    foreign: &[KeptAddress],
) -> Result<std::convert::Infallible> {
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
pub(super) async fn put_back(net: &Clients<'_>, foreign: &[KeptAddress]) -> Result {
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
