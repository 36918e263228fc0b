//! Prerequisites and promises of a desired state.

use std::net::IpAddr;

use super::{
    ip::{Family, Gateway, OnLink},
    link::LinkRef,
};

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
    /// Families of its default routes that have no gateway, so that nobody can be asked.
    pub(crate) without_gateway: Vec<Family>,
    /// Name servers that the document names.
    pub(crate) name_servers: Vec<IpAddr>,
    /// Whether it sets the host name.
    pub(crate) hostname: bool,
    /// Whether links appear only during the apply (SR-IOV and other rare types and settings).
    pub(crate) makes_links: bool,
}
