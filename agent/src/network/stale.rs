//! Remains of Open vSwitch in the kernel: links and ports that its database does not have any more.
//! ovs-vswitchd removes them, but one that hangs or is dead does not, nor a new one, which never knew
//! of them.
//!
//! In a userspace datapath an internal interface is a persistent tap device (ovs-vswitchd sets
//! TUNSETPERSIST). NetworkManager waits without a bound for the end of such a link before it
//! activates the interface again (`deactivate_async` of its nm-device-ovs-interface.c), while address
//! and route stay; nmstate refuses to make the interface over a tun device of its name. The kernel's
//! datapath keeps the cards of a bridge, so that the node hears nothing on them; an ovs-vswitchd
//! removes old ports once it has a bridge.

use std::time::Duration;

use nmgen::chain;

use super::{Result, clients::Clients};
use crate::{
    client::{datapath, ovsdb::Ovsdb},
    model::{Before, Bridge, Link},
    warn::OrWarn as _,
};

/// ovs-vswitchd carries a change out within milliseconds, unless it is busy.
const CARRIED_OUT: Duration = Duration::from_secs(5);

/// Takes the old network's cards from the kernel's datapath where ovs-vswitchd does not. Without the
/// database only the old bridges have a right to them.
pub(super) async fn release_cards(
    net: &Clients<'_>,
    before: &Before,
    ovsdb: Option<&mut Ovsdb>,
) -> Result {
    let bridges = match ovsdb {
        Some(ovsdb) => {
            if held(net, before, &ovsdb.bridges().await?).await?.is_empty() {
                return Ok(());
            }
            if let Err(late) = ovsdb.carried_out(CARRIED_OUT).await {
                tracing::warn!("{}; going on", chain(&late));
            }
            ovsdb.bridges().await?
        }
        None => before.bridges.clone(),
    };
    for card in held(net, before, &bridges).await? {
        tracing::warn!("Open vSwitch does not give {card} back; taking it from the datapath");
        datapath::remove_port(&card).await?;
    }
    Ok(())
}

/// The old network's links that are ports of the kernel's datapath and of no bridge.
async fn held(net: &Clients<'_>, before: &Before, bridges: &[Bridge]) -> Result<Vec<String>> {
    let links = net.netlink.links().await?.into_iter();
    Ok(links.filter(|link| is_held(link, before, bridges)).map(|link| link.name).collect())
}

fn is_held(link: &Link, before: &Before, bridges: &[Bridge]) -> bool {
    link.controller.as_deref() == Some(datapath::LINK)
        && before.active.iter().any(|active| active.device == link.name)
        && !bridges.iter().any(|bridge| has(bridge, link))
}

/// Removes tap devices of these OVS interfaces that Open vSwitch does not have; true if there were
/// any. A refusal is told: it must not hide why the link is wanted.
pub(super) async fn remove<N: AsRef<str>>(net: &Clients<'_>, interfaces: &[N]) -> Result<bool> {
    let mut links = net.netlink.links().await?;
    links.retain(|link| is_suspect(link, interfaces));
    if links.is_empty() {
        return Ok(false);
    }
    let ovsdb = Ovsdb::connect(&net.paths.ovsdb_socket()).await;
    let Some(mut ovsdb) = ovsdb.or_warn() else { return Ok(false) };
    let bridges = ovsdb.bridges().await?;
    let mut is_done = false;
    for link in links.iter().filter(|link| !bridges.iter().any(|bridge| has(bridge, link))) {
        tracing::warn!("Open vSwitch has left the link {} behind; removing it", link.name);
        is_done |= net.netlink.remove(link).await.or_warn().is_some();
    }
    Ok(is_done)
}

/// Whether this is a tap device of one of these interfaces, and no process holds it.
fn is_suspect<N: AsRef<str>>(link: &Link, interfaces: &[N]) -> bool {
    link.kind.as_deref() == Some("tun")
        && !link.has_carrier
        && interfaces.iter().any(|interface| interface.as_ref() == link.name)
}

fn has(bridge: &Bridge, link: &Link) -> bool {
    bridge.interfaces().any(|name| name == link.name)
}

#[cfg(test)]
mod tests {
    use super::{Before, Bridge, Link, has, is_held, is_suspect};
    use crate::model::Active;

    fn link(name: &str, kind: Option<&str>, has_carrier: bool) -> Link {
        let kind = kind.map(str::to_owned);
        Link { name: name.to_owned(), kind, has_carrier, ..Link::default() }
    }

    #[test]
    fn a_tap_that_nobody_holds_is_suspect() {
        let interfaces = ["br-ex", "br-ex1"];
        assert!(is_suspect(&link("br-ex", Some("tun"), false), &interfaces));
        assert!(!is_suspect(&link("br-ex", Some("tun"), true), &interfaces), "a process holds it");
        assert!(!is_suspect(&link("tap0", Some("tun"), false), &interfaces), "another program's");
        for kind in [None, Some("openvswitch"), Some("dummy")] {
            assert!(!is_suspect(&link("br-ex", kind, false), &interfaces), "{kind:?}");
        }
    }

    #[test]
    fn an_interface_in_the_database_is_not_stale() {
        let ports = [("eno1", "", None), ("br-ex", "internal", None)];
        let bridge = Bridge::example("br-ex", None, &ports);
        assert!(has(&bridge, &link("br-ex", Some("tun"), false)));
        assert!(!has(&bridge, &link("br-ex1", Some("tun"), false)));
    }

    #[test]
    fn a_card_of_the_old_network_in_the_datapath_and_in_no_bridge_is_held() {
        let card = |name: &str, controller: Option<&str>| {
            let controller = controller.map(str::to_owned);
            Link { name: name.to_owned(), controller, ..Link::default() }
        };
        let profile =
            Active { uuid: "u".to_owned(), device: "eno1".to_owned(), kind: String::new() };
        let before = Before { active: vec![profile], ..Before::default() };
        let bridge = Bridge::example("br-ex", None, &[("eno1", "system", None)]);
        let in_datapath = card("eno1", Some("ovs-system"));
        assert!(is_held(&in_datapath, &before, &[]));
        assert!(!is_held(&in_datapath, &before, &[bridge]), "it is a bridge's");
        assert!(!is_held(&card("eno1", None), &before, &[]), "it is free");
        assert!(!is_held(&card("eno1", Some("bond0")), &before, &[]), "it is a bond's");
        assert!(!is_held(&card("eno2", Some("ovs-system")), &before, &[]), "without a profile");
    }
}
