//! The cluster that the hosts belong to, as far as a source describes it.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use nmgen_document::text::place::Place;

use super::hosts::Replicas;

/// A cluster, as far as an install-config or the like describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Its name, which no other cluster of the sources has; that of its directory where the sources have several and give none.
    pub name: Option<Arc<str>>,
    /// The name of another description of it.
    pub(crate) variant_of: Option<Arc<str>>,
    /// The directories of its sources.
    pub(crate) directories: BTreeSet<Arc<str>>,
    /// The roles that need hosts.
    pub replicas: Vec<Replicas>,
    /// The networks with the nodes' addresses (`networking.machineNetwork`).
    pub machine_networks: Vec<ClusterNetwork>,
    /// The networks of pods and services, which are no host's (`networking.clusterNetwork`, `serviceNetwork`).
    pub internal_networks: Vec<ClusterNetwork>,
    /// The network plugin; `None` without an install-config.
    pub plugin: Option<Plugin>,
    /// Addresses that move between hosts.
    pub virtual_addresses: Vec<ClusterAddress>,
    /// An external load balancer has the virtual addresses: they may be equal, and in any network.
    pub has_outer_load_balancer: bool,
    /// Machines boot by a network of its own, with a card that no document needs to name.
    pub has_provisioning_network: bool,
    /// The address of the bootstrap machine, which is none of the hosts.
    pub bootstrap: Option<ClusterAddress>,
    /// The address of the host that installs the others.
    pub rendezvous: Option<ClusterAddress>,
    /// The operating system's streams: the cluster's, and those of roles.
    pub(crate) os_streams: Vec<OsStream>,
    /// How br-ex comes about on its nodes (`networking.bridgeTopology`).
    pub(crate) bridge_topology: Option<BridgeTopology>,
    /// The addresses of machines that the installer makes, which have neither a name nor a known card.
    pub(crate) made_machines: Vec<ClusterAddress>,
}

impl Cluster {
    /// Adds what another file says of it.
    pub(super) fn add(&mut self, other: Self) {
        let Self {
            name: _,
            variant_of: _,
            directories: _,
            replicas,
            machine_networks,
            internal_networks,
            plugin,
            virtual_addresses,
            has_outer_load_balancer,
            has_provisioning_network,
            bootstrap,
            rendezvous,
            os_streams,
            bridge_topology,
            made_machines,
        } = other;
        self.replicas.extend(replicas);
        self.machine_networks.extend(machine_networks);
        self.internal_networks.extend(internal_networks);
        self.plugin = plugin.or(self.plugin);
        self.virtual_addresses.extend(virtual_addresses);
        self.has_outer_load_balancer |= has_outer_load_balancer;
        self.has_provisioning_network |= has_provisioning_network;
        self.bootstrap = bootstrap.or(self.bootstrap.take());
        self.rendezvous = rendezvous.or(self.rendezvous.take());
        self.os_streams.extend(os_streams);
        self.bridge_topology = bridge_topology.or(self.bridge_topology.take());
        self.made_machines.extend(made_machines);
    }

    /// The stream of a role's machines, if a source says it.
    pub(crate) fn os_stream(&self, role: Option<&str>) -> Option<&OsStream> {
        let of = |role: Option<&str>| self.os_streams.iter().find(|it| it.role.as_deref() == role);
        of(role).or_else(|| of(None))
    }

    /// True for two descriptions of one cluster.
    pub(crate) fn is_variant_of(&self, other: &Self) -> bool {
        let first = |it: &Self| it.variant_of.clone().or(it.name.clone());
        first(self) == first(other)
    }
}

/// A stream of the operating system's images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OsStream {
    /// The role whose machines have it; `None` for every other role.
    pub(crate) role: Option<String>,
    pub(crate) name: String,
    pub(crate) place: Place,
}

/// The way in which br-ex comes about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BridgeTopology {
    pub(crate) name: String,
    pub(crate) place: Place,
}

/// A network that the cluster's description gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterNetwork {
    /// The network.
    pub network: Network,
    /// Its key, for messages.
    pub key: &'static str,
    /// The installer takes it where the description gives none.
    pub is_default: bool,
    /// Its place, or that of the mapping which lacks it.
    pub place: Place,
}

/// An address that the cluster's description gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterAddress {
    /// The address.
    pub address: IpAddr,
    /// Its purpose, for messages.
    pub purpose: &'static str,
    /// Its place.
    pub place: Place,
}

/// A network plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plugin {
    /// OVN-Kubernetes, which needs the bridge br-ex on every node.
    OvnKubernetes,
    /// Any other.
    Other,
}

/// A network in CIDR notation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    length: u32,
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl Network {
    /// A network of IPv4 whose length is in range.
    pub(super) const fn ipv4(address: Ipv4Addr, length: u32) -> Self {
        Self { address: IpAddr::V4(address), length }
    }

    /// Reads `192.0.2.0/24`; `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        Self::new(address.parse().ok()?, length.parse().ok()?)
    }

    /// The network of an address; `None` if the prefix is too long.
    pub(crate) fn new(address: IpAddr, length: u64) -> Option<Self> {
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length = u32::try_from(length).ok()?;
        (length <= most).then_some(Self { address, length })
    }

    /// The network with the bits of hosts as zeros.
    pub(crate) fn masked(&self) -> Self {
        let address = match self.address {
            IpAddr::V4(ip) => {
                let mask = u32::MAX.checked_shl(32 - self.length).unwrap_or(0);
                IpAddr::from((ip.to_bits() & mask).to_be_bytes())
            }
            IpAddr::V6(ip) => {
                let mask = u128::MAX.checked_shl(128 - self.length).unwrap_or(0);
                IpAddr::from((ip.to_bits() & mask).to_be_bytes())
            }
        };
        Self { address, ..*self }
    }

    pub(crate) fn is_ipv4(&self) -> bool {
        self.address.is_ipv4()
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.is_ipv4() == address.is_ipv4() && Self { address, ..*self }.masked() == self.masked()
    }
}

#[cfg(test)]
mod tests {
    use super::Network;

    #[test]
    fn a_network_contains_the_addresses_of_its_prefix() {
        let is_in = |network: &str, ip: &str| {
            Network::parse(network).map(|network| ip.parse().is_ok_and(|ip| network.contains(ip)))
        };
        assert_eq!(is_in("192.0.2.0/24", "192.0.2.255"), Some(true));
        assert_eq!(is_in("192.0.2.0/24", "192.0.3.0"), Some(false));
        assert_eq!(is_in("0.0.0.0/0", "203.0.113.1"), Some(true));
        assert_eq!(is_in("::/0", "2001:db8::1"), Some(true));
        assert_eq!(is_in("::/0", "192.0.2.1"), Some(false));
        assert_eq!(is_in("2001:db8::/64", "2001:db8::ffff:1"), Some(true));
        assert_eq!(is_in("192.0.2.1/32", "192.0.2.2"), Some(false));
        assert_eq!(Network::parse("192.0.2.0/33"), None);
        assert_eq!(Network::parse("192.0.2.0"), None);
        let masked = |text: &str| Network::parse(text).map(|it| it.masked().to_string());
        assert_eq!(masked("192.0.2.9/24").as_deref(), Some("192.0.2.0/24"));
        assert_eq!(masked("192.0.2.9/32").as_deref(), Some("192.0.2.9/32"));
        assert_eq!(masked("192.0.2.9/0").as_deref(), Some("0.0.0.0/0"));
        assert_eq!(masked("2001:db8::9/64").as_deref(), Some("2001:db8::/64"));
    }
}
