//! Gateways: those of the default routes, and those that a document names which is not in force.

use std::{net::IpAddr, time::Duration};

use super::{
    super::gateway::{by_icmp_or_neighbour, neighbour},
    duplicate::is_wire,
    facts::WireFacts,
    finding::{Finding, Verdict, Wire},
};
use crate::{
    client::netlink::Netlink,
    model::{Family, Planned, Route},
};

const ASKED: usize = 32;
/// The kernel asks three times, a second each; then comes ICMP.
const BOUND: Duration = Duration::from_secs(5);

pub(super) async fn look(facts: &WireFacts, named: &[Planned], netlink: &Netlink) -> Vec<Finding> {
    let mut routes: Vec<&Route> = Vec::new();
    for route in &facts.defaults {
        if !routes.iter().any(|other| (other.gateway, other.index) == (route.gateway, route.index))
        {
            routes.push(route);
        }
    }
    let one = |route: &'_ Route| {
        let route = route.clone();
        async move {
            let silence = Err(silent(route.gateway, &route.link));
            let answer = tokio::time::timeout(BOUND, by_icmp_or_neighbour(&route, netlink)).await;
            (answer.unwrap_or(silence), route)
        }
    };
    let in_use = routes.iter().take(ASKED).map(|route| one(route));
    let is_in_use = |named: &Planned| routes.iter().any(|route| route.gateway == named.on.ip);
    let others = named.iter().filter(|named| !is_in_use(named));
    let others = others.take(ASKED).map(|named| of_document(named, facts, netlink));
    let (in_use, others) = tokio::join!(
        futures_util::future::join_all(in_use),
        futures_util::future::join_all(others)
    );
    let answering: Vec<Family> =
        in_use.iter().filter(|(answer, _)| answer.is_ok()).map(|(_, route)| route.family).collect();
    let judge = |(answer, route): (Result<String, String>, Route)| {
        judged(answer, &route, answering.contains(&route.family))
    };
    in_use.into_iter().map(judge).chain(others).collect()
}

/// A silent one is no fault beside another one of its family that answers: it may be on standby.
fn judged(answer: Result<String, String>, route: &Route, has_another: bool) -> Finding {
    let target = route.gateway.to_string();
    match answer {
        Ok(detail) => Finding::new(Wire::Gateway, &target, Verdict::Ok, detail),
        Err(why) if has_another => Finding::new(Wire::Gateway, &target, Verdict::Unknown, why),
        Err(why) => {
            let next = format!(
                "ask at the switch for the port of {} and its VLAN, and whether {target} is the gateway there",
                route.link
            );
            Finding::failed(Wire::Gateway, &target, why, &next)
        }
    }
}

/// A gateway to which the node has no route: it is asked on the link that has an address of its network, else on the first one that
/// will carry its packets, as where the document gives the node its only address.
async fn of_document(named: &Planned, facts: &WireFacts, netlink: &Netlink) -> Finding {
    let ip = named.on.ip;
    let target = ip.to_string();
    let near = facts.addresses.iter().filter(|address| address.on.reaches(ip));
    let near = near.max_by_key(|address| address.on.prefix);
    let near = near.and_then(|address| facts.link(&address.on.link));
    let planned =
        || named.links.iter().filter_map(|name| facts.link(name)).find(|link| is_wire(link));
    let Some(link) = near.or_else(planned) else {
        let detail = format!("{ip} of the document is asked for by no link: none has its network");
        return Finding::new(Wire::Gateway, &target, Verdict::Unknown, detail);
    };
    match tokio::time::timeout(BOUND, neighbour(link.index, ip, netlink)).await {
        Ok(Ok(())) => {
            let detail = format!("{ip} of the document answers on {}", link.name);
            Finding::new(Wire::Gateway, &target, Verdict::Ok, detail)
        }
        Ok(Err(_)) | Err(_) => {
            let detail = format!("{}; the document names it", silent(ip, &link.name));
            let next = "correct the gateway in the document, or ask at the switch for that machine";
            Finding::failed(Wire::Gateway, &target, detail, next)
        }
    }
}

fn silent(ip: IpAddr, link: &str) -> String {
    format!("{ip} on {link} does not answer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_gateway_is_a_fault_unless_another_one_answers() {
        let route = Route {
            link: "eno1".to_owned(),
            gateway: [192, 0, 2, 1].into(),
            family: Family::Ipv4,
            index: 2,
            metric: 100,
            is_advertised: false,
        };
        for (answer, has_another, expected) in [
            (Ok("answers".to_owned()), true, Verdict::Ok),
            (Err("silent".to_owned()), true, Verdict::Unknown),
            (Err("silent".to_owned()), false, Verdict::Failed),
        ] {
            let finding = judged(answer, &route, has_another);
            assert_eq!((finding.result, &*finding.target), (expected, "192.0.2.1"));
            assert_eq!(finding.next.is_some(), expected == Verdict::Failed);
        }
    }
}
