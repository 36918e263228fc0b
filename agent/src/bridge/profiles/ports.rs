//! Copies of the profiles of a bond's, team's or bridge's ports, with the uplink's new profile as
//! their controller.

use super::{
    planned::{PRIORITY, attach, identified},
    uplink::secrets_of,
};
use crate::bridge::{
    inputs::Inputs,
    names::{self, BridgeNames, copy_id, is_copy},
    plan::{PlannedProfile, Role},
    source::{Source, port_type},
};
use crate::model::Profile;

/// A port may have ports itself, but no deeper than this.
const DEPTH: usize = 4;

/// The copies, controllers before their ports.
pub(super) fn copies(
    inputs: &Inputs,
    bridge: BridgeNames,
    source: Source<'_>,
) -> Vec<PlannedProfile> {
    let controller = names::uuid(&bridge.physical_id());
    let mut found = Vec::new();
    copy_below(inputs, source.device, &source.link.name, &controller, DEPTH, &mut found);
    found
}

fn copy_below(
    inputs: &Inputs,
    of: &Profile,
    device: &str,
    controller: &str,
    depth: usize,
    found: &mut Vec<PlannedProfile>,
) {
    for port in ports(inputs, of, device) {
        let interface =
            port.interface_name().map_or_else(|| device_of(inputs, port), str::to_owned);
        let id = copy_id(port.id());
        // Two ports may have profiles of one id.
        let is_taken = found.iter().any(|other| other.id == id);
        let name = if is_taken { format!("{id}/{interface}") } else { id.clone() };
        let mut settings = port.settings.clone();
        for property in ["autoconnect", "read-only", "timestamp"] {
            settings.unset("connection", property);
        }
        settings.set("connection", "autoconnect-priority", PRIORITY);
        attach(&mut settings, controller, port_type(port).unwrap_or_default());
        let role = Role::Port { of: port.uuid().to_owned() };
        let mut copy = identified(id, names::uuid(&name), port.kind(), &interface, role, settings);
        copy.secrets = secrets_of(port);
        let uuid = copy.uuid.clone();
        found.push(copy);
        if depth > 0 {
            copy_below(inputs, port, &interface, &uuid, depth - 1, found);
        }
    }
}

/// The profiles of the ports of a controller: those that are in use or would be.
fn ports<'a>(inputs: &'a Inputs, of: &Profile, device: &str) -> Vec<&'a Profile> {
    let is_active =
        |profile: &Profile| inputs.active.iter().any(|active| active.uuid == profile.uuid());
    let is_port = |profile: &&Profile| {
        let is_below = profile
            .controller()
            .is_some_and(|controller| controller == of.uuid() || controller == device);
        // A bridge of Open vSwitch may have the name of a device.
        let is_ovs = port_type(profile).is_some_and(|kind| kind.starts_with("ovs-"));
        is_below && !is_ovs && (is_active(profile) || profile.connects_by_itself())
    };
    let all: Vec<&Profile> = inputs.profiles.iter().filter(is_port).collect();
    // A copy of an earlier run counts only without its original.
    let has_original = |copy: &Profile| {
        all.iter().any(|profile| !is_copy(profile.id()) && copy_id(profile.id()) == copy.id())
    };
    all.iter().copied().filter(|profile| !is_copy(profile.id()) || !has_original(profile)).collect()
}

fn device_of(inputs: &Inputs, port: &Profile) -> String {
    let active = inputs.active.iter().find(|active| active.uuid == port.uuid());
    active.map(|active| active.device.clone()).unwrap_or_default()
}
