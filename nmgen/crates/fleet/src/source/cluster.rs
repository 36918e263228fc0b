//! The cluster that the hosts belong to, as far as a source describes it.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use nmgen_document::text::place::Place;

/// A cluster, as far as an install-config or the like describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Its name, which no other cluster of the sources has; that of its directory where the sources have several and give none.
    pub name: Option<Arc<str>>,
    /// The name of another description of it.
    pub(crate) variant_of: Option<Arc<str>>,
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
        let of = |role: Option<&str>| {
            self.os_streams.iter().find(|stream| stream.role.as_deref() == role)
        };
        of(role).or_else(|| of(None))
    }

    /// True for two descriptions of one cluster.
    pub(crate) fn is_variant_of(&self, other: &Self) -> bool {
        let first = |cluster: &Self| cluster.variant_of.clone().or(cluster.name.clone());
        first(self) == first(other)
    }
}

/// The number of machines of a role, from an install-config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replicas {
    /// `master`, `arbiter`, `worker`.
    pub role: String,
    /// The number of machines.
    pub count: u64,
    /// The place of the number.
    pub place: Place,
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
    pub network: IpNet,
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
