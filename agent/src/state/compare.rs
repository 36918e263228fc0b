//! The part of a desired state that a current one lacks, by the rules of nmstate's own
//! verification.
//!
//! The library verifies only inside `apply()`. Its `gen_diff()` does the same resolving and
//! sanitizing, but compares more strictly. So it finds the candidates here, and the rules below
//! remove those that the verification tolerates.

mod interface;
mod routes;
mod settings;
mod taps;
mod value;

use std::{collections::HashSet, net::IpAddr};

use nmstate::{Interface, Interfaces, NetworkState, NmstateError, RouteRules, Routes};
use serde_json::json;

use super::names;

/// Takes the cards that the current state lacks, or that NetworkManager leaves alone, out of the desired one: nmstate compares no
/// state with them, and they are lacking as a whole.
fn take_absent_cards(desired: &mut NetworkState, current: &NetworkState) -> Vec<Interface> {
    let is_there = |card: &Interface| {
        let mut all = current.interfaces.iter();
        all.any(|interface| interface.name() == card.name() && !interface.is_ignore())
    };
    let is_absent = |interface: &&Interface| {
        // nmstate finds a virtual function by its parent.
        let is_card = matches!(interface, Interface::Ethernet(card) if card.veth.is_none());
        is_card
            && interface.is_up()
            && !interface.name().starts_with("sriov:")
            && !is_there(interface)
    };
    let absent: Vec<Interface> = desired.interfaces.iter().filter(is_absent).cloned().collect();
    for card in &absent {
        desired.interfaces.remove_iface(card.name(), card.iface_type());
    }
    absent
}

/// The part of `desired` that `current` lacks.
pub(super) fn missing(
    desired: &NetworkState,
    current: &NetworkState,
) -> Result<NetworkState, NmstateError> {
    let (mut desired, mut current) = (desired.clone(), current.clone());
    names::resolve(&mut desired, |wanted| names::in_current(&current, wanted));
    let absent = take_absent_cards(&mut desired, &current);
    hide_patch_ports(&desired, &mut current);
    taps::take_settings_from(&desired, &mut current);
    // Without current routes and rules the difference has all desired ones, sanitized.
    let mut without_routes = current.clone();
    (without_routes.routes, without_routes.rules) = (Routes::default(), RouteRules::default());
    settings::hide(&desired, &mut without_routes);
    let mut diff = desired.gen_diff(&without_routes)?;
    diff.description.clear();
    let mut interfaces = Interfaces::new();
    absent.into_iter().for_each(|card| interfaces.push(card));
    for candidate in diff.interfaces.iter() {
        if let Some(lacking) = interface::lacking(candidate, &desired, &current)? {
            interfaces.push(lacking);
        }
    }
    diff.interfaces = interfaces;
    diff.routes.config = some(routes::missing_routes(&desired, &diff, &current));
    diff.rules.config = some(routes::missing_rules(&desired, &diff, &current));
    if holds_dns(&desired, &current) {
        diff.dns = None;
    }
    if value::holds(
        &serde_json::to_value(&desired.hostname)?,
        &serde_json::to_value(&current.hostname)?,
    ) {
        diff.hostname = None;
    }
    let mut ovsdb = serde_json::to_value(current.ovsdb.clone().unwrap_or_default())?;
    value::default(&mut ovsdb, "external_ids", json!({}));
    value::default(&mut ovsdb, "other_config", json!({}));
    if value::holds(&serde_json::to_value(&desired.ovsdb)?, &ovsdb) {
        diff.ovsdb = None;
    }
    Ok(diff)
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// Hides unlisted patch ports: OVN adds them to the bridge by itself, so they are no difference,
/// even without `allow-extra-patch-ports`.
fn hide_patch_ports(desired: &NetworkState, current: &mut NetworkState) {
    let is_patch =
        |iface: &&Interface| matches!(iface, Interface::OvsInterface(i) if i.patch.is_some());
    let patches: HashSet<String> =
        current.interfaces.iter().filter(is_patch).map(|i| i.name().to_owned()).collect();
    for iface in current.interfaces.iter_mut() {
        let wanted = desired.interfaces.get_iface(iface.name(), iface.iface_type());
        let wanted = wanted.and_then(Interface::ports).unwrap_or_default();
        if let Interface::OvsBridge(bridge) = iface
            && let Some(ports) = bridge.bridge.as_mut().and_then(|b| b.ports.as_mut())
        {
            ports.retain(|p| !patches.contains(&p.name) || wanted.contains(&p.name.as_str()));
        }
    }
}

/// Compares servers and search domains in order, options in any order. An entry counts once: nmstate may write it into the profiles
/// of two interfaces, and its state then shows it for each.
fn holds_dns(desired: &NetworkState, current: &NetworkState) -> bool {
    let config = |state: &NetworkState| {
        let mut config = state.dns.as_ref().and_then(|dns| dns.config.clone()).unwrap_or_default();
        config.server.iter_mut().flatten().for_each(|server| *server = canonical(server));
        config
    };
    let (want, have) = (config(desired), config(current));
    let is_purge = [&want.server, &want.search, &want.options]
        .iter()
        .all(|list| list.as_ref().is_none_or(Vec::is_empty));
    let same = |want: &Option<Vec<String>>, have: &Option<Vec<String>>, sorted: bool| match want {
        None => !is_purge || have.as_ref().is_none_or(Vec::is_empty),
        Some(want) => {
            let (mut want, mut have) = (once(want), once(have.as_deref().unwrap_or_default()));
            if sorted {
                want.sort_unstable();
                have.sort_unstable();
            }
            want == have
        }
    };
    same(&want.server, &have.server, false)
        && same(&want.search, &have.search, false)
        && same(&want.options, &have.options, true)
}

/// A name server in the one spelling that nmstate gives it (RFC 5952), with its zone.
fn canonical(server: &str) -> String {
    let (ip, zone) = server.split_once('%').map_or((server, None), |(ip, zone)| (ip, Some(zone)));
    match (ip.parse::<IpAddr>(), zone) {
        (Ok(ip), None) => ip.to_string(),
        (Ok(ip), Some(zone)) => format!("{ip}%{zone}"),
        (Err(_), _) => server.to_owned(),
    }
}

/// The entries, each in its first place.
fn once(list: &[String]) -> Vec<&str> {
    let mut seen = HashSet::new();
    list.iter().map(String::as_str).filter(|entry| seen.insert(*entry)).collect()
}

#[cfg(test)]
mod tests;
