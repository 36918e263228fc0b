//! IP settings, from one profile to another.

use crate::{
    bridge::inputs::Inputs,
    model::{Link, Scope, connection::ConnectionSettings},
};

/// Sections of the IP side of a profile.
pub(super) const SECTIONS: [&str; 5] = ["hostname", "ipv4", "ipv6", "proxy", "user"];

/// Copies the IP side of a profile.
pub(super) fn copy(from: &ConnectionSettings, to: &mut ConnectionSettings) {
    for name in SECTIONS {
        if let Some(section) = from.section(name) {
            let set = section.iter().filter(|(_, value)| !value.is_empty());
            let copy = set.map(|(property, value)| (property.clone(), value.clone())).collect();
            *to.section_mut(name) = copy;
        }
    }
}

/// Whether a profile has addresses of its own, beside DHCP or without it.
pub(super) fn is_static(settings: &ConnectionSettings) -> bool {
    ["ipv4", "ipv6"].into_iter().any(|family| {
        let has = |property| settings.get(family, property).is_some_and(|value| !value.is_empty());
        settings.text(family, "method") == Some("manual") || has("address-data")
    })
}

/// `may-fail` of a profile without addresses of its own: a family that works now has to work
/// afterwards.
pub(super) fn set_may_fail(settings: &mut ConnectionSettings, inputs: &Inputs, holder: &str) {
    let on = || inputs.addresses.iter().filter(|address| address.on.link == holder);
    let works = [
        ("ipv4", on().any(|address| address.on.ip.is_ipv4())),
        ("ipv6", on().any(|address| address.on.ip.is_ipv6() && address.scope != Scope::Link)),
    ];
    for (family, works) in works {
        settings.unset(family, "may-fail");
        if works {
            settings.set(family, "may-fail", false);
        }
    }
}

/// An id of the permanent MAC address in words: br-ex has no permanent address.
pub(super) fn keep_permanent_mac(settings: &mut ConnectionSettings, link: &Link) {
    if settings.text("ipv4", "dhcp-client-id") == Some("perm-mac")
        && let Some(mac) = &link.permanent_mac
    {
        // 1 is the hardware type of Ethernet.
        settings.set("ipv4", "dhcp-client-id", format!("01:{mac}"));
    }
}
