//! The gateways of a network in force, asked now.

use nmgen::chain;

use super::diff::committed_bridge;
use crate::{
    client::netlink::Netlink,
    durable::record::Record,
    model::{Family, LinkRef},
    network::NetworkError,
    paths::Paths,
    probe,
    run::last_good::removed,
    settings::{Policy, Settings},
    state::Parsed,
    status::BridgeStatus,
    warn::OrWarn as _,
};

/// Default routes that are named, of a node that may have many.
const SHOWN: usize = 4;

/// Why no gateway of the recorded network answers; `None` if one of each family does, if the settings ask none, and for a
/// network that had none at its commit.
pub(super) async fn silent(
    paths: &Paths,
    settings: &Settings,
    record: &Record,
    bridge: Option<&BridgeStatus>,
) -> Option<String> {
    if settings.probe.gateway == Policy::Off {
        return None;
    }
    if let Some(facts) = paths.collected() {
        return facts.silent.clone();
    }
    let netlink = match Netlink::connect() {
        Ok(netlink) => netlink,
        Err(error) => return Some(chain(&error)),
    };
    let recorded = record.uplinks();
    let links: Vec<LinkRef> = match (bridge, recorded) {
        (Some(bridge), _) if leads_out(paths) => {
            bridge.bridges.iter().cloned().map(LinkRef::Name).collect()
        }
        // The node is reached by another interface, if at all.
        (Some(_), _) if netlink.default_routes().await.is_ok_and(|routes| routes.is_empty()) => {
            return None;
        }
        (Some(_), _) => Vec::new(),
        // The record may be another deployment's, whose links are not this network's.
        (None, Some(uplinks))
            if !uplinks.families.is_empty() && removed(paths, record).is_some() =>
        {
            uplinks.proving()
        }
        (None, _) => return None,
    };
    let why = probe::silent(&links, settings.timeout.baseline.get(), paths, &netlink).await?;
    let routes = netlink.default_routes().await.unwrap_or_default();
    let named = routes.iter().map(|route| format!("{} on {}", route.gateway, route.link));
    let named: Vec<String> = named.take(SHOWN).collect();
    Some(match named.is_empty() {
        true => why,
        false => format!("{why}; default routes: {}", named.join(", ")),
    })
}

/// Returns the routes of packets to the API that no configuration has.
pub(super) async fn added_routes(paths: &Paths, settings: &Settings) -> Vec<String> {
    let Some(netlink) = Netlink::connect().or_warn() else { return Vec::new() };
    probe::added_routes_to_api(&settings.probe, paths, &netlink).await.or_warn().unwrap_or_default()
}

/// Returns the families of the commit that are gone, where another one is there: without any, the gateways are silent.
pub(super) async fn missing_families(paths: &Paths, record: &Record) -> Vec<Family> {
    if let Some(facts) = paths.collected() {
        return facts.missing_families.clone();
    }
    let Some(uplinks) = record.uplinks() else { return Vec::new() };
    let usable = async {
        let netlink = Netlink::connect().map_err(NetworkError::from)?;
        uplinks.usable_families(&netlink).await
    };
    let usable = usable.await.or_warn_of("the address families are not known").unwrap_or_default();
    let gone = uplinks.families.iter().filter(|family| !usable.contains(family));
    if usable.is_empty() { Vec::new() } else { gone.copied().collect() }
}

/// Whether the automatic bridge in force has a default route, or may get one from the network: an uplink that a file names need
/// not be that of the default route. A plan that cannot be read is taken for the usual one.
fn leads_out(paths: &Paths) -> bool {
    let Ok(Some(plan)) = committed_bridge(paths) else { return true };
    let state = Parsed::new(&plan.document).and_then(|parsed| parsed.resolve(None));
    state.map_or(true, |state| {
        let wants = state.wants();
        !(wants.gateways.is_empty() && wants.without_gateway.is_empty() && wants.dynamic.is_empty())
    })
}
