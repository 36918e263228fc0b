//! Update of a current state from a newer state of the kernel and Open vSwitch.

use nmstate::{Interface, InterfaceIdentifier};

use super::State;

impl State {
    /// This current state with the kernel's and Open vSwitch's part of the newer state `kernel`: addresses, routes, ports of OVS
    /// bridges, and what Open vSwitch gives to an interface some milliseconds after it has made it. `None` if an interface of
    /// `desired` is gone: the rest of this state is then stale too. Other interfaces may be missing: nmstate shows Open vSwitch's
    /// own devices only with NetworkManager.
    pub(crate) fn with_newer(mut self, kernel: &Self, desired: &Self) -> Option<Self> {
        for iface in self.0.interfaces.iter_mut() {
            // With Open vSwitch several interfaces may have the same name.
            let Some(newer) = kernel.0.interfaces.get_iface(iface.name(), iface.iface_type())
            else {
                if desired.0.interfaces.get_iface(iface.name(), iface.iface_type()).is_some() {
                    return None;
                }
                continue;
            };
            let (old, new) = (iface.base_iface_mut(), newer.base_iface());
            old.mtu = new.mtu.or(old.mtu);
            // Otherwise it is the address in the profile, by which NetworkManager finds the card.
            if old.identifier != Some(InterfaceIdentifier::MacAddress) && new.mac_address.is_some()
            {
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
        self.0.routes.clone_from(&kernel.0.routes);
        Some(self)
    }
}
