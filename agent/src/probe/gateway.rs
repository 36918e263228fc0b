//! Default gateways: neighbour discovery by the kernel, ICMP as second opinion.

use std::{future::Future, net::IpAddr, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::time::{Instant, timeout_at};

use super::{
    answer::{Answer, Answered, NoAnswer},
    icmp,
};
use crate::{
    client::netlink::{Events, Neighbour, Netlink},
    model::{Family, Gateway, LinkRef, Route},
};

/// Time for the other gateways to answer after the first answer.
const OTHERS: Duration = Duration::from_millis(300);

/// Gateways that the document names: one that answers is enough, and its default route must be
/// there. Silent ones are a warning: they may be on standby, or dead.
pub(super) async fn named(gateways: &[Gateway], netlink: &Netlink) -> Result<Answered, NoAnswer> {
    let mut asked: FuturesUnordered<_> = gateways
        .iter()
        .map(|gateway| async move { (gateway.ip, named_one(gateway, netlink).await) })
        .collect();
    let mut silent: Vec<IpAddr> = gateways.iter().map(|g| g.ip).collect();
    let (mut details, mut failures) = (Vec::new(), Vec::new());
    let mut note = |(ip, answer): (IpAddr, Answer)| match answer {
        Ok(detail) => {
            silent.retain(|gateway| *gateway != ip);
            details.push(detail);
            true
        }
        Err(why) => {
            failures.push(why);
            false
        }
    };
    let mut is_answered = false;
    while !is_answered && let Some(answer) = asked.next().await {
        is_answered = note(answer);
    }
    if is_answered {
        let others = async {
            while let Some(answer) = asked.next().await {
                note(answer);
            }
        };
        // Late gateways count as silent.
        let _ = tokio::time::timeout(OTHERS, others).await;
    }
    if !is_answered {
        return Err(NoAnswer::Yet(failures.join("; ")));
    }
    let silent: Vec<String> = silent.iter().map(ToString::to_string).collect();
    let warning = (!silent.is_empty()).then(|| format!("no answer from {}", silent.join(", ")));
    Ok(Answered { detail: details.join(", "), warning, link: None })
}

async fn named_one(gateway: &Gateway, netlink: &Netlink) -> Answer {
    let routes = netlink.default_routes().await.map_err(|e| e.to_string())?;
    match routes.iter().find(|route| gateway.is_of(route)) {
        Some(route) => answers(route, netlink).await,
        None => Err(format!("there is no default route through {}", gateway.ip)),
    }
}

/// Why a gateway in use does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// The gateway is silent.
    Gateway,
    /// The route is missing.
    Route,
}

/// The gateways in use for this family on these links (on any, without links): one that answers is enough. The answer of the
/// preferred one counts, so that a later question can be of the same link.
pub(super) async fn any(
    family: Family,
    links: &[LinkRef],
    netlink: &Netlink,
) -> Result<Answered, (String, Silence)> {
    let silent = |why: String| (why, Silence::Gateway);
    let known = netlink.links().await.map_err(|e| silent(e.to_string()))?;
    let mut routes = netlink.default_routes_of(&known).await.map_err(|e| silent(e.to_string()))?;
    if !links.is_empty() {
        let is_meant = |route: &Route| {
            known.iter().any(|it| it.name == route.link && links.iter().any(|link| it.is(link)))
        };
        routes.retain(is_meant);
    }
    routes.retain(|route| route.family == family);
    if routes.is_empty() {
        return Err((format!("there is no {family} default route"), Silence::Route));
    }
    routes.sort_by_key(|route| route.metric);
    let asked = routes.iter().enumerate();
    let asked = asked.map(|(rank, route)| async move { (rank, answers(route, netlink).await) });
    let (rank, detail) = preferred(asked.collect()).await.map_err(silent)?;
    Ok(Answered { link: Some(routes[rank].link.clone()), ..detail.into() })
}

