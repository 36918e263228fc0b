//! Kernel names for logical names (`identifier: mac-address`).

use nmstate::{Interface, InterfaceIdentifier, InterfaceType, NetworkState};

use crate::model::Mac;

/// Gives each interface identified by MAC address its kernel name, as nmstate does when it applies;
/// the document's name becomes the profile's. `name_of` finds the kernel name of a MAC address; an
/// interface without one stays unchanged, for nmstate to judge.
pub(super) fn resolve(state: &mut NetworkState, name_of: impl Fn(&Mac) -> Option<String>) {
    let resolved: Vec<(String, String, Interface)> = state
        .interfaces
        .iter()
        .filter(|iface| is_logical(iface))
        .filter_map(|iface| {
            let mac = Mac::parse(iface.base_iface().mac_address.as_deref()?)?;
            let kernel = name_of(&mac)?;
            Some((iface.name().to_owned(), kernel, iface.clone()))
        })
        .collect();
    for (logical, _, iface) in &resolved {
        state.interfaces.remove_iface(logical, iface.iface_type());
    }
    for (logical, kernel, iface) in resolved {
        let mut iface = iface;
        let base = iface.base_iface_mut();
        base.name.clone_from(&kernel);
        base.profile_name = Some(logical.clone());
        state.interfaces.push(iface);
        for route in state.routes.config.iter_mut().flatten() {
            if route.next_hop_iface.as_ref() == Some(&logical) {
                route.next_hop_iface = Some(kernel.clone());
            }
        }
    }
}

/// Renames each interface that is known by its MAC address, and has its kernel name already, after the card that has the address
/// now: it may have got another name since.
pub(super) fn follow(state: &mut NetworkState, name_of: impl Fn(&Mac) -> Option<String>) {
    let renamed: Vec<(String, Interface)> = state
        .interfaces
        .iter()
        .filter(|iface| {
            let base = iface.base_iface();
            base.identifier == Some(InterfaceIdentifier::MacAddress) && base.profile_name.is_some()
        })
        .filter_map(|iface| {
            let now = name_of(&Mac::parse(iface.base_iface().mac_address.as_deref()?)?)?;
            (now != iface.name()).then(|| (now, iface.clone()))
        })
        .collect();
    for (_, iface) in &renamed {
        state.interfaces.remove_iface(iface.name(), iface.iface_type());
    }
    for (now, mut iface) in renamed {
        let before = std::mem::replace(&mut iface.base_iface_mut().name, now.clone());
        state.interfaces.push(iface);
        for route in state.routes.config.iter_mut().flatten() {
            if route.next_hop_iface.as_ref() == Some(&before) {
                route.next_hop_iface = Some(now.clone());
            }
        }
    }
}

fn is_logical(iface: &Interface) -> bool {
    let base = iface.base_iface();
    matches!(iface.iface_type(), InterfaceType::Ethernet | InterfaceType::Veth)
        && base.identifier == Some(InterfaceIdentifier::MacAddress)
        && base.profile_name.is_none()
        && !iface.is_absent()
}

/// The name of the NIC with this MAC address in a current state: by permanent address, else by
/// current one.
pub(super) fn card(current: &NetworkState, mac: &Mac) -> Option<String> {
    let is_same =
        |have: &Option<String>| have.as_deref().and_then(Mac::parse).is_some_and(|it| it == *mac);
    let cards = || current.interfaces.iter().filter(|i| matches!(i, Interface::Ethernet(_)));
    cards()
        .find(|i| is_same(&i.base_iface().permanent_mac_address))
        .or_else(|| cards().find(|i| is_same(&i.base_iface().mac_address)))
        .map(|i| i.name().to_owned())
}

/// Every name by which the document may call the interface: its own, and its profile's.
pub(super) fn of(iface: &Interface) -> impl Iterator<Item = &str> {
    std::iter::once(iface.name()).chain(iface.base_iface().profile_name.as_deref())
}
