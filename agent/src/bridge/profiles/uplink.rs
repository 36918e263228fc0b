//! The profile of the uplink: the device's own settings, without IP, as a port of the bridge.

use super::{
    ip,
    planned::{PRIORITY, YES, attach, identified, planned},
};
use crate::{
    bridge::{
        error::{BridgeError, Result},
        inputs::Inputs,
        names::{self, BridgeNames},
        plan::{PlannedProfile, Role, Secrets},
        source::Source,
    },
    model::{
        Link, Profile,
        connection::{ConnectionSettings, Value},
    },
};

/// Sections of a device beside the one of its type.
const OF_DEVICE: [&str; 7] = ["802-1x", "802-3-ethernet", "dcb", "ethtool", "link", "sriov", "tc"];

/// Properties of `802-3-ethernet` that choose a device, which the interface's name does here, or
/// that are set anew.
const NOT_COPIED: &str = "mac-address mac-address-blacklist mac-address-denylist cloned-mac-address \
    assigned-mac-address generate-mac-address-mask mtu";

pub(super) fn uplink(
    inputs: &Inputs,
    bridge: BridgeNames,
    source: Source<'_>,
) -> Result<PlannedProfile> {
    let Source { link, device, .. } = source;
    let mut settings = device_settings(inputs, link, device)?;
    let kind = kind_of_uplink(device);
    settings.set("connection", "autoconnect-priority", PRIORITY);
    settings.set("connection", "autoconnect-slaves", YES);
    for property in ["auth-retries", "lldp", "wait-activation-delay"] {
        if let Some(value) = device.settings.get("connection", property) {
            settings.set("connection", property, value.clone());
        }
    }
    settings.set("802-3-ethernet", "mtu", link.mtu());
    if let Some(mac) = link.mac.as_ref().filter(|_| has_fixed_mac(device)) {
        settings.set("802-3-ethernet", "assigned-mac-address", mac.to_string());
    }
    settings.set("ovs-interface", "type", "system");
    attach(&mut settings, &names::uuid(&bridge.physical_port_id()), "ovs-port");
    let mut profile = planned(bridge.physical_id(), kind, &link.name, Role::Uplink, settings);
    profile.secrets = secrets_of(device);
    Ok(profile)
}

/// Returns the uplink's own profile, where a document that is gone had made it a port of its bridge. It has the addresses of that
/// bridge; `None` if it never lost them.
pub(in crate::bridge) fn own(source: Source<'_>) -> Option<PlannedProfile> {
    let Source { link, device, ip: local, .. } = source;
    if device.uuid() == local.uuid() || names::is_automatic(device.id()) {
        return None;
    }
    let mut settings = device.settings.clone();
    for property in ["controller", "master", "port-type", "slave-type", "timestamp"] {
        settings.unset("connection", property);
    }
    settings.drop_section("ovs-interface");
    ip::copy(&local.settings, &mut settings);
    for family in ["ipv4", "ipv6"] {
        settings.unset(family, "route-metric");
    }
    let (id, uuid) = (device.id().to_owned(), device.uuid().to_owned());
    Some(identified(id, uuid, device.kind(), &link.name, Role::Own, settings))
}

pub(super) fn secrets_of(profile: &Profile) -> Option<Secrets> {
    profile.settings.section("802-1x")?;
    Some(Secrets { of: profile.uuid().to_owned(), section: "802-1x".to_owned() })
}

/// Whether a section of the device's profile comes along, with the uplink or with the local
/// interface, or only chooses a device.
pub(in crate::bridge) fn is_carried(device: &Profile, section: &str) -> bool {
    let ours = ["connection", "match", "ovs-interface", "veth"];
    section == device.kind()
        || OF_DEVICE.contains(&section)
        || ours.contains(&section)
        || ip::SECTIONS.contains(&section)
}

/// A veth is an Ethernet card to NetworkManager once it exists.
fn kind_of_uplink(device: &Profile) -> &str {
    match device.kind() {
        "veth" => "802-3-ethernet",
        other => other,
    }
}

fn device_settings(inputs: &Inputs, link: &Link, device: &Profile) -> Result<ConnectionSettings> {
    let kind = kind_of_uplink(device);
    let mut settings = ConnectionSettings::default();
    for section in OF_DEVICE.into_iter().chain([kind]) {
        let Some(found) = device.settings.section(section) else { continue };
        *settings.section_mut(section) = found.clone();
    }
    for property in NOT_COPIED.split(' ') {
        settings.unset("802-3-ethernet", property);
    }
    // An old spelling of connection.interface-name, and of the MAC address.
    settings.unset(kind, "interface-name");
    match kind {
        "bridge" => {
            settings.unset(kind, "mac-address");
        }
        "team" => team(&mut settings),
        "vlan" => vlan(inputs, link, device, &mut settings)?,
        _ => {}
    }
    Ok(settings)
}

/// A VLAN needs a parent that stays: a name, not the UUID of a profile.
fn vlan(
    inputs: &Inputs,
    link: &Link,
    device: &Profile,
    settings: &mut ConnectionSettings,
) -> Result {
    let lacks = |property| BridgeError::Incomplete {
        link: link.name.clone(),
        id: device.id().to_owned(),
        property,
    };
    let parent = settings.text("vlan", "parent").ok_or_else(|| lacks("vlan.parent"))?;
    let parent = parent_name(inputs, parent).to_owned();
    settings.set("vlan", "parent", parent);
    settings.get("vlan", "id").map(|_| ()).ok_or_else(|| lacks("vlan.id"))
}

/// The device of a VLAN's parent, which may be the UUID of a profile.
pub(in crate::bridge) fn parent_name<'a>(inputs: &'a Inputs, parent: &'a str) -> &'a str {
    let active = inputs
        .active
        .iter()
        .find(|active| active.uuid == parent)
        .map(|active| active.device.as_str());
    active.or_else(|| inputs.profile(parent).and_then(Profile::interface_name)).unwrap_or(parent)
}

/// The other properties of a team repeat `config`, whose white space configure-ovs.sh removes.
fn team(settings: &mut ConnectionSettings) {
    let Some(config) = settings.text("team", "config") else { return };
    let config: String = config.split_whitespace().collect();
    settings.drop_section("team");
    settings.set("team", "config", config);
}

/// Whether the uplink's MAC address is the profile's to set. A bond or a team may take its address
/// from the active port, and a fixed one would break its failover.
fn has_fixed_mac(device: &Profile) -> bool {
    match device.kind() {
        "bond" => !follows_active_port(&device.settings),
        "team" => {
            let config = device.settings.text("team", "config").unwrap_or_default();
            let config: serde_json::Value = serde_json::from_str(config).unwrap_or_default();
            let of = |key: &str| config["runner"][key].as_str();
            let by_active = matches!(of("hwaddr_policy"), Some("by_active" | "only_active"));
            of("name") != Some("activebackup") || !by_active
        }
        _ => true,
    }
}

/// Whether a bond's address is its active port's.
fn follows_active_port(settings: &ConnectionSettings) -> bool {
    let Some(Value::TextMap(options)) = settings.get("bond", "options") else { return false };
    let of = |key: &str| options.get(key).map(String::as_str);
    matches!(of("mode"), Some("active-backup" | "1"))
        && matches!(of("fail_over_mac"), Some("1" | "active" | "2" | "follow"))
}
