//! Profiles by the interface that they configure.

use std::collections::HashMap;

use serde_json::Value;

use crate::model::{Active, Profile};

/// The profiles of the interfaces that NetworkManager configures, by the interface's name, and whether it is a bridge of Open
/// vSwitch: such a bridge and its local interface have one name.
pub(super) struct Configured<'a>(HashMap<(&'a str, bool), &'a Profile>);

impl<'a> Configured<'a> {
    pub(super) fn new(profiles: &'a [Profile], active: &'a [Active]) -> Self {
        let profile = |active: &'a Active| {
            let profile = profiles.iter().find(|profile| profile.uuid() == active.uuid)?;
            (active.kind != OVS_PORT)
                .then_some(((&*active.device, active.kind == OVS_BRIDGE), profile))
        };
        Self(active.iter().filter_map(profile).collect())
    }

    /// The profile of an interface of a state.
    pub(super) fn of(&self, interface: &Value) -> Option<&'a Profile> {
        let name = interface["name"].as_str()?;
        self.0.get(&(name, interface["type"] == OVS_BRIDGE)).copied()
    }

    /// The profile of an interface that may have addresses, or be a port.
    pub(super) fn named(&self, name: &str) -> Option<&'a Profile> {
        self.0.get(&(name, false)).copied()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &'a Profile> {
        self.0.values().copied()
    }
}

pub(super) const OVS_BRIDGE: &str = "ovs-bridge";
const OVS_PORT: &str = "ovs-port";

/// Whether an active profile is one of Open vSwitch's, without which its interfaces are not seen.
pub(crate) fn needs_ovs(active: &[Active]) -> bool {
    active.iter().any(|active| active.kind.starts_with("ovs-"))
}
