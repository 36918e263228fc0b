//! What configure-ovs and OpenShift SDN leave on a node: profiles and OVS bridges. Pure.

use crate::{client::dbus::Profile, client::ovsdb::Bridge, wants::Wants};

/// What has to go before the document is applied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leftovers {
    /// Profiles of theirs.
    pub(crate) profiles: Vec<Profile>,
    /// Bridges that no profile stands for.
    pub(crate) bridges: Vec<Bridge>,
}

impl Leftovers {
    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.profiles.is_empty() && self.bridges.is_empty()
    }
}

/// Bridges of theirs: configure-ovs's and OpenShift SDN's.
const BRIDGES: [&str; 2] = ["br-ex", "br0"];

/// Finds them. Only where the document brings an OVS bridge of its own: a node whose document
/// does not speak of OVS keeps what it has.
pub(crate) fn find(profiles: &[Profile], bridges: &[Bridge], wants: &Wants) -> Leftovers {
    if wants.bridges.is_empty() {
        return Leftovers::default();
    }
    Leftovers {
        profiles: profiles.iter().filter(|p| is_theirs(&p.id)).cloned().collect(),
        bridges: bridges
            .iter()
            .filter(|b| BRIDGES.contains(&b.name.as_str()) && !b.managed)
            .cloned()
            .collect(),
    }
}

/// By the ids that configure-ovs.sh gives; NMState's own end in `-br`, `-port`, `-if`.
fn is_theirs(id: &str) -> bool {
    id == "br-ex"
        || id == "br-ex1"
        || id.starts_with("ovs-port-")
        || id.starts_with("ovs-if-")
        || id.ends_with("-slave-ovs-clone")
}

#[cfg(test)]
mod tests {
    use super::{find, is_theirs};
    use crate::{client::dbus::Profile, wants::Wants};

    #[test]
    fn their_ids_and_not_ours() {
        for id in ["br-ex", "ovs-port-phys0", "ovs-if-br-ex", "eno1-slave-ovs-clone"] {
            assert!(is_theirs(id), "{id}");
        }
        for id in ["br-ex-br", "br-ex-if", "eno1-port", "eno1", "br-ex2"] {
            assert!(!is_theirs(id), "{id}");
        }
    }

    #[test]
    fn nothing_without_a_bridge_in_the_document() {
        let profile = Profile { path: "/p".to_owned(), id: "br-ex".to_owned() };
        assert!(find(std::slice::from_ref(&profile), &[], &Wants::default()).is_empty());
        let wants = Wants { bridges: vec!["br-ex".to_owned()], ..Wants::default() };
        assert_eq!(find(&[profile], &[], &wants).profiles.len(), 1);
    }
}
