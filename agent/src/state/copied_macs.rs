//! What `copy-mac-from` comes to. A bond has the address of the port that joined it first, and gets its ports anew when it
//! becomes a port itself: asked again afterwards, the same words may mean another address. So they are settled once, from
//! what was there before, as nmstate does when it applies.

use nmstate::{InterfaceType, NetworkState};

/// The interfaces for which nmstate knows the words.
const KINDS: [InterfaceType; 3] =
    [InterfaceType::Bond, InterfaceType::LinuxBridge, InterfaceType::OvsInterface];

/// Addresses of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Macs {
    pub(crate) permanent: Option<String>,
    pub(crate) present: Option<String>,
}

/// Puts an address in the place of each `copy-mac-from` whose link `macs_of` knows: the permanent one, else the one that
/// the document gives that link, else its present one, which is nmstate's own order.
pub(super) fn settle(state: &mut NetworkState, macs_of: impl Fn(&str) -> Option<Macs>) {
    let declared = |state: &NetworkState, link: &str| {
        state
            .interfaces
            .iter()
            .filter(|i| i.name() == link)
            .find_map(|i| i.base_iface().mac_address.clone())
    };
    let settled: Vec<Option<String>> = state
        .interfaces
        .iter()
        .map(|iface| {
            let link = iface.base_iface().copy_mac_from.as_ref()?;
            let known = KINDS.contains(&iface.iface_type()).then(|| macs_of(link)).flatten()?;
            known.permanent.or_else(|| declared(state, link)).or(known.present)
        })
        .collect();
    for (iface, mac) in state.interfaces.iter_mut().zip(settled) {
        let base = iface.base_iface_mut();
        if mac.is_some() {
            base.mac_address = mac.map(|mac| mac.to_uppercase());
            base.copy_mac_from = None;
        }
    }
}

/// The same with the addresses that `settled`, a state of before, has come to.
pub(super) fn as_in(state: &mut NetworkState, settled: &NetworkState) {
    for iface in state.interfaces.iter_mut() {
        let before = settled.interfaces.get_iface(iface.name(), iface.iface_type());
        let mac = before.and_then(|before| before.base_iface().mac_address.clone());
        let base = iface.base_iface_mut();
        if base.copy_mac_from.is_some() && mac.is_some() {
            base.mac_address = mac;
            base.copy_mac_from = None;
        }
    }
}
