//! Default gateways: neighbour discovery by the kernel, ICMP as second opinion.

use std::{future::Future, net::IpAddr, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::time::{Instant, timeout_at};

use super::{
    answer::{Answer, Answered, NoAnswer},
    icmp,
};
use crate::{
    client::netlink::{Events, Neighbour, Netlink, NetlinkError},
    model::{Family, Gateway, Link, LinkRef, Route},
};

/// Time for the other gateways to answer after the first answer.
const OTHERS: Duration = Duration::from_millis(300);

/// Default gateways of which one must answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GatewayQuestion {
    /// Of this family; without it of each one that has a default route, at least one.
    pub(crate) family: Option<Family>,
    /// With a default route through one of these links; through any, without links.
    pub(crate) links: Vec<LinkRef>,
    /// These, which the document names; any, without names.
    pub(crate) named: Vec<Gateway>,
    /// Waits for a default route; without it the question fails at once.
    pub(crate) waits_for_route: bool,
}

impl GatewayQuestion {
    pub(super) async fn ask(&self, netlink: &Netlink) -> Result<Answered, NoAnswer> {
        let routes = self.routes(netlink).await.map_err(|error| error.to_string())?;
        if !self.named.is_empty() {
            return Ok(named(&self.named, &routes, netlink).await?);
        }
        let mut answers = Vec::new();
        for family in
            Family::ALL.into_iter().filter(|family| self.family.is_none_or(|of| of == *family))
        {
            let own: Vec<&Route> = routes.iter().filter(|route| route.family == family).collect();
            if !own.is_empty() {
                answers.push(in_use(&own, netlink).await?);
            }
        }
        let details: Vec<&str> = answers.iter().map(|answer| answer.detail.as_str()).collect();
        let detail = details.join(", ");
        match (answers.pop(), self.family) {
            (Some(answer), Some(_)) => Ok(answer),
            (Some(_), None) => Ok(detail.into()),
            (None, family) => {
                let family = family.map(|family| format!("{family} ")).unwrap_or_default();
                let why = format!("there is no {family}default route");
                Err(if self.waits_for_route { NoAnswer::Yet(why) } else { NoAnswer::Ever(why) })
            }
        }
    }

    /// The default routes through the links, the preferred one first.
    async fn routes(&self, netlink: &Netlink) -> Result<Vec<Route>, NetlinkError> {
        let known = netlink.links().await?;
        let mut routes = netlink.default_routes_of(&known).await?;
        if !self.links.is_empty() {
            routes.retain(|route| {
                let is_meant = |link: &Link| self.links.iter().any(|wanted| link.is(wanted));
                known.iter().any(|link| link.name == route.link && is_meant(link))
            });
        }
        routes.sort_by_key(|route| route.metric);
        Ok(routes)
    }
}

/// Asks gateways that the document names; the default route of one that answers must be there. Silent ones are a warning: they may
/// be on standby, or dead.
async fn named(
    gateways: &[Gateway],
    routes: &[Route],
    netlink: &Netlink,
) -> Result<Answered, String> {
    let asked = gateways.iter().enumerate().map(|(rank, gateway)| async move {
        let answer = match routes.iter().find(|route| gateway.is_of(route)) {
            Some(route) => by_icmp_or_neighbour(route, netlink).await,
            None => Err(format!("there is no default route through {}", gateway.ip)),
        };
        (rank, answer)
    });
    let answers = with_others(asked.collect(), |_| false).await;
    let mut silent: Vec<IpAddr> = gateways.iter().map(|gateway| gateway.ip).collect();
    let (mut details, mut failures) = (Vec::new(), Vec::new());
    for (rank, answer) in answers {
        match answer {
            Ok(detail) => {
                silent.retain(|ip| *ip != gateways[rank].ip);
                details.push(detail);
            }
            Err(why) => failures.push(why),
        }
    }
    if details.is_empty() {
        return Err(failures.join("; "));
    }
    let silent: Vec<String> = silent.iter().map(ToString::to_string).collect();
    let warning = (!silent.is_empty()).then(|| format!("no answer from {}", silent.join(", ")));
    Ok(Answered { detail: details.join(", "), warning, link: None })
}

/// Asks the gateways of these routes. The answer of the preferred one counts, so that a later question can be of the same link.
async fn in_use(routes: &[&Route], netlink: &Netlink) -> Result<Answered, String> {
    let asked = routes.iter().enumerate();
    let asked = asked
        .map(|(rank, route)| async move { (rank, by_icmp_or_neighbour(route, netlink).await) });
    let (rank, detail) = preferred(asked.collect()).await?;
    Ok(Answered { link: Some(routes[rank].link.clone()), ..detail.into() })
}

/// The answer of the lowest rank; without one the last reason.
async fn preferred<F>(asked: FuturesUnordered<F>) -> Result<(usize, String), String>
where
    F: Future<Output = (usize, Answer)>,
{
    let answers = with_others(asked, |rank| rank == 0).await;
    let lowest = answers.iter().filter(|(_, answer)| answer.is_ok()).map(|(rank, _)| *rank).min();
    let found =
        answers.into_iter().rev().find(|(rank, _)| lowest.is_none_or(|lowest| lowest == *rank));
    found.map_or(Err(String::new()), |(rank, answer)| Ok((rank, answer?)))
}

/// All answers in their order. After the first success the others have a moment left, unless it `is_enough`.
async fn with_others<F>(
    mut asked: FuturesUnordered<F>,
    is_enough: impl Fn(usize) -> bool,
) -> Vec<(usize, Answer)>
where
    F: Future<Output = (usize, Answer)>,
{
    let mut answers = Vec::new();
    let mut deadline = None;
    loop {
        let next = match deadline {
            None => asked.next().await,
            Some(deadline) => timeout_at(deadline, asked.next()).await.unwrap_or_default(),
        };
        let Some((rank, answer)) = next else { return answers };
        let is_last = answer.is_ok() && is_enough(rank);
        if answer.is_ok() && deadline.is_none() {
            deadline = Some(Instant::now() + OTHERS);
        }
        answers.push((rank, answer));
        if is_last {
            return answers;
        }
    }
}

pub(super) async fn by_icmp_or_neighbour(route: &Route, netlink: &Netlink) -> Answer {
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
