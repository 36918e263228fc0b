//! The bridge and its two ports.

use super::planned::{YES, attach, planned};
use crate::{
    bridge::{
        names::BridgeNames,
        plan::{PlannedProfile, Role},
    },
    model::connection::ConnectionSettings,
};

/// The bridge. IP and MTU have no effect on it.
pub(super) fn bridge(names: BridgeNames, mtu: u32, datapath_type: Option<&str>) -> PlannedProfile {
    let mut settings = ConnectionSettings::default();
    settings.set("connection", "autoconnect-slaves", YES);
    settings.set("802-3-ethernet", "mtu", mtu);
    settings.section_mut("ovs-bridge");
    if let Some(kind) = datapath_type {
        settings.set("ovs-bridge", "datapath-type", kind);
    }
    for family in ["ipv4", "ipv6"] {
        settings.set(family, "method", "auto");
    }
    planned(names.bridge_id(), "ovs-bridge", names.bridge, Role::Bridge, settings)
}

/// The port for the uplink. The bridge brings its ports up; by themselves they stay down.
pub(super) fn uplink_port(names: BridgeNames, link: &str) -> PlannedProfile {
    let mut settings = port(names);
    settings.set("connection", "autoconnect-slaves", YES);
    planned(names.physical_port_id(), "ovs-port", link, Role::UplinkPort, settings)
}

pub(super) fn local_port(names: BridgeNames) -> PlannedProfile {
    planned(names.local_port_id(), "ovs-port", names.bridge, Role::LocalPort, port(names))
}

fn port(names: BridgeNames) -> ConnectionSettings {
    let mut settings = ConnectionSettings::default();
    settings.set("connection", "autoconnect", false);
    settings.section_mut("ovs-port");
    // By name: dispatcher scripts look the controller up with `nmcli connection show`.
    attach(&mut settings, names.bridge, "ovs-bridge");
    settings
}