/// The answer of the lowest rank. After an answer the others have a moment left.
async fn preferred<F>(mut asked: FuturesUnordered<F>) -> Result<(usize, String), String>
where
    F: Future<Output = (usize, Answer)>,
{
    let mut found = Err(String::new());
    let mut deadline = None;
    loop {
        let next = match deadline {
            None => asked.next().await,
            Some(deadline) => timeout_at(deadline, asked.next()).await.unwrap_or_default(),
        };
        match (next, &found) {
            (None, _) => return found,
            (Some((rank, Ok(detail))), Err(_)) => {
                deadline = Some(Instant::now() + OTHERS);
                found = Ok((rank, detail));
            }
            (Some((rank, Ok(detail))), Ok((worse, _))) if rank < *worse => {
                found = Ok((rank, detail));
            }
            (Some((_, Err(why))), Err(_)) => found = Err(why),
            (Some(_), Ok(_)) => {}
        }
        if matches!(found, Ok((0, _))) {
            return found;
        }
    }
}

/// A gateway of each family with a default route through one of these links (through any, without links); at least one family.
pub(super) async fn each_family(links: &[LinkRef], netlink: &Netlink) -> Answer {
    let mut details = Vec::new();
    for family in Family::ALL {
        match any(family, links, netlink).await {
            Ok(answered) => details.push(answered.detail),
            Err((_, Silence::Route)) => {}
            Err((why, Silence::Gateway)) => return Err(why),
        }
    }
    if details.is_empty() {
        Err("there is no default route".to_owned())
    } else {
        Ok(details.join(", "))
    }
}

async fn answers(route: &Route, netlink: &Netlink) -> Answer {
    let ip = route.gateway;
    match neighbour(route.index, ip, netlink).await {
        Ok(()) => Ok(format!("{ip} on {} answers neighbour discovery", route.link)),
        Err(why) => match icmp::echo(ip, route.index).await {
            Ok(()) => Ok(format!("{ip} on {} answers ICMP", route.link)),
            Err(e) => Err(format!("{ip} on {}: {why}; ICMP: {e}", route.link)),
        },
    }
}

/// Returns when this neighbour answers.
pub(super) async fn neighbour(index: u32, ip: IpAddr, netlink: &Netlink) -> Result<(), String> {
    // Subscribe before the query, so that no answer is missed.
    let mut events = Events::subscribe().map_err(|e| e.to_string())?;
    netlink.solicit(index, ip).await.map_err(|e| e.to_string())?;
    let mut is_asked_again = false;
    loop {
        match netlink.neighbour(index, ip).await.map_err(|e| e.to_string())? {
            Neighbour::Answers => return Ok(()),
            // A reply of ARP that is broadcast leaves the entry there, too.
            Neighbour::Heard if ip.is_ipv4() => return Ok(()),
            Neighbour::Heard if is_asked_again => {
                return Err("heard, but no answer to neighbour discovery".to_owned());
            }
            Neighbour::Heard => {
                is_asked_again = true;
                netlink.solicit(index, ip).await.map_err(|e| e.to_string())?;
                events.changed().await.map_err(|e| e.to_string())?;
            }
            Neighbour::Failed => return Err("no answer to neighbour discovery".to_owned()),
            Neighbour::Unknown => events.changed().await.map_err(|e| e.to_string())?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_preferred_gateway_has_a_moment_to_answer() {
        let after = |rank: usize, milliseconds: u64, is_there: bool| async move {
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            (rank, if is_there { Ok(rank.to_string()) } else { Err(rank.to_string()) })
        };
        for (answers, expected) in [
            (vec![(0, 50, true), (1, 10, true)], Ok(0)),
            (vec![(0, 400, true), (1, 10, true)], Ok(1)),
            (vec![(0, 20, false), (1, 10, true), (2, 5, true)], Ok(1)),
            (vec![(0, 20, false), (1, 10, false)], Err("0")),
        ] {
            let asked = answers.iter().map(|&(rank, late, is_there)| after(rank, late, is_there));
            let found = preferred(asked.collect()).await.map(|(rank, _)| rank);
            assert_eq!(found, expected.map_err(str::to_owned), "{answers:?}");
        }
    }
}
