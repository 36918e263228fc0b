//! What counts as the same when a desired state is compared with the current one.

use nmstate::{Interface, InterfaceIpAddr, NetworkState, RouteEntry};

/// What the kernel and Open vSwitch say in `newer` instead of what they said in `state`: addresses,
/// running routes, ports of OVS bridges. `false` where an interface of `desired` is there no more:
/// then the rest of `state` is not to be believed either. Others may be missing: nmstate hides
/// devices of Open vSwitch's own from the kernel's side, and shows them from NetworkManager's.
pub(super) fn take_newer(
    state: &mut NetworkState,
    newer: &NetworkState,
    desired: &NetworkState,
) -> bool {
    for iface in state.interfaces.iter_mut() {
        // With Open vSwitch several interfaces bear one name.
        let Some(newer) = newer.interfaces.get_iface(iface.name(), iface.iface_type()) else {
            if desired.interfaces.get_iface(iface.name(), iface.iface_type()).is_some() {
                return false;
            }
            continue;
        };
        let (old, new) = (iface.base_iface_mut(), newer.base_iface());
        if let (Some(old), Some(new)) = (old.ipv4.as_mut(), new.ipv4.as_ref()) {
            old.addresses.clone_from(&new.addresses);
        }
        if let (Some(old), Some(new)) = (old.ipv6.as_mut(), new.ipv6.as_ref()) {
            old.addresses.clone_from(&new.addresses);
        }
        if let (Interface::OvsBridge(old), Interface::OvsBridge(new)) = (iface, newer) {
            old.bridge.clone_from(&new.bridge);
        }
    }
    state.routes.running.clone_from(&newer.routes.running);
    true
}

/// Addresses of `current` that the document does not list belong to someone else (keepalived),
/// unless the document says `allow-extra-address: false`. A family whose addresses the kernel has is
/// enabled, whatever a profile says: with the userspace datapath NetworkManager shows the bridge's
/// tap device a second time, with a profile it made up before the addresses were there.
pub(super) fn keep_only_desired_addresses(desired: &NetworkState, current: &mut NetworkState) {
    for iface in current.interfaces.iter_mut() {
        let Some(wanted) = desired.interfaces.get_iface(iface.name(), iface.iface_type()) else {
            continue;
        };
        let wanted = wanted.base_iface();
        let base = iface.base_iface_mut();
        if let (Some(want), Some(have)) = (&wanted.ipv4, base.ipv4.as_mut())
            && let (Some(want_list), Some(list)) = (&want.addresses, have.addresses.as_mut())
            && want.allow_extra_address != Some(false)
        {
            keep_wanted(list, want_list);
            have.enabled |= !want_list.is_empty() && list.len() == want_list.len();
        }
        if let (Some(want), Some(have)) = (&wanted.ipv6, base.ipv6.as_mut())
            && let (Some(want_list), Some(list)) = (&want.addresses, have.addresses.as_mut())
            && want.allow_extra_address != Some(false)
        {
            keep_wanted(list, want_list);
            have.enabled |= !want_list.is_empty() && list.len() == want_list.len();
        }
    }
}

/// Only the wanted addresses, in the wanted order.
fn keep_wanted(list: &mut Vec<InterfaceIpAddr>, wanted: &[InterfaceIpAddr]) {
    let place = |a: &InterfaceIpAddr| {
        wanted.iter().position(|w| w.ip == a.ip && w.prefix_length == a.prefix_length)
    };
    list.retain(|a| place(a).is_some());
    list.sort_by_key(place);
}

/// A desired route holds where the kernel has one that agrees in everything the document says;
/// an absent one holds where nothing matches.
pub(super) fn route_holds(desired: &RouteEntry, current: &NetworkState) -> bool {
    let same = |want: &Option<String>, have: &Option<String>| match want.as_deref() {
        None | Some("") => true,
        Some(_) => want == have,
    };
    let matches = |have: &RouteEntry| {
        same(&desired.destination, &have.destination)
            && same(&desired.next_hop_iface, &have.next_hop_iface)
            && same(&desired.next_hop_addr, &have.next_hop_addr)
            && desired.metric.is_none_or(|m| m < 0 || have.metric == Some(m))
            && desired.table_id.is_none_or(|t| t == 0 || have.table_id == Some(t))
    };
    let found = current.routes.running.iter().chain(&current.routes.config).flatten().any(matches);
    found != super::is_absent(desired)
}
