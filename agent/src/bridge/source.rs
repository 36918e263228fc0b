//! The profiles whose settings an uplink brings along: those that configure it now, or that
//! configured it before a bridge took it.

use super::{
    error::{BridgeError, Result},
    inputs::Inputs,
    names::{self, BridgeNames},
};
use crate::model::{Layer, Link, Profile, connection::Value};

/// Profiles that an uplink brings along.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) link: &'a Link,
    pub(super) device: &'a Profile,
    /// The profile with the IP settings; the same unless a bridge carries the device.
    pub(super) ip: &'a Profile,
    /// The interface with the addresses at this moment.
    pub(super) holder: &'a str,
}

/// Finds them for the uplink of `bridge`; `file` names it, if a file does.
pub(super) fn find<'a>(
    inputs: &'a Inputs,
    name: &str,
    bridge: BridgeNames,
    file: &'static str,
) -> Result<Source<'a>> {
    let no_link = || BridgeError::NoLink { file, link: name.to_owned() };
    let link = inputs.link(name).ok_or_else(no_link)?;
    fits_a_bridge(inputs, link)?;
    let no_profile = || BridgeError::NoProfile { link: name.to_owned() };
    let active =
        active_on(inputs, name, |kind| !kind.starts_with("ovs-")).ok_or_else(no_profile)?;
    if !names::is_automatic(active.id()) && active.controller().is_none() {
        return Ok(Source { link, device: active, ip: active, holder: &link.name });
    }
    if port_type(active) != Some("ovs-port") {
        let controller = active.controller().unwrap_or_default();
        let of_uuid = inputs.profile(controller).and_then(Profile::interface_name);
        let controller = of_uuid.unwrap_or(controller).to_owned();
        return Err(BridgeError::IsPort { link: name.to_owned(), controller });
    }
    // A bridge carries it. An automatic one stands on the node's own profile, which the next boot
    // would use; a document has changed that profile, and its addresses are on the bridge.
    let local = active_on(inputs, bridge.bridge, |kind| kind == "ovs-interface");
    let own = names::is_automatic(active.id()).then(|| own_profile(inputs, link)).flatten();
    let holder = local.map_or(link.name.as_str(), |_| bridge.bridge);
    match (own, local) {
        (Some(own), _) => Ok(Source { link, device: own, ip: own, holder }),
        (None, Some(local)) => Ok(Source { link, device: active, ip: local, holder }),
        (None, None) => Err(no_profile()),
    }
}

/// Whether Open vSwitch can take the link as a port of an automatic bridge.
fn fits_a_bridge(inputs: &Inputs, link: &Link) -> Result {
    let name = || link.name.clone();
    match link.layer {
        Layer::Ethernet => {}
        Layer::Infiniband => return Err(BridgeError::Infiniband { link: name() }),
        Layer::Loopback | Layer::Other => return Err(BridgeError::NotEthernet { link: name() }),
    }
    if let Some(controller) =
        link.controller.as_ref().filter(|controller| *controller != "ovs-system")
    {
        return Err(BridgeError::IsPort { link: name(), controller: controller.clone() });
    }
    let mut others = inputs.bridges.iter().filter(|bridge| !names::is_bridge(&bridge.name));
    match others.find(|bridge| bridge.system_interfaces().any(|interface| interface == link.name)) {
        Some(bridge) => {
            Err(BridgeError::InOtherBridge { link: name(), bridge: bridge.name.clone() })
        }
        None => Ok(()),
    }
}

fn active_on<'a>(
    inputs: &'a Inputs,
    device: &str,
    is_kind: impl Fn(&str) -> bool,
) -> Option<&'a Profile> {
    let mut on =
        inputs.active.iter().filter(|active| active.device == device && is_kind(&active.kind));
    on.find_map(|active| inputs.profile(&active.uuid))
}

/// `connection.port-type`, in either spelling.
pub(super) fn port_type(profile: &Profile) -> Option<&str> {
    let of = |property| profile.settings.text("connection", property);
    of("port-type").or_else(|| of("slave-type"))
}

/// The profile that NetworkManager would choose for the link without the automatic bridge: the
/// highest priority, then the one used last.
fn own_profile<'a>(inputs: &'a Inputs, link: &Link) -> Option<&'a Profile> {
    let is_own = |profile: &&Profile| {
        !names::is_automatic(profile.id())
            && profile.controller().is_none()
            && profile.connects_by_itself()
            && is_for(profile, link)
    };
    inputs.profiles.iter().filter(is_own).max_by_key(|profile| {
        let of = |property| profile.settings.number("connection", property).unwrap_or_default();
        (of("autoconnect-priority"), of("timestamp"))
    })
}

/// Whether the profile may be activated on the link. A virtual device's names it.
fn is_for(profile: &Profile, link: &Link) -> bool {
    let is_card = link.kind.as_deref().is_none_or(|kind| kind == "veth");
    let by_name = profile.interface_name().map(|name| name == link.name);
    let kind = profile.kind();
    if !is_card {
        return by_name == Some(true) && link.kind.as_deref() == Some(kind);
    }
    let has_mac = match profile.settings.get("802-3-ethernet", "mac-address") {
        Some(Value::Bytes(mac)) if !mac.is_empty() => link.macs().any(|own| own.as_bytes() == *mac),
        Some(_) | None => true,
    };
    matches!(kind, "802-3-ethernet" | "veth") && by_name != Some(false) && has_mac
}
