//! Names that the automatic bridge shares with configure-ovs.sh, which others rely on.

use uuid::Uuid;

/// A bridge, and the name of its uplink in profile ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BridgeNames {
    /// Name of the bridge and of its local interface.
    pub(crate) bridge: &'static str,
    /// `phys0` in `ovs-if-phys0`.
    pub(crate) physical: &'static str,
    /// Metric of the routes of the local interface.
    pub(crate) metric: u32,
}

/// The bridge with the node's address.
pub(crate) const BR_EX: BridgeNames =
    BridgeNames { bridge: "br-ex", physical: "phys0", metric: 48 };
/// The bridge of `/etc/ovnk/extra_bridge`.
pub(crate) const BR_EX1: BridgeNames =
    BridgeNames { bridge: "br-ex1", physical: "phys1", metric: 49 };
pub(crate) const ALL: [BridgeNames; 2] = [BR_EX, BR_EX1];

/// The end of the id of a copied port profile.
const COPY: &str = "-slave-ovs-clone";

impl BridgeNames {
    /// Id of the profile of the bridge.
    pub(crate) fn bridge_id(self) -> String {
        self.bridge.to_owned()
    }

    /// Id of the profile of the bridge's port for the uplink.
    pub(crate) fn physical_port_id(self) -> String {
        format!("ovs-port-{}", self.physical)
    }

    /// Id of the profile of the bridge's port for the local interface.
    pub(crate) fn local_port_id(self) -> String {
        format!("ovs-port-{}", self.bridge)
    }

    /// Id of the profile of the uplink.
    pub(crate) fn physical_id(self) -> String {
        format!("ovs-if-{}", self.physical)
    }

    /// Id of the profile of the local interface.
    pub(crate) fn local_id(self) -> String {
        format!("ovs-if-{}", self.bridge)
    }

    /// All ids that the bridge may have had in any release.
    pub(crate) fn has_id(self, id: &str) -> bool {
        let of = |prefix: &str| {
            id.strip_prefix(prefix).is_some_and(|rest| rest == self.bridge || rest == self.physical)
        };
        id == self.bridge || of("ovs-if-") || of("ovs-port-")
    }
}

/// Returns whether an automatic bridge has this name.
pub(crate) fn is_bridge(name: &str) -> bool {
    ALL.iter().any(|names| names.bridge == name)
}

/// Whether a profile with this id belongs to an automatic bridge, dayone's or configure-ovs's. Ids
/// are compared whole: NMState's end in `-br`, `-port` and `-if`, and an administrator's may start
/// alike.
pub(crate) fn is_automatic(id: &str) -> bool {
    is_copy(id) || ALL.iter().any(|names| names.has_id(id))
}

/// Whether this is the id of a copied port profile.
pub(crate) fn is_copy(id: &str) -> bool {
    id.ends_with(COPY)
}

/// Id of the copy of a port's profile; a copy of a copy has the same.
pub(crate) fn copy_id(id: &str) -> String {
    format!("{}{COPY}", id.strip_suffix(COPY).unwrap_or(id))
}

/// The UUID of dayone's profile with this id, the same on each boot: NetworkManager finds the rows
/// that OVSDB kept by it.
pub(crate) fn uuid(id: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("dayone-bridge://{id}").as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::{copy_id, is_automatic};

    #[test]
    fn ids_of_configure_ovs_and_no_others() {
        for id in [
            "br-ex",
            "br-ex1",
            "ovs-port-phys0",
            "ovs-port-br-ex1",
            "ovs-if-br-ex",
            "ovs-if-phys1",
            "eno1-slave-ovs-clone",
        ] {
            assert!(is_automatic(id), "{id}");
        }
        for id in [
            "br-ex-br",
            "br-ex-if",
            "eno1-port",
            "eno1",
            "br-ex2",
            "ovs-if-storage",
            "ovs-port-phys2",
            "ovs-if-",
            "ovs-if-br-ex2",
            "phys0",
        ] {
            assert!(!is_automatic(id), "{id}");
        }
    }

    #[test]
    fn a_copy_of_a_copy_has_the_same_id() {
        assert_eq!(copy_id("eno1"), "eno1-slave-ovs-clone");
        assert_eq!(copy_id(&copy_id("eno1")), copy_id("eno1"));
    }
}
