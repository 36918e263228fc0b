//! The plan: everything that makes br-ex, before anything is changed.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::uplink::Uplink;
use crate::model::{ProfileRef, connection::ConnectionSettings};

/// Everything that makes br-ex, and br-ex1 if there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct BridgePlan {
    /// The uplink of br-ex, and why.
    pub(crate) uplink: Uplink,
    /// The uplink of br-ex1.
    pub(crate) extra: Option<String>,
    /// The result as an NMState document, to show, compare and verify.
    pub(crate) document: String,
    /// The profiles, controllers before their ports.
    pub(crate) profiles: Vec<PlannedProfile>,
    /// Profiles that are activated by name, in this order.
    pub(crate) order: Vec<Activation>,
    /// Profiles and bridges to delete first.
    pub(crate) remove: Removal,
    /// The uplink's own profile, to be saved on disk: a document that is gone has made it a port of
    /// its bridge, and the next boot would find no uplink. It has the addresses again, and does not
    /// start while the bridge is up.
    pub(crate) own: Option<PlannedProfile>,
    /// The fate of the hint, `/var/lib/ovnk/iface_default_hint`, after the commit.
    pub(crate) hint: Hint,
    /// Links that get `allmulticast on`, at each run: vmxnet3 drops multicast otherwise.
    pub(crate) allmulticast: Vec<String>,
    /// Settings that br-ex loses.
    pub(crate) losses: Vec<Loss>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct PlannedProfile {
    /// `connection.id`.
    pub(crate) id: String,
    /// `connection.uuid`, the same on each boot.
    pub(crate) uuid: String,
    pub(crate) role: Role,
    /// Every property as it is at the end, `connection.autoconnect` included.
    pub(crate) settings: ConnectionSettings,
    /// Secrets that have to be fetched from another profile before this one is added: NetworkManager
    /// gives them apart from settings, and they are in no file of the agent.
    pub(crate) secrets: Option<Secrets>,
}

/// Where secrets of a profile come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Secrets {
    /// UUID of the profile that has them.
    pub(crate) of: String,
    /// The section: `802-1x`.
    pub(crate) section: String,
}

/// The part of a profile in its bridge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    Bridge,
    /// The bridge's port for the uplink.
    UplinkPort,
    /// The bridge's port for the local interface.
    LocalPort,
    Uplink,
    /// The local interface, which has the addresses.
    Local,
    /// The uplink's own profile, for the next boot.
    Own,
    /// A copy of the profile of a port of the uplink (bond, team, Linux bridge).
    Port {
        /// UUID of the profile that is copied.
        of: String,
    },
}

/// A profile to activate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Activation {
    /// UUID of a profile of the plan.
    pub(crate) uuid: String,
    pub(crate) id: String,
    pub(crate) device: String,
    /// For a port of the uplink: UUID of its controller's profile, which brings it up by itself
    /// within 5 s if it can. Its failure is no failure as long as one port of the controller is up.
    pub(crate) port_of: Option<String>,
    /// Whether LACP on the port has to settle (at most 5 s) before the profile may take it over.
    pub(crate) settle_lacp: bool,
}

/// Profiles and bridges to delete first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Removal {
    /// Profiles: leftovers of configure-ovs.sh, and of earlier plans what this one lacks. Profiles
    /// of the plan that exist already, by UUID, are none of these: they are updated.
    pub(crate) profiles: Vec<ProfileRef>,
    /// Bridges in OVSDB that no profile of the plan can use, by name.
    pub(crate) bridges: Vec<String>,
}

/// The fate of the hint file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hint {
    /// It stays as it is.
    Keep,
    /// It gets this name.
    Write(String),
    /// It goes, and `/run/configure-ovs-boot-done` with it: it names the uplink of br-ex1.
    Remove,
}

/// Something of the present configuration that br-ex does not get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Loss {
    /// Id of the profile that has it.
    pub(crate) profile: String,
    /// `section.property`, or a section.
    pub(crate) property: String,
    pub(crate) why: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of the profile {} does not come along: {}",
            self.property, self.profile, self.why
        )
    }
}

impl PlannedProfile {
    /// `connection.interface-name`.
    pub(crate) fn interface_name(&self) -> &str {
        self.settings.text("connection", "interface-name").unwrap_or_default()
    }
}

impl BridgePlan {
    pub(crate) fn profile(&self, id: &str) -> Option<&PlannedProfile> {
        self.profiles.iter().find(|profile| profile.id == id)
    }
}
