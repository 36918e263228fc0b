//! Default gateways: neighbour discovery by the kernel, ICMP as second opinion.

use std::time::Duration;

use futures_util::{StreamExt as _, stream::FuturesUnordered};

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
    let mut silent: Vec<std::net::IpAddr> = gateways.iter().map(|g| g.ip).collect();
    let (mut details, mut failures) = (Vec::new(), Vec::new());
    let mut note = |(ip, answer): (std::net::IpAddr, Answer)| match answer {
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
    Ok(Answered { detail: details.join(", "), warning })
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

/// The gateways in use for this family on these links (on any, without links): one that answers is enough.
pub(super) async fn any(
    family: Family,
    links: &[LinkRef],
    netlink: &Netlink,
) -> Result<String, (String, Silence)> {
    let silent = |why: String| (why, Silence::Gateway);
    let mut routes = netlink.default_routes().await.map_err(|e| silent(e.to_string()))?;
    if !links.is_empty() {
        let known = netlink.links().await.map_err(|e| silent(e.to_string()))?;
        let is_meant = |route: &Route| {
            known.iter().any(|it| it.name == route.link && links.iter().any(|link| it.is(link)))
        };
        routes.retain(is_meant);
    }
    let mut of_family = routes.iter().filter(|r| r.family == family).peekable();
    if of_family.peek().is_none() {
        return Err((format!("there is no {family} default route"), Silence::Route));
    }
    let asked = of_family.map(|route| Box::pin(answers(route, netlink)));
    futures_util::future::select_ok(asked).await.map(|(detail, _)| detail).map_err(silent)
}

/// A gateway of each family with a default route through one of these links (through any, without links); at least one family.
pub(super) async fn each_family(links: &[LinkRef], netlink: &Netlink) -> Answer {
    let mut details = Vec::new();
    for family in Family::ALL {
        match any(family, links, netlink).await {
            Ok(detail) => details.push(detail),
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
    match neighbour(route, netlink).await {
        Ok(()) => Ok(format!("{ip} on {} answers neighbour discovery", route.link)),
        Err(why) => match icmp::echo(ip, route.index).await {
            Ok(()) => Ok(format!("{ip} on {} answers ICMP", route.link)),
            Err(e) => Err(format!("{ip} on {}: {why}; ICMP: {e}", route.link)),
        },
    }
}

async fn neighbour(route: &Route, netlink: &Netlink) -> Result<(), String> {
    // Subscribe before the query, so that no answer is missed.
    let mut events = Events::subscribe().map_err(|e| e.to_string())?;
    netlink.solicit(route.index, route.gateway).await.map_err(|e| e.to_string())?;
    loop {
        match netlink.neighbour(route.index, route.gateway).await.map_err(|e| e.to_string())? {
            Neighbour::Answers => return Ok(()),
            Neighbour::Failed => return Err("no answer to neighbour discovery".to_owned()),
            Neighbour::Unknown => events.changed().await.map_err(|e| e.to_string())?,
        }
    }
}
