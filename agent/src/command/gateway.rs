//! The gateways of a network in force, asked now.

use crate::{
    client::netlink::Netlink,
    durable::record::Record,
    model::LinkRef,
    paths::Paths,
    probe,
    settings::{Policy, Settings},
    status::Bridge,
};

/// Default routes that are named, of a node that may have many.
const SHOWN: usize = 4;

/// Why no gateway of the recorded network answers; `None` if one of each family does, if the settings ask none, and for a
/// network that had none at its commit.
pub(super) async fn silent(
    paths: &Paths,
    settings: &Settings,
    record: &Record,
    bridge: Option<&Bridge>,
) -> Option<String> {
    if settings.probe.gateway == Policy::Off {
        return None;
    }
    let recorded = record.committed.as_ref().and_then(|it| it.uplinks.as_ref());
    let links: Vec<LinkRef> = match (bridge, recorded) {
        (Some(bridge), _) => bridge.bridges.iter().cloned().map(LinkRef::Name).collect(),
        (None, Some(uplinks)) if !uplinks.families.is_empty() => uplinks.links.clone(),
        (None, _) => return None,
    };
    let netlink = match Netlink::connect() {
        Ok(netlink) => netlink,
        Err(error) => return Some(nmgen::chain(&error)),
    };
    let asked = [probe::gateways_in_use(&links)];
    let answers = probe::run(&asked, settings.timeout.baseline.get(), paths, &netlink).await;
    let why = answers.into_iter().find(|answer| !answer.ok)?.detail;
    let routes = netlink.default_routes().await.unwrap_or_default();
    let named = routes.iter().map(|it| format!("{} on {}", it.gateway, it.link));
    let named: Vec<String> = named.take(SHOWN).collect();
    Some(match named.is_empty() {
        true => why,
        false => format!("{why}; default routes: {}", named.join(", ")),
    })
}
