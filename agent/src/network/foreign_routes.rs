//! Routes of other programs over the document's interfaces, kept through an apply and a roll back:
//! an activation that makes an interface anew takes them along, and FRR or OVN-Kubernetes learn of it
//! late or not at all.

use nmgen::chain;

use super::clients::Clients;
use crate::client::netlink::KeptRoute;

/// Restores them. A refusal is told: no part of the change depends on them.
pub(super) async fn put_back(net: &Clients<'_>, routes: &[KeptRoute]) {
    if routes.is_empty() {
        return;
    }
    let links = match net.netlink.links().await {
        Ok(links) => links,
        Err(error) => return tracing::warn!("{}", chain(&error)),
    };
    let mut refused: Vec<&KeptRoute> = routes.iter().collect();
    // A gateway may be known by another one of them.
    for is_last in [false, true] {
        for route in std::mem::take(&mut refused) {
            match net.netlink.put_back_route(route, &links).await {
                Ok(()) => {}
                Err(error) if is_last => tracing::warn!("{}", chain(&error)),
                Err(_) => refused.push(route),
            }
        }
    }
}
