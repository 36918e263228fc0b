//! What other programs have on the document's interfaces besides addresses: routes, permanent neighbours, forwarding, and addresses
//! that are bound to a bridge's local port. An activation that makes an interface anew takes them along, and FRR or OVN-Kubernetes
//! learn of it late or not at all.

use std::{fs, path::PathBuf};

use nmgen::chain;

use super::{NetworkError, clients::Clients};
use crate::{
    client::{
        netlink::{KeptNeighbour, KeptRoute},
        vswitchd,
    },
    model::{Link, Mac},
    paths::{Paths, cannot},
    warn::OrWarn as _,
};

/// What it was before a change.
#[derive(Clone, Debug, Default)]
pub(super) struct OfOthers {
    routes: Vec<KeptRoute>,
    neighbours: Vec<KeptNeighbour>,
    forwarding: Vec<Forwarding>,
    bound: Vec<BoundAddress>,
}

/// A MAC address that Open vSwitch sends to a bridge's local port, whatever it learns: OVN's gateway router has br-ex's.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BoundAddress {
    bridge: String,
    vlan: u16,
    mac: Mac,
}

/// A link that forwards packets of a family. A new link of the name has the default, which may be not to.
#[derive(Clone, Debug)]
struct Forwarding {
    link: Link,
    switch: PathBuf,
}

impl OfOthers {
    /// Returns what they have on those of `links` with a name in `over`, and on these bridges.
    pub(super) async fn of(
        net: &Clients<'_>,
        links: &[Link],
        over: &[String],
        bridges: &[String],
    ) -> Result<Self, NetworkError> {
        Ok(Self {
            routes: net.netlink.routes_of_others(links, over).await?,
            neighbours: net.netlink.permanent_neighbours(links, over).await?,
            forwarding: forwarding(net.paths, links, over),
            bound: bound(net.paths, bridges).await,
        })
    }

    /// Restores what is over `links` alone, or everything without them. A refusal is told: no part of the change depends on it.
    pub(super) async fn put_back(mut self, net: &Clients<'_>, over: Option<&[&str]>) {
        let is_over = |link: &str| over.is_none_or(|over| over.contains(&link));
        self.routes.retain(|route| over.is_none_or(|over| route.is_over(over)));
        self.neighbours.retain(|neighbour| is_over(&neighbour.link));
        self.forwarding.retain(|forwarding| is_over(&forwarding.link.name));
        self.bound.retain(|bound| is_over(&bound.bridge));
        let Self { routes, neighbours, forwarding, bound } = &self;
        if routes.is_empty() && neighbours.is_empty() && forwarding.is_empty() && bound.is_empty() {
            return;
        }
        let Some(links) = net.netlink.links().await.or_warn() else { return };
        for switch in forwarding.iter().filter_map(|forwarding| forwarding.lost(&links)) {
            fs::write(switch, "1\n").map_err(cannot("write", switch)).or_warn();
        }
        for neighbour in neighbours {
            net.netlink.put_back_neighbour(neighbour, &links).await.or_warn();
        }
        put_back_routes(net, routes, &links).await;
        put_back_bound(net.paths, bound, &links).await;
    }
}

/// Restores routes.
async fn put_back_routes(net: &Clients<'_>, routes: &[KeptRoute], links: &[Link]) {
    let mut refused: Vec<&KeptRoute> = routes.iter().collect();
    // A gateway may be known by another one of them.
    for is_last in [false, true] {
        for route in std::mem::take(&mut refused) {
            let done = net.netlink.put_back_route(route, links).await;
            if is_last {
                done.or_warn();
            } else if done.is_err() {
                refused.push(route);
            }
        }
    }
}

/// Returns the addresses bound to the local ports of these bridges; none if Open vSwitch does not answer.
async fn bound(paths: &Paths, bridges: &[String]) -> Vec<BoundAddress> {
    let Some(socket) = control_socket(paths) else { return Vec::new() };
    let mut all = Vec::new();
    for bridge in bridges {
        match vswitchd::static_addresses(&socket, bridge).await {
            Ok(found) => all.extend(found.into_iter().map(|(vlan, mac)| BoundAddress {
                bridge: bridge.clone(),
                vlan,
                mac,
            })),
            Err(error) => tracing::debug!("{bridge}: {}", chain(&error)),
        }
    }
    all
}

/// Returns the control socket of ovs-vswitchd, if that runs.
fn control_socket(paths: &Paths) -> Option<PathBuf> {
    let pid = fs::read_to_string(paths.ovs_vswitchd_pid()).ok()?;
    Some(paths.ovs_vswitchd_control(pid.trim()))
}

/// Restores addresses that the bridge's link still has.
async fn put_back_bound(paths: &Paths, wanted: &[BoundAddress], links: &[Link]) {
    let Some(socket) = control_socket(paths) else { return };
    for lost in wanted {
        let is_its = |link: &Link| link.name == lost.bridge && link.mac.as_ref() == Some(&lost.mac);
        if !links.iter().any(is_its)
            || bound(paths, std::slice::from_ref(&lost.bridge)).await.contains(lost)
        {
            continue;
        }
        let BoundAddress { bridge, vlan, mac } = lost;
        let done = vswitchd::add_static_address(&socket, bridge, *vlan, mac).await;
        done.or_warn_of(&format!("cannot bind {mac} to {bridge} again"));
    }
}

/// Returns the links among these that forward packets, once for each family.
fn forwarding(paths: &Paths, links: &[Link], over: &[String]) -> Vec<Forwarding> {
    let of = |link: &Link| {
        let switches = paths.forwarding(&link.name);
        let link = link.clone();
        switches
            .into_iter()
            .filter(|switch| fs::read_to_string(switch).is_ok_and(|text| text.trim() == "1"))
            .map(move |switch| Forwarding { link: link.clone(), switch })
    };
    links.iter().filter(|link| over.contains(&link.name)).flat_map(of).collect()
}

impl Forwarding {
    /// Returns the switch of the link's name if that is another link by now.
    fn lost(&self, links: &[Link]) -> Option<&PathBuf> {
        let now = links.iter().find(|link| link.name == self.link.name)?;
        (now.index != self.link.index).then_some(&self.switch)
    }
}

#[cfg(test)]
mod tests {
    use std::{error::Error, fs};

    use super::forwarding;
    use crate::{model::Link, paths::Paths};

    fn link(name: &str, index: u32) -> Link {
        Link { name: name.into(), index, ..Link::default() }
    }

    #[test]
    fn a_link_that_was_made_anew_forwards_again() -> Result<(), Box<dyn Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        for (name, value) in [("br-ex", "1\n"), ("eno1", "0\n"), ("mp0", "1\n")] {
            let [ipv4, _] = paths.forwarding(name);
            fs::create_dir_all(ipv4.parent().unwrap_or(&ipv4))?;
            fs::write(ipv4, value)?;
        }
        let before = [link("br-ex", 4), link("eno1", 2), link("mp0", 5)];
        let kept = forwarding(&paths, &before, &["br-ex".into(), "eno1".into()]);
        let lost = |links: &[Link]| -> Vec<_> {
            kept.iter().filter_map(|forwarding| forwarding.lost(links).cloned()).collect()
        };
        assert!(lost(&before).is_empty());
        assert!(lost(&before[1..]).is_empty());
        let [ipv4, _] = paths.forwarding("br-ex");
        assert_eq!(lost(&[link("br-ex", 9), link("eno1", 2)]), [ipv4]);
        Ok(())
    }
}
