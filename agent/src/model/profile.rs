//! Profiles of NetworkManager.

use serde::{Deserialize, Serialize};

use super::{connection::ConnectionSettings, ip::Family};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// Path of its D-Bus object.
    pub(crate) path: String,
    /// Everything but secrets.
    pub(crate) settings: ConnectionSettings,
    /// Whether it is in a file that stays.
    #[serde(default)]
    pub(crate) is_saved: bool,
}

impl Profile {
    /// `connection.id`.
    pub(crate) fn id(&self) -> &str {
        self.settings.text("connection", "id").unwrap_or_default()
    }

    /// `connection.uuid`.
    pub(crate) fn uuid(&self) -> &str {
        self.settings.text("connection", "uuid").unwrap_or_default()
    }

    /// `connection.type`.
    pub(crate) fn kind(&self) -> &str {
        self.settings.text("connection", "type").unwrap_or_default()
    }

    /// `connection.interface-name`.
    pub(crate) fn interface_name(&self) -> Option<&str> {
        self.settings.text("connection", "interface-name")
    }

    /// The controller: a UUID or an interface name.
    pub(crate) fn controller(&self) -> Option<&str> {
        let of = |property| self.settings.text("connection", property);
        of("controller").or_else(|| of("master"))
    }

    /// The link below, of a VLAN and the like: a UUID or an interface name.
    pub(crate) fn parent(&self) -> Option<&str> {
        self.settings.text(self.kind(), "parent")
    }

    /// Whether the network gives it addresses and routes of a family.
    pub(crate) fn is_dynamic(&self, family: Family) -> bool {
        matches!(self.settings.text(family.section(), "method"), Some("auto" | "dhcp"))
    }

    /// Whether NetworkManager activates it without being asked.
    pub(crate) fn connects_by_itself(&self) -> bool {
        self.settings.flag("connection", "autoconnect").unwrap_or(true)
    }

    /// The profile without its settings.
    pub(crate) fn reference(&self) -> ProfileRef {
        ProfileRef {
            path: self.path.clone(),
            id: self.id().to_owned(),
            uuid: self.uuid().to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProfileRef {
    /// Path of its D-Bus object.
    pub(crate) path: String,
    pub(crate) id: String,
    pub(crate) uuid: String,
}

/// A profile that is active on a device, or is being activated: enough to activate it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Active {
    pub(crate) uuid: String,
    /// The device; a bridge or port of Open vSwitch may have the name of a link.
    pub(crate) device: String,
    /// `connection.type` of the profile.
    pub(crate) kind: String,
}

impl Active {
    pub(crate) fn is_of_card(&self) -> bool {
        matches!(self.kind.as_str(), "802-3-ethernet" | "infiniband")
    }

    /// Returns the profiles of cards which are ports of Open vSwitch by these profiles.
    pub(crate) fn cards_in_open_vswitch(profiles: &[Self]) -> impl Iterator<Item = &Self> {
        let is_port = |card: &&Self| {
            let mut ports = profiles.iter().filter(|profile| profile.kind == "ovs-port");
            card.is_of_card() && ports.any(|port| port.device == card.device)
        };
        profiles.iter().filter(is_port)
    }
}
