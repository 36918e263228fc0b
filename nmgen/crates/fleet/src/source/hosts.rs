//! The hosts of all sources.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use nmgen_core::source::{Host, HostNetwork};
use nmgen_document::diagnostic::{Diagnostics, Place};
use nmgen_document::mac::Mac;
use nmgen_document::size::too_many;
use nmgen_document::text::Source;

use super::cluster::Cluster;
use crate::allow::Allowance;

/// A host's baseboard management controller, by which the installer switches it on and off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagementController {
    /// The host's cluster, if it has a name.
    pub cluster: Option<Arc<str>>,
    /// The host's name, if it has one.
    pub host: Option<String>,
    /// Its address, a URL mostly.
    pub address: String,
    /// The place of the address.
    pub place: Place,
}

/// A host's cards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hardware {
    /// The host's name in the source.
    pub host: Option<String>,
    /// Its network cards, each once.
    pub cards: Vec<HostCard>,
    /// The place of the facts.
    pub place: Place,
}

/// A network card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostCard {
    /// Its name when it was looked at.
    pub name: String,
    /// Its own address.
    pub mac: Option<Mac>,
    /// In Mbit/s.
    pub speed: Option<u64>,
    /// The VLANs of its switch port, as the switch says by LLDP.
    pub vlans: BTreeSet<u64>,
    /// The largest frame of its switch port in bytes, with header and checksum, as the switch says by LLDP (802.3).
    pub frame: Option<u64>,
}

/// A MachineConfig of a role's nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineConfig {
    /// Its name.
    pub name: String,
    /// The nodes' role.
    pub role: Option<String>,
    /// Whether it has dayone.service, enabled or with its text.
    pub has_agent: bool,
    /// The place of its name.
    pub place: Place,
}

/// The hosts of all sources, and the faults of the sources' files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hosts {
    /// In the order of sources; in a hosts directory sorted by name.
    pub hosts: Vec<Host>,
    /// The management controllers of machines.
    pub management_controllers: Vec<ManagementController>,
    /// The hardware of machines, as somebody has looked at it.
    pub hardware: Vec<Hardware>,
    /// The states of nodes for which a document is among the hosts.
    pub states: Vec<Host>,
    /// The MachineConfigs that bring documents or the agent.
    pub machine_configs: Vec<MachineConfig>,
    /// The clusters of the hosts, and those that are described without hosts.
    pub clusters: Vec<Cluster>,
    /// Skipped files and parts of files, each with the reason.
    pub diagnostics: Diagnostics,
    /// The warnings that the sources' own comments allow.
    pub allowances: Vec<Allowance>,
    /// Some hosts of the sources were left out.
    pub is_part: bool,
}

/// A cluster of which no source says anything.
static UNKNOWN: LazyLock<Cluster> = LazyLock::new(Cluster::default);

impl Hosts {
    /// The host's cluster.
    pub fn cluster_of(&self, host: &Host) -> &Cluster {
        cluster_of(&self.clusters, host)
    }

    /// True where hosts have to be told with their cluster's name.
    pub fn has_several_clusters(&self) -> bool {
        let mut hosts = self.hosts.iter().map(|host| &host.cluster);
        let first = hosts.next();
        hosts.any(|other| Some(other) != first)
    }

    /// Leaves out the cluster's name where there is one cluster only.
    pub fn name_clusters_if_several(&mut self) {
        if !self.has_several_clusters() {
            self.hosts.iter_mut().for_each(|host| host.cluster = None);
        }
    }

    /// True if a part of the cluster's sources could not be read.
    pub(crate) fn is_misread(&self, cluster: &Cluster) -> bool {
        let is_of_it = |file: &str| {
            self.clusters.len() < 2 || cluster.directories.contains(&*directory_of(file))
        };
        self.diagnostics.iter().any(|finding| finding.is_error() && is_of_it(&finding.place.file))
    }

    /// A single document of no particular host.
    pub fn document(source: &Source) -> Self {
        let mut hosts = Self::default();
        hosts.add(Host::of_file(None, source));
        hosts
    }

    /// Tells and drops documents with too many interfaces, which are parts of files.
    pub(super) fn bound(&mut self) {
        for host in &mut self.hosts {
            if let Some(fault) = host.document().and_then(too_many) {
                host.network = HostNetwork::Unreadable;
                self.diagnostics.push(fault);
            }
        }
    }

    pub(super) fn add(&mut self, host: Result<Host, Diagnostics>) {
        self.hosts.extend(self.diagnostics.accept(host));
    }
}

/// The cluster of a host among these.
pub(crate) fn cluster_of<'c>(clusters: &'c [Cluster], host: &Host) -> &'c Cluster {
    match clusters {
        [only] => only,
        _ => clusters.iter().find(|cluster| cluster.name == host.cluster).unwrap_or(&UNKNOWN),
    }
}

/// The directory of a file, as the clusters know it.
pub(crate) fn directory_of(file: &str) -> std::borrow::Cow<'_, str> {
    if file.starts_with('<') {
        return file.into();
    }
    match Path::new(file).parent().map(Path::to_string_lossy) {
        Some(parent) if parent.is_empty() => ".".into(),
        Some(parent) => parent,
        None => file.into(),
    }
}
