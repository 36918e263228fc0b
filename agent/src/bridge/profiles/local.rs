//! The profile of the bridge's local interface: the IP side of the uplink's own profile.

use nmgen::spelling::is_among;

use super::{
    ip,
    planned::{attach, planned},
};
use crate::{
    bridge::{
        inputs::Inputs,
        names::{self, BridgeNames},
        plan::{PlannedProfile, Role},
        source::Source,
    },
    model::connection::ConnectionSettings,
};

/// Properties of `connection` that do not come along: those of the profile's identity and place, and
/// those of the device.
const NOT_COPIED: &str = "auth-retries autoconnect autoconnect-ports autoconnect-retries autoconnect-slaves controller \
    id interface-name lldp master multi-connect port-type read-only slave-type timestamp type \
    uuid wait-activation-delay wait-device-timeout";

pub(super) fn local(inputs: &Inputs, bridge: BridgeNames, source: Source<'_>) -> PlannedProfile {
    let Source { link, ip: own, holder, .. } = source;
    let mut settings = ConnectionSettings::default();
    for (property, value) in own.settings.section("connection").into_iter().flatten() {
        if !is_among(property, NOT_COPIED) && !value.is_empty() {
            settings.set("connection", property, value.clone());
        }
    }
    ip::copy(&own.settings, &mut settings);
    if !ip::is_static(&own.settings) {
        settings.unset("connection", "autoconnect-priority");
        ip::set_may_fail(&mut settings, inputs, holder);
    }
    ip::keep_permanent_mac(&mut settings, link);
    for family in ["ipv4", "ipv6"] {
        settings.set(family, "route-metric", i64::from(bridge.metric));
    }
    settings.set("802-3-ethernet", "mtu", link.mtu());
    if let Some(mac) = &link.mac {
        settings.set("802-3-ethernet", "assigned-mac-address", mac.to_string());
    }
    settings.set("ovs-interface", "type", "internal");
    attach(&mut settings, &names::uuid(&bridge.local_port_id()), "ovs-port");
    planned(bridge.local_id(), "ovs-interface", bridge.bridge, Role::Local, settings)
}
