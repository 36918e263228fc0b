//! Why there is no plan, each with its remedy.

use thiserror::Error;

/// Why br-ex cannot be planned.
#[derive(Clone, Debug, PartialEq, Error)]
pub(crate) enum BridgeError {
    #[error(
        "/etc/ovnk/default_bridge is empty: write the name of the uplink into it, or remove it"
    )]
    EmptyDefaultBridge,
    #[error(
        "/etc/ovnk/extra_bridge is empty: write the name of br-ex1's uplink into it, or remove it"
    )]
    EmptyExtraBridge,
    #[error(
        "{file} names {link}, which this node does not have: correct the file, or plug the card in"
    )]
    NoLink { file: &'static str, link: String },
    #[error(
        "{file} names {link}, which is the bridge itself: write the name of its uplink into it"
    )]
    NamesBridge { file: &'static str, link: String },
    #[error(
        "/etc/ovnk/extra_bridge names {link}, which is the uplink of br-ex: br-ex1 needs another one"
    )]
    ExtraIsUplink { link: String },
    #[error(
        "no default route leads through a gateway: give the node's interface one, by DHCP or in its profile, \
         or write the name of the uplink into /etc/ovnk/default_bridge"
    )]
    NoDefaultRoute,
    #[error(
        "{link} had the first default route earlier in this boot, and its profile asks the network for one in vain: mend its network, or \
         write the name of another uplink into /etc/ovnk/default_bridge"
    )]
    NoRouteOfEarlier { link: String },
    #[error(
        "br-ex has the node's network, but which interface is its uplink is unknown: \
         write the name into /etc/ovnk/default_bridge"
    )]
    UnknownUplink,
    #[error(
        "{link} is a port of {controller}: choose {controller} as the uplink, in /etc/ovnk/default_bridge, \
         or take {link} out of it"
    )]
    IsPort { link: String, controller: String },
    #[error(
        "{link} is an InfiniBand device, which Open vSwitch cannot bridge: choose an Ethernet device in \
         /etc/ovnk/default_bridge"
    )]
    Infiniband { link: String },
    #[error(
        "{link} is no Ethernet device, so Open vSwitch cannot bridge it: choose another one in \
         /etc/ovnk/default_bridge"
    )]
    NotEthernet { link: String },
    #[error(
        "no profile of NetworkManager is active on {link}: activate one (nmcli device connect {link})"
    )]
    NoProfile { link: String },
    #[error(
        "{link} is a port of the bridge {bridge}: choose another uplink, or take it out of {bridge}"
    )]
    InOtherBridge { link: String, bridge: String },
    #[error(
        "the profile {id} of {link} has no {property}: correct the profile (nmcli connection modify {id} …)"
    )]
    Incomplete { link: String, id: String, property: &'static str },
}

/// What planning br-ex comes to.
pub(crate) type Result<T = (), E = BridgeError> = std::result::Result<T, E>;

impl BridgeError {
    /// Whether the cards are below something else, as with a document's br-ex on a bond of Open vSwitch.
    pub(crate) fn is_below_another(&self) -> bool {
        matches!(self, Self::UnknownUplink | Self::InOtherBridge { .. } | Self::IsPort { .. })
    }

    /// Whether a file of OpenShift has to be corrected, rather than the node's network.
    pub(crate) fn is_in_files(&self) -> bool {
        matches!(
            self,
            Self::EmptyDefaultBridge
                | Self::EmptyExtraBridge
                | Self::NoLink { .. }
                | Self::NamesBridge { .. }
                | Self::ExtraIsUplink { .. }
        )
    }
}
