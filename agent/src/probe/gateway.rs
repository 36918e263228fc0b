//! The default gateway: neighbour discovery by the kernel, ICMP as second opinion.

use super::{answer::Answer, icmp};
use crate::{
    client::netlink::{DefaultRoute, Events, Neighbour, Netlink},
    wants::Gateway,
};

/// A gateway that the document names; its default route must be there too.
pub(super) async fn named(gateway: &Gateway, netlink: &Netlink) -> Answer {
    let routes = netlink.default_routes().await.map_err(|e| e.to_string())?;
    let on_link = |r: &&DefaultRoute| {
        r.gateway == gateway.ip && gateway.link.as_ref().is_none_or(|l| *l == r.link)
    };
    match routes.iter().find(on_link) {
        Some(route) => answers(route, netlink).await,
        None => Err("there is no default route through it".to_owned()),
    }
}

/// The gateways in use: one that answers for each family that has any.
pub(super) async fn any(netlink: &Netlink) -> Answer {
    let routes = netlink.default_routes().await.map_err(|e| e.to_string())?;
    if routes.is_empty() {
        return Err("there is no default route".to_owned());
    }
    let mut said = Vec::new();
    for v4 in [true, false] {
        let mut family = routes.iter().filter(|r| r.gateway.is_ipv4() == v4).peekable();
        if family.peek().is_none() {
            continue;
        }
        let asked = family.map(|route| Box::pin(answers(route, netlink)));
        said.push(futures_util::future::select_ok(asked).await.map(|(detail, _)| detail)?);
    }
    Ok(said.join(", "))
}

async fn answers(route: &DefaultRoute, netlink: &Netlink) -> Answer {
    let ip = route.gateway;
    match neighbour(route, netlink).await {
        Ok(()) => Ok(format!("{ip} on {} answers neighbour discovery", route.link)),
        Err(why) => match icmp::echo(ip, route.index).await {
            Ok(()) => Ok(format!("{ip} on {} answers ICMP", route.link)),
            Err(e) => Err(format!("{ip} on {}: {why}; ICMP: {e}", route.link)),
        },
    }
}

async fn neighbour(route: &DefaultRoute, netlink: &Netlink) -> Result<(), String> {
    // Subscribed before the question: the answer cannot be missed.
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
