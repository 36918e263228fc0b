//! Leftovers of configure-ovs and OpenShift SDN on a node: profiles and OVS bridges. Pure.

use crate::{
    bridge::{names, plan::Removal},
    model::{Before, Bridge, ProfileRef, Wants},
};

/// Leftovers to remove before the document is applied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leftovers {
    /// Profiles of these tools.
    pub(crate) profiles: Vec<ProfileRef>,
    /// Bridges without a profile.
    pub(crate) bridges: Vec<Bridge>,
}

impl Leftovers {
    /// Leftovers that the plan of an automatic bridge names.
    pub(crate) fn of(remove: &Removal, before: &Before) -> Self {
        let goes = |bridge: &&Bridge| remove.bridges.contains(&bridge.name);
        Self {
            profiles: remove.profiles.clone(),
            bridges: before.bridges.iter().filter(goes).cloned().collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.profiles.is_empty() && self.bridges.is_empty()
    }
}

/// Bridge of OpenShift SDN.
const SDN: &str = "br0";

/// Finds leftovers, only if the document declares an OVS bridge: without one the node keeps its
/// bridges.
pub(crate) fn find(profiles: &[ProfileRef], bridges: &[Bridge], wants: &Wants) -> Leftovers {
    if wants.bridges.is_empty() {
        return Leftovers::default();
    }
    let (go, stay): (Vec<&ProfileRef>, Vec<&ProfileRef>) =
        profiles.iter().partition(|profile| names::is_automatic(&profile.id));
    // NetworkManager identifies a bridge by its name and its profile's UUID: it can neither use
    // nor, before 1.54, remove a bridge without a profile, and OVSDB refuses a second one of the
    // same name.
    let is_orphan = |bridge: &&Bridge| {
        !bridge.profile().is_some_and(|uuid| stay.iter().any(|profile| profile.uuid == uuid))
    };
    Leftovers {
        profiles: go.into_iter().cloned().collect(),
        bridges: bridges
            .iter()
            .filter(|bridge| may_be_taken_over(&bridge.name, wants))
            .filter(is_orphan)
            .cloned()
            .collect(),
    }
}

/// Whether a bridge of this name conflicts with the document, or is a known leftover.
fn may_be_taken_over(name: &str, wants: &Wants) -> bool {
    wants.bridges.iter().any(|bridge| bridge == name) || name == SDN || names::is_bridge(name)
}

/// Whether a transaction may change this bridge, by taking it over or through its profile.
pub(crate) fn may_change(bridge: &Bridge, wants: &Wants) -> bool {
    bridge.profile().is_some() || may_be_taken_over(&bridge.name, wants)
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::model::{Bridge, ProfileRef, Wants};

    fn profile(id: &str) -> ProfileRef {
        ProfileRef { path: "/p".to_owned(), id: id.to_owned(), uuid: format!("uuid-of-{id}") }
    }

    fn names(profiles: &[ProfileRef], bridges: &[Bridge], made: &str) -> Vec<String> {
        let wants = Wants { bridges: vec![made.to_owned()], ..Wants::default() };
        find(profiles, bridges, &wants).bridges.into_iter().map(|bridge| bridge.name).collect()
    }

    #[test]
    fn nothing_without_a_bridge_in_the_document() {
        let profile = profile("br-ex");
        let bridge = Bridge::example("br-ex", None, &[]);
        let none = Wants::default();
        assert!(find(std::slice::from_ref(&profile), &[bridge], &none).is_empty());
        let wants = Wants { bridges: vec!["br-ex".to_owned()], ..Wants::default() };
        assert_eq!(find(&[profile], &[], &wants).profiles.len(), 1);
    }

    #[test]
    fn a_bridge_stays_where_its_profile_stays() {
        let of = |id: &str| Bridge::example("br-ex", Some(&profile(id).uuid), &[]);
        // A bridge of configure-ovs: its profile is gone after a reboot, or is deleted now.
        assert_eq!(names(&[], &[of("br-ex")], "br-ex"), ["br-ex"]);
        assert_eq!(names(&[profile("br-ex")], &[of("br-ex")], "br-ex"), ["br-ex"]);
        // A bridge of an earlier document.
        assert!(names(&[profile("br-ex-br")], &[of("br-ex-br")], "br-ex").is_empty());
        // A bridge of the same name with another profile.
        assert_eq!(names(&[profile("br-ex-br")], &[of("br-ex")], "br-ex"), ["br-ex"]);
    }

    #[test]
    fn other_bridges_stay() {
        let bridge = |name: &str| Bridge::example(name, None, &[]);
        let all = [bridge("br-int"), bridge("br0"), bridge("br-ex1"), bridge("storage")];
        assert_eq!(names(&[], &all, "br-ex"), ["br0", "br-ex1"]);
        assert_eq!(names(&[], &all, "storage"), ["br0", "br-ex1", "storage"]);
    }
}
