//! Kernel names for logical names (`identifier: mac-address` and `pci-address`) and for alternative ones.

use nmstate::{Interface, InterfaceIdentifier, InterfaceType, NetworkState};

use crate::model::{LinkRef, Mac};

/// Gives each interface that the document knows by MAC or PCI address or by an alternative name its kernel name, as nmstate does
/// when it applies; the document's name becomes that of the profile, where it gives none. `name_of` finds the kernel name; an
/// interface without one stays unchanged, for nmstate to judge.
pub(super) fn resolve(state: &mut NetworkState, name_of: impl Fn(&LinkRef) -> Option<String>) {
    let resolved: Vec<(String, Interface)> = state
        .interfaces
        .iter()
        .filter_map(|iface| Some((name_of(&reference(iface)?)?, iface.clone())))
        .filter(|(kernel, iface)| !is_by_name(iface) || !is_declared(state, kernel))
        .collect();
    rename(state, resolved);
}

/// How the document calls an interface that may have another name in the kernel.
fn reference(iface: &Interface) -> Option<LinkRef> {
    if is_logical(iface) {
        return identity(iface);
    }
    if iface.base_iface().identifier == Some(InterfaceIdentifier::PciAddress) {
        return identity(iface).filter(|_| !iface.is_absent());
    }
    (is_by_name(iface) && is_in_kernel(iface)).then(|| LinkRef::Name(iface.name().to_owned()))
}

/// Whether its name is one of the kernel, which no other interface there can have.
pub(super) fn is_in_kernel(iface: &Interface) -> bool {
    !matches!(iface.iface_type(), InterfaceType::OvsBridge | InterfaceType::Ipsec)
}

/// The address by which the document knows a card.
pub(super) fn identity(iface: &Interface) -> Option<LinkRef> {
    let base = iface.base_iface();
    let is_by = |identifier| base.identifier == Some(identifier);
    let mac = base.mac_address.as_deref().filter(|_| is_by(InterfaceIdentifier::MacAddress));
    let place = base.pci_address.filter(|_| is_by(InterfaceIdentifier::PciAddress));
    let place = place.map(|place| LinkRef::Pci(place.to_string()));
    mac.and_then(Mac::parse).map(LinkRef::Mac).or(place)
}

fn is_by_name(iface: &Interface) -> bool {
    matches!(iface.base_iface().identifier, None | Some(InterfaceIdentifier::Name))
}

/// nmstate refuses a document that has an interface by its kernel name and by its alternative one.
fn is_declared(state: &NetworkState, kernel: &str) -> bool {
    state.interfaces.get_iface(kernel, InterfaceType::Unknown).is_some()
}

/// Gives these interfaces and their routes other names; a profile without a name keeps the former one.
fn rename(state: &mut NetworkState, renamed: Vec<(String, Interface)>) {
    for (_, iface) in &renamed {
        state.interfaces.remove_iface(iface.name(), iface.iface_type());
    }
    for (now, mut iface) in renamed {
        let base = iface.base_iface_mut();
        let before = std::mem::replace(&mut base.name, now.clone());
        base.profile_name.get_or_insert_with(|| before.clone());
        state.interfaces.push(iface);
        for route in state.routes.config.iter_mut().flatten() {
            if route.next_hop_iface.as_ref() == Some(&before) {
                route.next_hop_iface = Some(now.clone());
            }
        }
    }
}

/// Renames each interface that is known by its MAC or PCI address, and has its kernel name already, after the card that has the
/// address now: it may have got another name since.
pub(super) fn follow(state: &mut NetworkState, name_of: impl Fn(&LinkRef) -> Option<String>) {
    let renamed: Vec<(String, Interface)> = state
        .interfaces
        .iter()
        .filter(|iface| iface.base_iface().profile_name.is_some())
        .filter_map(|iface| {
            let now = name_of(&identity(iface)?)?;
            (now != iface.name()).then(|| (now, iface.clone()))
        })
        .collect();
    rename(state, renamed);
}

fn is_logical(iface: &Interface) -> bool {
    let base = iface.base_iface();
    matches!(iface.iface_type(), InterfaceType::Ethernet | InterfaceType::Veth)
        && base.identifier == Some(InterfaceIdentifier::MacAddress)
        && base.profile_name.is_none()
        && !iface.is_absent()
}

/// The kernel name of what a document calls so, in a current state.
pub(super) fn in_current(current: &NetworkState, wanted: &LinkRef) -> Option<String> {
    in_state(current, wanted, |iface, name| {
        let others = iface.base_iface().alt_names.as_deref().unwrap_or_default();
        others.iter().any(|other| other.name == name)
    })
}

/// The kernel name of what a document calls so, in its resolved state.
pub(super) fn in_resolved(resolved: &NetworkState, wanted: &LinkRef) -> Option<String> {
    in_state(resolved, wanted, |iface, name| {
        iface.base_iface().profile_name.as_deref() == Some(name)
    })
}

/// A name is that of the first interface that is meant, unless one has this name itself.
fn in_state(
    state: &NetworkState,
    wanted: &LinkRef,
    is_meant: impl Fn(&Interface, &str) -> bool,
) -> Option<String> {
    match wanted {
        LinkRef::Mac(mac) => card(state, mac),
        LinkRef::Pci(address) => at_pci(state, address),
        LinkRef::Name(name) if is_declared(state, name) => None,
        LinkRef::Name(name) => {
            let mut all = state.interfaces.iter();
            all.find(|iface| is_meant(iface, name)).map(|iface| iface.name().to_owned())
        }
    }
}

/// The kernel name of the card at this PCI address.
fn at_pci(state: &NetworkState, address: &str) -> Option<String> {
    let is_it = |iface: &&Interface| {
        iface.base_iface().pci_address.is_some_and(|pci_address| pci_address.to_string() == address)
    };
    state.interfaces.iter().find(is_it).map(|iface| iface.name().to_owned())
}

/// The name of the NIC with this MAC address in a current state: by permanent address, else by
/// current one.
fn card(current: &NetworkState, mac: &Mac) -> Option<String> {
    let is_same = |have: &Option<String>| {
        have.as_deref().and_then(Mac::parse).is_some_and(|address| address == *mac)
    };
    let cards = || current.interfaces.iter().filter(|i| matches!(i, Interface::Ethernet(_)));
    cards()
        .find(|i| is_same(&i.base_iface().permanent_mac_address))
        .or_else(|| cards().find(|i| is_same(&i.base_iface().mac_address)))
        .map(|i| i.name().to_owned())
}

/// Every name by which the document may refer to the interface, alternative ones included, which the apply gives it.
pub(super) fn declared(iface: &Interface) -> impl Iterator<Item = &str> {
    let others = iface.base_iface().alt_names.iter().flatten();
    of(iface).chain(others.map(|other| other.name.as_str()))
}

/// Every name by which the document may call the interface: its own, and its profile's.
pub(super) fn of(iface: &Interface) -> impl Iterator<Item = &str> {
    std::iter::once(iface.name()).chain(iface.base_iface().profile_name.as_deref())
}
