//! Profiles and bridges to delete before the profiles of a plan are made.

use super::{
    inputs::Inputs,
    names::{self, BridgeNames},
    plan::{PlannedProfile, Removal, Role},
};
use crate::model::{Bridge, Profile};

/// Profiles and bridges that are in the way of `planned`.
pub(super) fn removal(inputs: &Inputs, planned: &[PlannedProfile]) -> Removal {
    let moved: Vec<BridgeNames> =
        names::ALL.into_iter().filter(|names| has_moved(inputs, planned, *names)).collect();
    let is_planned = |uuid: &str| {
        let planned = planned.iter().find(|profile| profile.uuid == uuid);
        planned.is_some_and(|planned| !moved.iter().any(|names| names.has_id(&planned.id)))
    };
    // Somebody has changed one of an earlier boot and saved it: the bridge's settings come from the uplink's own profile.
    let is_kept = |profile: &Profile| is_planned(profile.uuid()) && !profile.is_saved;
    let goes = |profile: &&Profile| {
        !is_kept(profile)
            && (names::is_automatic(profile.id()) || is_of_other_bridge(inputs, profile))
    };
    // NetworkManager finds a bridge by its name and its profile's UUID, and before 1.54 keeps one
    // that has a port of somebody else. One that is not active, as at each boot, is made anew if somebody has set how it
    // forwards, or has a port on it that is not OVN's: configure-ovs.sh makes it anew in any case.
    let is_active = |uuid: &str| inputs.active.iter().any(|active| active.uuid == uuid);
    let has_others = |bridge: &Bridge| bridge.foreign_ports().any(|port| !port.is_patch());
    let is_used = |bridge: &Bridge| {
        let uuid = bridge.profile().filter(|uuid| is_planned(uuid));
        uuid.is_some_and(|uuid| is_active(uuid) || !(bridge.is_altered() || has_others(bridge)))
    };
    let bridge_goes = |bridge: &&Bridge| names::is_bridge(&bridge.name) && !is_used(bridge);
    let going = inputs.bridges.iter().filter(bridge_goes);
    Removal {
        profiles: inputs.profiles.iter().filter(goes).map(Profile::reference).collect(),
        bridges: going.map(|bridge| bridge.name.clone()).collect(),
    }
}

/// Whether the bridge is on another uplink now: NetworkManager keeps what is active as it is, and
/// changes neither a profile's type nor its device.
fn has_moved(inputs: &Inputs, planned: &[PlannedProfile], names: BridgeNames) -> bool {
    let mut uplinks =
        planned.iter().filter(|profile| profile.role == Role::Uplink && names.has_id(&profile.id));
    uplinks.any(|uplink| {
        inputs.profile(&uplink.uuid).is_some_and(|now| {
            now.interface_name() != Some(uplink.interface_name())
                || Some(now.kind()) != uplink.settings.text("connection", "type")
        })
    })
}

/// Whether a profile makes a bridge of the same name, or a port of such a bridge: a document that is
/// gone has left it.
fn is_of_other_bridge(inputs: &Inputs, profile: &Profile) -> bool {
    match profile.kind() {
        "ovs-bridge" | "ovs-interface" => profile.interface_name().is_some_and(names::is_bridge),
        "ovs-port" => profile.controller().is_some_and(|controller| {
            let of_uuid = inputs.profile(controller).and_then(Profile::interface_name);
            names::is_bridge(of_uuid.unwrap_or(controller))
        }),
        _ => false,
    }
}
