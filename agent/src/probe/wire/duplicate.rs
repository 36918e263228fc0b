//! Addresses that another machine has too: IPv4 by ARP, IPv6 as duplicate address detection found it.

use std::net::{IpAddr, Ipv4Addr};

use super::{
    facts::Facts,
    finding::{Finding, Verdict, Wire},
};
use crate::{
    client::arp,
    model::{Address, Layer, Mac},
};

/// Addresses that are asked for.
const ASKED: usize = 32;

pub(super) async fn look(facts: &Facts) -> Vec<Finding> {
    let own: &Vec<Mac> = &facts.links.iter().flat_map(|it| it.macs().cloned()).collect();
    let asked = facts.addresses.iter().filter(|it| is_asked(it, facts)).take(ASKED);
    let one = |address: &Address| {
        let (link, ip, is_duplicate) = (address.on.link.clone(), address.on.ip, address.duplicate);
        async move {
            match ip {
                IpAddr::V4(ip) => by_arp(&link, ip, own).await,
                IpAddr::V6(_) if is_duplicate => taken(&link, ip, "by its detection of duplicates"),
                IpAddr::V6(_) => free(&link, ip),
            }
        }
    };
    futures_util::future::join_all(asked.map(one)).await
}

/// Addresses on a network with others. A prefix of 32 is of a virtual address, which moves on purpose; link-local ones of IPv4
/// are each node's, for OVN-Kubernetes.
fn is_asked(address: &Address, facts: &Facts) -> bool {
    let is_there = facts.link(&address.on.link).is_some_and(|it| {
        it.layer == Layer::Ethernet && it.has_carrier && it.kind.as_deref() != Some("dummy")
    });
    is_there
        && match address.on.ip {
            IpAddr::V4(ip) => address.on.prefix < 32 && !ip.is_link_local() && !ip.is_loopback(),
            IpAddr::V6(_) => true,
        }
}

async fn by_arp(link: &str, ip: Ipv4Addr, own: &[Mac]) -> Finding {
    match arp::other_owner(link, ip, own).await {
        Ok(Some(mac)) => taken(link, ip.into(), &format!("with MAC {mac}")),
        Ok(None) => free(link, ip.into()),
        Err(error) => {
            let detail = format!("{ip} on {link} cannot be asked for: {error}");
            Finding::new(Wire::Duplicate, &ip.to_string(), Verdict::Unknown, detail)
        }
    }
}

fn taken(link: &str, ip: IpAddr, who: &str) -> Finding {
    let detail = format!("another machine has {ip} of {link} too ({who})");
    let next =
        format!("find that machine at the switch, or give this node another address than {ip}");
    Finding::failed(Wire::Duplicate, &ip.to_string(), detail, &next)
}

fn free(link: &str, ip: IpAddr) -> Finding {
    let detail = format!("nobody else on {link} has {ip}");
    Finding::new(Wire::Duplicate, &ip.to_string(), Verdict::Ok, detail)
}
