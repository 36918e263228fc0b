//! Resolution of `copy-mac-from`. A bond has the address of its first port, and its ports join anew
//! when it becomes a port itself: resolved again later, the key may give another address. So it is
//! resolved once, from the state before the change, as nmstate does when it applies.

use nmstate::{InterfaceType, NetworkState};

use crate::model::Mac;

/// The interface types for which nmstate supports the key.
const KINDS: [InterfaceType; 3] =
    [InterfaceType::Bond, InterfaceType::LinuxBridge, InterfaceType::OvsInterface];

/// Addresses of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Macs {
    pub(crate) permanent: Option<Mac>,
    pub(crate) present: Option<Mac>,
}

/// Replaces each `copy-mac-from` whose link `macs_of` knows by an address, in nmstate's order: the
/// permanent one, else the document's for that link, else the current one.
pub(super) fn resolve(state: &mut NetworkState, macs_of: impl Fn(&str) -> Option<Macs>) {
    let declared = |state: &NetworkState, link: &str| {
        state
            .interfaces
            .iter()
            .filter(|i| i.name() == link)
            .find_map(|i| i.base_iface().mac_address.clone())
    };
    let resolved: Vec<Option<String>> = state
        .interfaces
        .iter()
        .map(|iface| {
            let link = iface.base_iface().copy_mac_from.as_ref()?;
            let known = KINDS.contains(&iface.iface_type()).then(|| macs_of(link)).flatten()?;
            let permanent = known.permanent.map(String::from);
            permanent.or_else(|| declared(state, link)).or(known.present.map(String::from))
        })
        .collect();
    for (iface, mac) in state.interfaces.iter_mut().zip(resolved) {
        let base = iface.base_iface_mut();
        if mac.is_some() {
            base.mac_address = mac.map(|mac| mac.to_uppercase());
            base.copy_mac_from = None;
        }
    }
}

/// Replaces each `copy-mac-from` by the address in `resolved`, an earlier resolved state.
pub(super) fn as_in(state: &mut NetworkState, resolved: &NetworkState) {
    for iface in state.interfaces.iter_mut() {
        let before = resolved.interfaces.get_iface(iface.name(), iface.iface_type());
        let mac = before.and_then(|before| before.base_iface().mac_address.clone());
        let base = iface.base_iface_mut();
        if base.copy_mac_from.is_some() && mac.is_some() {
            base.mac_address = mac;
            base.copy_mac_from = None;
        }
    }
}
