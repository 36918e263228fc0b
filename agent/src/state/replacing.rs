//! Replacement of one document by the next; nmstate itself merges states.

use nmstate::{
    DnsClientState, DnsState, Interface, InterfaceState, RouteEntry, RouteRuleState, RouteState,
};

use super::{State, names, parent, rules};
use crate::model::{OvsKey, OvsMap, OvsSetting};

impl State {
    /// This desired state, which also removes everything only `previous` declares: nmstate merges, so a route or bridge no longer
    /// mentioned would stay for good. `settings` are those of Open vSwitch at present: one with another value than the document's
    /// is somebody else's by now.
    pub(crate) fn replacing(&self, previous: &Self, settings: &[OvsSetting]) -> Self {
        let former = self.former_settings(previous, settings);
        // The document before may call a card by another of its names.
        let mut previous = previous.0.clone();
        names::resolve(&mut previous, |wanted| names::in_resolved(&self.0, wanted));
        let mut desired = self.0.clone();
        let used: Vec<String> = desired
            .interfaces
            .iter()
            .flat_map(|i| std::iter::once(i.name()).chain(i.ports().unwrap_or_default()))
            .map(str::to_owned)
            .chain(desired.interfaces.iter().filter_map(|i| parent(i).map(str::to_owned)))
            .collect();
        // An absent one would stand in the place of the new one, which would be lost in silence. nmstate refuses another type than
        // the current one.
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
        let lost = |name: &Option<String>| {
            name.as_ref().is_some_and(|n| gone.iter().any(|g| g.name() == n))
        };
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
        for OvsKey { map, key } in former {
            let ovsdb = desired.ovsdb.get_or_insert_default();
            let keys = match map {
                OvsMap::ExternalIds => &mut ovsdb.external_ids,
                OvsMap::OtherConfig => &mut ovsdb.other_config,
            };
            keys.get_or_insert_default().extend(key.map(|key| (key, None)));
        }
        Self(desired)
    }

    /// The settings of Open vSwitch that [`Self::replacing`] removes: those that the document before has, with their values still,
    /// and this state has not. An empty map of this state removes all of it, and an empty `ovs-db` both.
    pub(crate) fn former_settings(&self, previous: &Self, settings: &[OvsSetting]) -> Vec<OvsKey> {
        let desired = self.0.ovsdb.as_ref();
        if desired.is_some_and(|ovsdb| ovsdb.external_ids.is_none() && ovsdb.other_config.is_none())
        {
            return Vec::new();
        }
        let is_kept = |map: OvsMap, key: &String| {
            let own = desired.and_then(|ovsdb| match map {
                OvsMap::ExternalIds => ovsdb.external_ids.as_ref(),
                OvsMap::OtherConfig => ovsdb.other_config.as_ref(),
            });
            own.is_some_and(|own| own.is_empty() || own.contains_key(key))
        };
        let maps = previous.0.ovsdb.iter().flat_map(|ovsdb| {
            [(OvsMap::ExternalIds, &ovsdb.external_ids), (OvsMap::OtherConfig, &ovsdb.other_config)]
        });
        let former = maps.flat_map(|(map, keys)| {
            keys.iter().flatten().map(move |(key, value)| (map, key, value))
        });
        let goes = |(map, key, value): &(OvsMap, &String, &Option<String>)| {
            let is_it = |setting: &&OvsSetting| setting.map == *map && setting.key == **key;
            let now = settings.iter().find(is_it).and_then(|setting| setting.value.as_ref());
            now.is_some() && value.as_ref() == now && !is_kept(*map, key)
        };
        former.filter(goes).map(|(map, key, _)| OvsKey { map, key: Some(key.clone()) }).collect()
    }
}
