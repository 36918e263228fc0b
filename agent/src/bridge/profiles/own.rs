//! The uplink's own profile, where a document that is gone had made it a port of its bridge.

use super::{ip, planned::identified};
use crate::bridge::{
    names,
    plan::{PlannedProfile, Role},
    source::Source,
};

/// The profile with the addresses of the document's bridge; `None` if it never lost them.
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
