//! Update of a current state from a newer state of the kernel and Open vSwitch.

use nmstate::{Interface, InterfaceIdentifier, NetworkState};

/// Replaces the kernel's and Open vSwitch's part of `state` by that of `newer`: addresses, routes, ports of OVS bridges, and what
/// Open vSwitch gives to an interface some milliseconds after it has made it. `false` if an interface of `desired` is gone: the
/// rest of `state` is then stale too. Other interfaces may be missing: nmstate shows Open vSwitch's own devices only with
/// NetworkManager.
pub(super) fn take_newer(
    state: &mut NetworkState,
    newer: &NetworkState,
    desired: &NetworkState,
) -> bool {
    for iface in state.interfaces.iter_mut() {
        // With Open vSwitch several interfaces may have the same name.
        let Some(newer) = newer.interfaces.get_iface(iface.name(), iface.iface_type()) else {
            if desired.interfaces.get_iface(iface.name(), iface.iface_type()).is_some() {
                return false;
            }
            continue;
        };
        let (old, new) = (iface.base_iface_mut(), newer.base_iface());
        old.mtu = new.mtu.or(old.mtu);
        // Otherwise it is the address in the profile, by which NetworkManager finds the card.
        if old.identifier != Some(InterfaceIdentifier::MacAddress) && new.mac_address.is_some() {
            old.mac_address.clone_from(&new.mac_address);
        }
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
