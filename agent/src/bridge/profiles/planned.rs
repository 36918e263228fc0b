//! The parts that all profiles have.

use crate::{
    bridge::{
        names,
        plan::{PlannedProfile, Role},
    },
    model::connection::ConnectionSettings,
};

/// NetworkManager's `connection.autoconnect-ports=yes`.
pub(super) const YES: i32 = 1;
/// Above the profiles that the node starts with.
pub(super) const PRIORITY: i32 = 100;

/// Completes a profile: its identity.
pub(super) fn planned(
    id: String,
    kind: &str,
    interface: &str,
    role: Role,
    rest: ConnectionSettings,
) -> PlannedProfile {
    let uuid = names::uuid(&id);
    identified(id, uuid, kind, interface, role, rest)
}

/// A planned profile with a UUID that does not come from the id.
pub(super) fn identified(
    id: String,
    uuid: String,
    kind: &str,
    interface: &str,
    role: Role,
    rest: ConnectionSettings,
) -> PlannedProfile {
    let mut settings = rest;
    settings.drop_unsupported();
    settings.set("connection", "id", id.as_str());
    settings.set("connection", "uuid", uuid.as_str());
    settings.set("connection", "type", kind);
    settings.set("connection", "interface-name", interface);
    PlannedProfile { id, uuid, role, settings, secrets: None }
}

/// Makes the profile a port: in the spelling that every version of NetworkManager knows.
pub(super) fn attach(settings: &mut ConnectionSettings, controller: &str, port_type: &str) {
    for newer in ["controller", "port-type"] {
        settings.unset("connection", newer);
    }
    settings.set("connection", "master", controller);
    settings.set("connection", "slave-type", port_type);
}
