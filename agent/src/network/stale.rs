//! Links of OVS interfaces that Open vSwitch does not have any more. In a userspace datapath an
//! internal interface is a persistent tap device (ovs-vswitchd sets TUNSETPERSIST). It outlives a
//! crash, and the next ovs-vswitchd adopts only those that are still in the database. NetworkManager
//! waits without a bound for the end of such a link before it activates the interface again
//! (`deactivate_async` of its nm-device-ovs-interface.c), while address and route stay; nmstate
//! refuses to make the interface over a tun device of its name.

use nmgen::chain;

use super::{NetworkError, clients::Clients};
use crate::client::{
    netlink::Link,
    ovsdb::{Bridge, Ovsdb},
};

/// Removes such links of these OVS interfaces; true if there were any. A refusal is told: it must
/// not hide why the link is wanted.
pub(super) async fn remove<N: AsRef<str>>(
    net: &Clients<'_>,
    interfaces: &[N],
) -> Result<bool, NetworkError> {
    let mut links = net.netlink.links().await?;
    links.retain(|link| is_suspect(link) && interfaces.iter().any(|it| it.as_ref() == link.name));
    if links.is_empty() {
        return Ok(false);
    }
    let bridges = match Ovsdb::connect(&net.paths.ovsdb_socket()).await {
        Ok(mut ovsdb) => ovsdb.bridges().await?,
        Err(error) => {
            tracing::warn!("{}", chain(&error));
            return Ok(false);
        }
    };
    let mut is_done = false;
    for link in links.iter().filter(|link| !bridges.iter().any(|it| has(it, link))) {
        tracing::warn!("Open vSwitch has left the link {} behind; removing it", link.name);
        match net.netlink.remove(link).await {
            Ok(()) => is_done = true,
            Err(error) => tracing::warn!("{}", chain(&error)),
        }
    }
    Ok(is_done)
}

/// Whether this is a tap device that no process holds.
fn is_suspect(link: &Link) -> bool {
    link.kind.as_deref() == Some("tun") && !link.has_carrier
}

fn has(bridge: &Bridge, link: &Link) -> bool {
    bridge.interfaces().any(|name| name == link.name)
}

#[cfg(test)]
mod tests {
    use super::{Bridge, Link, has, is_suspect};

    fn link(name: &str, kind: Option<&str>, has_carrier: bool) -> Link {
        let kind = kind.map(str::to_owned);
        Link { name: name.to_owned(), kind, has_carrier, ..Link::default() }
    }

    #[test]
    fn a_tap_that_nobody_holds_is_suspect() {
        assert!(is_suspect(&link("br-ex", Some("tun"), false)));
        assert!(!is_suspect(&link("br-ex", Some("tun"), true)), "a process holds it");
        for kind in [None, Some("openvswitch"), Some("dummy")] {
            assert!(!is_suspect(&link("br-ex", kind, false)), "{kind:?}");
        }
    }

    #[test]
    fn an_interface_in_the_database_is_not_stale() {
        let ports = [("eno1", "", None), ("br-ex", "internal", None)];
        let bridge = Bridge::example("br-ex", None, &ports);
        assert!(has(&bridge, &link("br-ex", Some("tun"), false)));
        assert!(!has(&bridge, &link("br-ex1", Some("tun"), false)));
    }
}
