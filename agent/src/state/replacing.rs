//! Replacement of one document by the next; nmstate itself merges states.

use nmstate::{
    DnsClientState, DnsState, Interface, InterfaceState, NetworkState, RouteEntry, RouteRuleState,
    RouteState,
};

use super::{names, parent, rules};
use crate::model::{OvsMap, OvsSetting};

/// `desired`, which also removes everything only `previous` declares. `settings` are those of Open vSwitch at present: one with
/// another value than the document's is somebody else's by now.
pub(super) fn replacing(
    desired: &NetworkState,
    previous: &NetworkState,
    settings: &[OvsSetting],
) -> NetworkState {
    // The document before may call a card by another of its names.
    let mut previous = previous.clone();
    names::resolve(&mut previous, |wanted| names::in_resolved(desired, wanted));
    let mut desired = desired.clone();
    let used: Vec<String> = desired
        .interfaces
        .iter()
        .flat_map(|i| std::iter::once(i.name()).chain(i.ports().unwrap_or_default()))
        .map(str::to_owned)
        .chain(desired.interfaces.iter().filter_map(|i| parent(i).map(str::to_owned)))
        .collect();
    // An absent one would stand in the place of the new one, which would be lost in silence. nmstate refuses another type than the
    // current one.
    let has_other_type = |old: &Interface| {
        let mut new = desired.interfaces.iter().filter(|new| names::is_in_kernel(new));
        names::is_in_kernel(old) && new.any(|new| new.name() == old.name())
    };
    let gone: Vec<Interface> = previous
        .interfaces
        .iter()
        .filter(|old| old.is_up())
        .filter(|old| {
            !desired
                .interfaces
                .iter()
                .any(|new| new.name() == old.name() && new.iface_type() == old.iface_type())
        })
        .filter(|old| !has_other_type(old))
        .filter(|old| old.is_virtual() || !used.iter().any(|u| u == old.name()))
        .cloned()
        .collect();
    for old in &gone {
        let mut absent = Interface::default();
        let base = absent.base_iface_mut();
        base.name = old.name().to_owned();
        base.iface_type = old.iface_type();
        base.state = InterfaceState::Absent;
        // Through JSON: each type has its own struct.
        if let Ok(typed) = serde_json::to_value(&absent).and_then(serde_json::from_value) {
            desired.append_interface_data(typed);
        }
    }
    let lost =
        |name: &Option<String>| name.as_ref().is_some_and(|n| gone.iter().any(|g| g.name() == n));
    // nmstate takes routes that differ by the metric alone for one, and the current one stays.
    let stays = |old: &RouteEntry, routes: &[RouteEntry]| {
        routes.iter().any(|new| new == old && new.metric == old.metric)
    };
    let mut routes = desired.routes.config.take().unwrap_or_default();
    let mut absent: Vec<RouteEntry> = Vec::new();
    for old in
        previous.routes.config.iter().flatten().filter(|r| r.state != Some(RouteState::Absent))
    {
        if !stays(old, &routes) && !lost(&old.next_hop_iface) {
            let mut old = old.clone();
            old.state = Some(RouteState::Absent);
            absent.push(old);
        }
    }
    absent.append(&mut routes);
    desired.routes.config = (!absent.is_empty()).then_some(absent);
    let mut rules = desired.rules.config.take().unwrap_or_default();
    for old in previous.rules.config.iter().flatten().filter(|r| r.state.is_none()) {
        if !rules.iter().any(|new| rules::is_same(new, old)) {
            let mut old = old.clone();
            old.state = Some(RouteRuleState::Absent);
            rules.push(old);
        }
    }
    desired.rules.config = (!rules.is_empty()).then_some(rules);
    if desired.dns.is_none() && previous.dns.is_some() {
        let mut dns = DnsState::new();
        dns.config = Some(DnsClientState::new());
        desired.dns = Some(dns);
    }
    for (map, key) in former_settings(&desired, &previous, settings) {
        let ovsdb = desired.ovsdb.get_or_insert_default();
        let keys = match map {
            OvsMap::ExternalIds => &mut ovsdb.external_ids,
            OvsMap::OtherConfig => &mut ovsdb.other_config,
        };
        keys.get_or_insert_default().insert(key, None);
    }
    desired
}

/// The settings of Open vSwitch that the document before has, with their values still, and `desired` has not. An empty map of
/// `desired` removes all of it, and an empty `ovs-db` both.
pub(super) fn former_settings(
    desired: &NetworkState,
    previous: &NetworkState,
    settings: &[OvsSetting],
) -> Vec<(OvsMap, String)> {
    let is_purge = desired
        .ovsdb
        .as_ref()
        .is_some_and(|ovsdb| ovsdb.external_ids.is_none() && ovsdb.other_config.is_none());
    if is_purge {
        return Vec::new();
    }
    let is_kept = |map: OvsMap, key: &String| {
        let own = desired.ovsdb.as_ref().and_then(|ovsdb| match map {
            OvsMap::ExternalIds => ovsdb.external_ids.as_ref(),
            OvsMap::OtherConfig => ovsdb.other_config.as_ref(),
        });
        own.is_some_and(|own| own.is_empty() || own.contains_key(key))
    };
    let maps = previous.ovsdb.iter().flat_map(|ovsdb| {
        [(OvsMap::ExternalIds, &ovsdb.external_ids), (OvsMap::OtherConfig, &ovsdb.other_config)]
    });
    let former = maps
        .flat_map(|(map, keys)| keys.iter().flatten().map(move |(key, value)| (map, key, value)));
    let goes = |(map, key, value): &(OvsMap, &String, &Option<String>)| {
        let is_it = |setting: &&OvsSetting| setting.map == *map && setting.key == **key;
        let now = settings.iter().find(is_it).and_then(|setting| setting.value.as_ref());
        now.is_some() && value.as_ref() == now && !is_kept(*map, key)
    };
    former.filter(goes).map(|(map, key, _)| (map, key.clone())).collect()
}
