//! Interfaces of the userspace datapath, each of which NetworkManager shows twice: as OVS interface and
//! as tap device.
//!
//! nmstate reports the tap's profile in place of the interface's own. NetworkManager generates it from
//! what the kernel has at some moment, so it has neither name nor description, takes a lease's address
//! for a static one, and may disable a family that got its address later.

use std::collections::HashSet;

use nmstate::{Interface, InterfaceType, NetworkState};

const USERSPACE: &str = "netdev";

/// Takes what only a profile has from `desired`, for each family with an address in the kernel;
/// addresses stay to be compared.
pub(super) fn take_settings_from(desired: &NetworkState, current: &mut NetworkState) {
    let taps = names(current);
    for iface in current.interfaces.iter_mut() {
        let is_tap =
            iface.iface_type() == InterfaceType::OvsInterface && taps.contains(iface.name());
        let wanted = desired.interfaces.get_iface(iface.name(), iface.iface_type());
        let (true, Some(wanted)) = (is_tap, wanted) else { continue };
        let (wanted, base) = (wanted.base_iface(), iface.base_iface_mut());
        base.profile_name.clone_from(&wanted.profile_name);
        base.description.clone_from(&wanted.description);
        base.wait_ip.clone_from(&wanted.wait_ip);
        if let (Some(want), Some(have)) = (&wanted.ipv4, base.ipv4.as_mut())
            && want.enabled
            && have.addresses.as_ref().is_some_and(|list| !list.is_empty())
        {
            let addresses = have.addresses.take();
            have.clone_from(want);
            have.addresses = addresses;
        }
        if let (Some(want), Some(have)) = (&wanted.ipv6, base.ipv6.as_mut())
            && want.enabled
            && have.addresses.as_ref().is_some_and(|list| !list.is_empty())
        {
            let addresses = have.addresses.take();
            have.clone_from(want);
            have.addresses = addresses;
        }
    }
}

/// The ports of bridges with the userspace datapath.
fn names(current: &NetworkState) -> HashSet<String> {
    let mut names = HashSet::new();
    for iface in current.interfaces.iter() {
        if let Interface::OvsBridge(bridge) = iface
            && let Some(options) = bridge.bridge.as_ref().and_then(|bridge| bridge.options.as_ref())
            && options.datapath.as_deref() == Some(USERSPACE)
        {
            names.extend(iface.ports().into_iter().flatten().map(str::to_owned));
        }
    }
    names
}
