//! A current state with what a newer look at the kernel and Open vSwitch shows.

use nmstate::{Interface, NetworkState};

/// What the kernel and Open vSwitch say in `newer` instead of what they said in `state`: addresses,
/// routes, ports of OVS bridges. `false` if an interface of `desired` is gone: the rest of `state`
/// is stale then too. Other interfaces may be missing: nmstate hides Open vSwitch's own devices
/// from the kernel's side, and shows them from NetworkManager's.
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
    state.routes.clone_from(&newer.routes);
    true
}
