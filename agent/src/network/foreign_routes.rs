//! Routes of other programs over the document's interfaces, kept through an apply and a roll back:
//! an activation that makes an interface anew takes them along, and FRR or OVN-Kubernetes learn of it
//! late or not at all.

use super::clients::Clients;
use crate::{client::netlink::KeptRoute, warn::OrWarn as _};

/// Restores them. A refusal is told: no part of the change depends on them.
pub(super) async fn put_back(net: &Clients<'_>, routes: &[KeptRoute]) {
    if routes.is_empty() {
        return;
    }
    let Some(links) = net.netlink.links().await.or_warn() else { return };
    let mut refused: Vec<&KeptRoute> = routes.iter().collect();
    // A gateway may be known by another one of them.
    for is_last in [false, true] {
        for route in std::mem::take(&mut refused) {
            let done = net.netlink.put_back_route(route, &links).await;
            if is_last {
                done.or_warn();
            } else if done.is_err() {
                refused.push(route);
            }
        }
    }
}
