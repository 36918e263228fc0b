//! Addresses that another machine has too: IPv4 by ARP, IPv6 as duplicate address detection found it.

use std::net::{IpAddr, Ipv4Addr};

use super::{
    facts::WireFacts,
    finding::{Finding, Verdict, Wire},
};
use crate::{
    client::arp,
    model::{Address, Layer, Link, Mac, OnLink, Planned},
};

const ASKED: usize = 32;

pub(super) async fn look(facts: &WireFacts) -> Vec<Finding> {
    let own: &Vec<Mac> = &own(facts);
    let is_asked = |address: &&Address| {
        facts.link(&address.on.link).is_some_and(is_wire) && is_shared(&address.on)
    };
    let asked = facts.addresses.iter().filter(is_asked).take(ASKED);
    let one = |address: &Address| {
        let (link, ip, is_duplicate) = (address.on.link.clone(), address.on.ip, address.duplicate);
        async move {
            match ip {
                IpAddr::V4(ip) => by_arp(&link, &link, ip, own).await,
                IpAddr::V6(_) if is_duplicate => {
                    taken(&link, &link, ip, "by its detection of duplicates")
                }
                IpAddr::V6(_) => free(&link, ip),
            }
        }
    };
    futures_util::future::join_all(asked.map(one)).await
}

/// IPv4 addresses that the node does not have yet, each by ARP on the first link that carries its packets already. The kernel
/// detects duplicates of IPv6 before it uses an address.
pub(super) async fn before_use(planned: &[Planned], facts: &WireFacts) -> Vec<Finding> {
    let own: &Vec<Mac> = &own(facts);
    let asked = planned.iter().filter_map(|planned| question(planned, facts)).take(ASKED);
    let one = |(on, link, ip): (OnLink, String, Ipv4Addr)| async move {
        by_arp(&on.link, &link, ip, own).await
    };
    futures_util::future::join_all(asked.map(one)).await
}

/// The address, the link on which it is asked for, and its IPv4.
fn question(planned: &Planned, facts: &WireFacts) -> Option<(OnLink, String, Ipv4Addr)> {
    let Planned { on, links } = planned;
    let IpAddr::V4(ip) = on.ip else { return None };
    let is_new = !facts.addresses.iter().any(|address| address.on.ip == on.ip);
    let links = links.iter().filter_map(|name| facts.link(name));
    let link = links.filter(|link| is_wire(link)).map(|link| link.name.clone()).next()?;
    (is_new && is_shared(on)).then(|| (on.clone(), link, ip))
}

/// The MAC addresses of this node.
fn own(facts: &WireFacts) -> Vec<Mac> {
    facts.links.iter().flat_map(|link| link.macs().cloned()).collect()
}

/// Whether a link leads to other machines.
pub(super) fn is_wire(link: &Link) -> bool {
    link.layer == Layer::Ethernet && link.has_carrier && link.kind.as_deref() != Some("dummy")
}

/// Whether an address is on a network with others. A prefix of 32 is of a virtual address, which moves on purpose; link-local ones
/// of IPv4 are each node's, for OVN-Kubernetes.
fn is_shared(on: &OnLink) -> bool {
    match on.ip {
        IpAddr::V4(ip) => on.prefix < 32 && !ip.is_link_local() && !ip.is_loopback(),
        IpAddr::V6(_) => true,
    }
}

/// `link` asks for the address, which is or will be that of `owner`.
async fn by_arp(owner: &str, link: &str, ip: Ipv4Addr, own: &[Mac]) -> Finding {
    match arp::other_owner(link, ip, own).await {
        Ok(Some(mac)) => taken(owner, link, ip.into(), &format!("with MAC {mac}")),
        Ok(None) => free(link, ip.into()),
        Err(error) => {
            let detail = format!("{ip} on {link} cannot be asked for: {error}");
            Finding::new(Wire::Duplicate, &ip.to_string(), Verdict::Unknown, detail)
        }
    }
}

fn taken(owner: &str, link: &str, ip: IpAddr, who: &str) -> Finding {
    let place = if owner == link { String::new() } else { format!(", on {link}") };
    let detail = format!("another machine has {ip} of {owner} too ({who}{place})");
    let next =
        format!("find that machine at the switch, or give this node another address than {ip}");
    Finding::failed(Wire::Duplicate, &ip.to_string(), detail, &next)
}

fn free(link: &str, ip: IpAddr) -> Finding {
    let detail = format!("nobody else on {link} has {ip}");
    Finding::new(Wire::Duplicate, &ip.to_string(), Verdict::Ok, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Scope;

    fn link(name: &str, has_carrier: bool) -> Link {
        Link { name: name.to_owned(), has_carrier, ..Link::default() }
    }

    fn on(ip: [u8; 4], prefix: u8) -> OnLink {
        OnLink { link: "br-ex".to_owned(), ip: Ipv4Addr::from(ip).into(), prefix }
    }

    #[test]
    fn a_new_address_is_asked_for_on_the_first_link_with_a_carrier() {
        let on_node = Address {
            on: OnLink { link: "eno2".to_owned(), ..on([192, 0, 2, 20], 24) },
            tentative: false,
            duplicate: false,
            dynamic: false,
            scope: Scope::Global,
        };
        let mut lan = link("dummy0", true);
        lan.kind = Some("dummy".to_owned());
        let facts = WireFacts {
            links: vec![lan, link("eno1", false), link("eno2", true), link("eno3", true)],
            addresses: vec![on_node],
            ..WireFacts::default()
        };
        let links = ["br-ex", "dummy0", "eno1", "eno2", "eno3"].map(str::to_owned);
        for (ip, prefix, links, expected) in [
            ([192, 0, 2, 10], 24, &links[..], Some("eno2")),
            ([192, 0, 2, 10], 24, &links[..3], None),
            // One that moves on this node, a virtual one, OVN-Kubernetes' own.
            ([192, 0, 2, 20], 24, &links[..], None),
            ([192, 0, 2, 10], 32, &links[..], None),
            ([169, 254, 0, 2], 17, &links[..], None),
        ] {
            let planned = Planned { on: on(ip, prefix), links: links.to_vec() };
            let found = question(&planned, &facts).map(|(_, link, _)| link);
            assert_eq!(found.as_deref(), expected, "{planned:?}");
        }
    }
}
