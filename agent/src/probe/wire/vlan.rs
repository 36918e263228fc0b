//! A gateway or a neighbour on each VLAN that has an address.

use std::{net::IpAddr, time::Duration};

use ipnet::Ipv4Net;

use super::{
    facts::WireFacts,
    finding::{Finding, Verdict, Wire},
};
use crate::{client::netlink::Netlink, model::Vlan, probe::gateway::neighbour};

/// The kernel asks three times, a second apart.
const BOUND: Duration = Duration::from_millis(3500);
const ASKED: usize = 8;

struct Answered<'f> {
    vlan: &'f Vlan,
    result: Verdict,
    who: String,
}

pub(super) async fn look(facts: &WireFacts, peers: &[IpAddr], netlink: &Netlink) -> Vec<Finding> {
    let vlans = facts.vlans.iter().filter(|vlan| {
        facts.addresses.iter().any(|address| address.on.link == vlan.name && address.is_global())
    });
    let asked = vlans.map(|vlan| ask(vlan, facts, peers, netlink));
    let answered = futures_util::future::join_all(asked).await;
    answered.iter().map(|answer| told(answer, &answered)).collect()
}

async fn ask<'f>(
    vlan: &'f Vlan,
    facts: &WireFacts,
    peers: &[IpAddr],
    netlink: &Netlink,
) -> Answered<'f> {
    let here = |hop: &&crate::model::Neighbouring| hop.index == vlan.index;
    let own: Vec<_> = facts
        .addresses
        .iter()
        .filter(|address| address.on.link == vlan.name && address.is_global())
        .collect();
    let mut named: Vec<IpAddr> = facts.next_hops.iter().filter(here).map(|hop| hop.ip).collect();
    named.extend(peers.iter().filter(|ip| own.iter().any(|address| address.on.reaches(**ip))));
    let mut others: Vec<IpAddr> =
        facts.neighbours.iter().filter(here).map(|neighbour| neighbour.ip).collect();
    others.extend(own.iter().filter_map(|address| first_of(address.on.ip, address.on.prefix)));
    named.sort_unstable();
    named.dedup();
    others.retain(|ip| !named.contains(ip));
    let all: Vec<IpAddr> = named.iter().chain(&others).copied().take(ASKED).collect();
    let questions = all
        .iter()
        .map(|ip| Box::pin(async move { neighbour(vlan.index, *ip, netlink).await.map(|()| *ip) }));
    let list = |ips: &[IpAddr]| ips.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let first = async {
        if all.is_empty() {
            return None;
        }
        futures_util::future::select_ok(questions).await.ok().map(|(ip, _)| ip)
    };
    let (result, who) = match tokio::time::timeout(BOUND, first).await {
        Ok(Some(ip)) => (Verdict::Ok, ip.to_string()),
        Ok(None) | Err(_) if named.is_empty() => (Verdict::Unknown, list(&all)),
        Ok(None) | Err(_) => (Verdict::Failed, list(&named)),
    };
    Answered { vlan, result, who }
}

/// The first host of a network, often its gateway, where nobody names one.
fn first_of(ip: IpAddr, prefix: u8) -> Option<IpAddr> {
    let IpAddr::V4(ip) = ip else { return None };
    let first = Ipv4Net::new(ip, prefix).ok()?.hosts().next()?;
    (prefix < 31 && first != ip).then_some(IpAddr::V4(first))
}

fn told(tested: &Answered<'_>, all: &[Answered<'_>]) -> Finding {
    let Answered { vlan, result, who } = tested;
    let Vlan { name, id, base, .. } = vlan;
    match result {
        Verdict::Ok => {
            Finding::new(Wire::Vlan, name, Verdict::Ok, format!("VLAN {id}: {who} answers"))
        }
        Verdict::Unknown => {
            let detail = match who.as_str() {
                "" => format!("VLAN {id}: nobody is known there; name one in probe.peers"),
                who => format!("VLAN {id}: {who} does not answer, and no gateway is known there"),
            };
            Finding::new(Wire::Vlan, name, Verdict::Unknown, detail)
        }
        Verdict::Failed => {
            let detail = match all.iter().find(|other| {
                other.vlan.base == *base && other.result == Verdict::Ok && other.vlan.id != *id
            }) {
                Some(_) => format!(
                    "other VLANs of {base} answer, {id} does not ({who} is silent): the switch's port \
                     does not carry VLAN {id}"
                ),
                None => format!(
                    "VLAN {id} of {base} does not answer ({who} is silent): the switch's port is no \
                     trunk, does not carry it, or the number is another one"
                ),
            };
            let next = format!("allow VLAN {id} on the switch's port of {base}, or correct its id");
            Finding::failed(Wire::Vlan, name, detail, &next)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_vlan_is_told_beside_those_that_answer() {
        let vlan = |id: u16, base: &str| Vlan {
            index: u32::from(id),
            name: format!("{base}.{id}"),
            id,
            base: base.to_owned(),
        };
        let vlans = [vlan(103, "eno1"), vlan(104, "eno1"), vlan(104, "eno2"), vlan(5, "eno1")];
        let results = [Verdict::Ok, Verdict::Failed, Verdict::Failed, Verdict::Unknown];
        let all: Vec<Answered<'_>> = vlans
            .iter()
            .zip(results)
            .map(|(vlan, result)| Answered { vlan, result, who: "203.0.113.1".to_owned() })
            .collect();
        let told: Vec<Finding> = all.iter().map(|answer| told(answer, &all)).collect();
        for (found, words) in told.iter().zip([
            "VLAN 103: 203.0.113.1 answers",
            "other VLANs of eno1 answer, 104 does not (203.0.113.1 is silent)",
            "VLAN 104 of eno2 does not answer",
            "no gateway is known",
        ]) {
            assert!(found.detail.contains(words), "{found:?}");
            assert_eq!(found.next.is_some(), found.result == Verdict::Failed);
        }
    }

    #[test]
    fn the_first_host_is_asked_where_nobody_is_named() {
        let first = |text: &str, prefix| first_of(text.parse().expect("an address"), prefix);
        assert_eq!(first("192.0.2.10", 24), "192.0.2.1".parse().ok());
        assert_eq!(first("192.0.2.130", 25), "192.0.2.129".parse().ok());
        assert_eq!(first("192.0.2.1", 24), None);
        assert_eq!(first("192.0.2.10", 32), None);
        assert_eq!(first("192.0.2.10", 31), None);
        assert_eq!(first("2001:db8::10", 64), None);
    }
}
