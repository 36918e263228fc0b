//! Settings of the present configuration that br-ex loses, each by name.

use super::{inputs::Inputs, plan::Loss, profiles::is_carried, source::Source};
use crate::model::{Family, Profile, connection::Value};

pub(super) fn losses(inputs: &Inputs, source: Source<'_>) -> Vec<Loss> {
    let Source { device, ip, link, .. } = source;
    let mut found = sections(device);
    found.extend(unsupported(device));
    if ip.uuid() != device.uuid() {
        found.extend(unsupported(ip));
    }
    found.extend(addresses(ip));
    found.extend(identities(ip, link.permanent_mac.is_some()));
    found.extend(vlans(inputs, device));
    found
}

fn loss(profile: &Profile, property: impl Into<String>, why: &str) -> Loss {
    Loss { profile: profile.id().to_owned(), property: property.into(), why: why.to_owned() }
}

/// Sections that neither the uplink nor br-ex gets.
fn sections(device: &Profile) -> Vec<Loss> {
    let is_lost = |name: &&str| !is_carried(device, name);
    let names = device.settings.sections().map(|(name, _)| name).filter(is_lost);
    let why = "dayone does not know this section";
    names.map(|name| loss(device, name, why)).collect()
}

/// Properties whose type the agent cannot write.
fn unsupported(profile: &Profile) -> Vec<Loss> {
    let mut found = Vec::new();
    for (section, properties) in profile.settings.sections() {
        for (property, value) in properties {
            if let Value::Unsupported(kind) = value {
                let why = format!("dayone does not know its D-Bus type {kind}");
                found.push(loss(profile, format!("{section}.{property}"), &why));
            }
        }
    }
    found
}

/// Addresses that depend on the interface's name and the profile's UUID.
fn addresses(ip: &Profile) -> Option<Loss> {
    const STABLE_PRIVACY: i64 = 1;
    // NetworkManager's configuration decides; where it says nothing, stable-privacy.
    const DEFAULT: i64 = 3;
    let mode = ip.settings.number("ipv6", "addr-gen-mode");
    let has_token = ip.settings.text("ipv6", "token").is_some();
    (ip.is_dynamic(Family::Ipv6) && matches!(mode, Some(STABLE_PRIVACY | DEFAULT)) && !has_token).then(|| {
        let why = match mode {
            Some(STABLE_PRIVACY) => {
                "the address depends on the interface's name and the profile's UUID, so br-ex has \
                 another one, the same at each boot"
            }
            _ => {
                "NetworkManager's default decides: with stable-privacy the address depends on the \
                 interface's name and the profile's UUID, so br-ex has another one, the same at each \
                 boot"
            }
        };
        loss(ip, "the stable-privacy address of ipv6.addr-gen-mode", why)
    })
}

/// Identities towards a DHCP server that depend on the profile or the device.
fn identities(ip: &Profile, has_permanent_mac: bool) -> Vec<Loss> {
    let is = |section: &str, property: &str, value: &str| {
        ip.settings.text(section, property).is_some_and(|text| text.starts_with(value))
    };
    let profile = "it depends on the profile's UUID, so the server sees another client";
    let name = "it depends on the interface's name, so the server sees another client";
    let card = "it depends on the card's permanent MAC address, which the kernel does not tell, so the \
                server sees another client";
    let possible = [
        ("ipv4", "dhcp-client-id", "stable", profile, true),
        ("ipv4", "dhcp-client-id", "perm-mac", card, !has_permanent_mac),
        ("ipv4", "dhcp-iaid", "stable", profile, true),
        ("ipv4", "dhcp-iaid", "ifname", name, true),
        ("ipv4", "dhcp-iaid", "perm-mac", card, true),
        ("ipv6", "dhcp-duid", "stable-", profile, true),
        ("ipv6", "dhcp-iaid", "stable", profile, true),
        ("ipv6", "dhcp-iaid", "ifname", name, true),
        ("ipv6", "dhcp-iaid", "perm-mac", card, true),
    ];
    possible
        .into_iter()
        .filter(|(section, property, value, _, applies)| *applies && is(section, property, value))
        .map(|(section, property, _, why, _)| loss(ip, format!("{section}.{property}"), why))
        .collect()
}

/// VLANs on the uplink whose parent is its profile: that is not active any more.
fn vlans(inputs: &Inputs, device: &Profile) -> Vec<Loss> {
    let is_on = |profile: &&Profile| {
        profile.kind() == "vlan" && profile.settings.text("vlan", "parent") == Some(device.uuid())
    };
    let why = format!(
        "it is the UUID of the profile {}, which br-ex replaces: name the interface instead",
        device.id()
    );
    inputs.profiles.iter().filter(is_on).map(|vlan| loss(vlan, "vlan.parent", &why)).collect()
}
