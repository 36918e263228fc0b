//! Prerequisites and promises of a desired state, in plain types.

use std::net::IpAddr;

/// A link that must be there before the document can be applied.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LinkRef {
    /// By name or alternative name.
    Name(String),
    /// By MAC address, upper or lower case with colons.
    Mac(String),
}

impl std::fmt::Display for LinkRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Mac(mac) => write!(f, "with MAC {mac}"),
        }
    }
}

/// An address with its interface.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(crate) struct OnLink {
    /// Interface name.
    pub(crate) link: String,
    /// Address.
    pub(crate) ip: IpAddr,
    /// Prefix length.
    pub(crate) prefix: u8,
}

impl std::fmt::Display for OnLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{} on {}", self.ip, self.prefix, self.link)
    }
}

/// A next hop.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(crate) struct Gateway {
    /// Interface name, if known.
    pub(crate) link: Option<String>,
    /// Next hop.
    pub(crate) ip: IpAddr,
}

/// An interface whose addresses come from the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dynamic {
    /// Interface name.
    pub(crate) link: String,
    /// DHCPv4.
    pub(crate) v4: bool,
    /// DHCPv6 or router advertisements.
    pub(crate) v6: bool,
}

/// Prerequisites and promises together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    /// All declared interfaces, including absent ones.
    pub(crate) links: Vec<String>,
    /// Pairs of an interface and one below it; an OVS bridge and its ports are below each other.
    pub(crate) below: Vec<(String, String)>,
    /// Links that must exist before the apply.
    pub(crate) needed: Vec<LinkRef>,
    /// Whether OVSDB is needed.
    pub(crate) ovs: bool,
    /// OVS bridges that will exist.
    pub(crate) bridges: Vec<String>,
    /// Ports of these bridges.
    pub(crate) bridge_ports: Vec<String>,
    /// OVS interfaces that will exist.
    pub(crate) ovs_interfaces: Vec<String>,
    /// Static addresses.
    pub(crate) addresses: Vec<OnLink>,
    /// Interfaces with addresses from the network.
    pub(crate) dynamic: Vec<Dynamic>,
    /// Default gateways that the document names.
    pub(crate) gateways: Vec<Gateway>,
    /// Name servers that the document names.
    pub(crate) name_servers: Vec<IpAddr>,
    /// Whether it sets the host name.
    pub(crate) hostname: bool,
    /// Whether links appear only during the apply (SR-IOV and other rare types and settings).
    pub(crate) makes_links: bool,
}
