//! Resolution of `copy-mac-from`. A bond has the address of its first port, and its ports join anew
//! when it becomes a port itself: resolved again later, the key may give another address. So it is
//! resolved once, from the state before the change, as nmstate does when it applies.

use nmstate::{Interface, InterfaceType, NetworkState};

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

/// The name of the interface whose address is copied. The key of an ovs-bridge, which nmstate drops, is meant for the ovs-interface
/// of its name, as in nmgen's profiles.
fn source<'a>(state: &'a NetworkState, iface: &'a Interface) -> Option<&'a String> {
    if !KINDS.contains(&iface.iface_type()) {
        return None;
    }
    let base = iface.base_iface();
    base.copy_mac_from.as_ref().or_else(|| {
        let is_meant =
            iface.iface_type() == InterfaceType::OvsInterface && base.mac_address.is_none();
        let bridge = state.interfaces.get_iface(iface.name(), InterfaceType::OvsBridge);
        bridge.filter(|bridge| is_meant && bridge.is_up())?.base_iface().copy_mac_from.as_ref()
    })
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
            let link = source(state, iface)?;
            let known = macs_of(link)?;
            let permanent = known.permanent.map(String::from);
            let mac =
                permanent.or_else(|| declared(state, link)).or(known.present.map(String::from));
            mac.map(|mac| mac.to_uppercase())
        })
        .collect();
    give(state, resolved);
}

/// Pairs of an interface and the one whose address it copies, where the state itself makes the latter and names no address for
/// it: nmstate refuses them unless that one is there before.
pub(super) fn from_made(state: &NetworkState) -> Vec<(String, String)> {
    let is_made = |link: &str| {
        let mut declared = state
            .interfaces
            .iter()
            .filter(|interface| interface.name() == link && interface.is_up());
        declared
            .any(|interface| interface.is_virtual() && interface.base_iface().mac_address.is_none())
    };
    let copies = state.interfaces.iter().filter(|interface| interface.is_up());
    let pairs = copies.filter_map(|copy| Some((copy, source(state, copy)?.clone())));
    let made = pairs.filter(|(_, link)| is_made(link));
    made.map(|(copy, link)| (copy.name().to_owned(), link)).collect()
}

/// Replaces each `copy-mac-from` by the address in `resolved`, an earlier resolved state.
pub(super) fn as_in(state: &mut NetworkState, resolved: &NetworkState) {
    let then = |iface: &Interface| {
        source(state, iface)?;
        let before = resolved.interfaces.get_iface(iface.name(), iface.iface_type());
        before?.base_iface().mac_address.clone()
    };
    let macs: Vec<Option<String>> = state.interfaces.iter().map(then).collect();
    give(state, macs);
}

fn give(state: &mut NetworkState, macs: Vec<Option<String>>) {
    for (iface, mac) in state.interfaces.iter_mut().zip(macs) {
        let base = iface.base_iface_mut();
        if mac.is_some() {
            base.mac_address = mac;
            base.copy_mac_from = None;
        }
    }
}
