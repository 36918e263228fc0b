//! The hosts of all sources.

use nmgen_core::source::{Host, HostNetwork};
use nmgen_document::diagnostic::{Diagnostics, Place};
use nmgen_document::size::too_many_interfaces;
use nmgen_document::text::Source;

use super::cluster::Cluster;

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

/// A host's baseboard management controller, by which the installer switches it on and off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagementController {
    /// The host's name, if it has one.
    pub host: Option<String>,
    /// Its address, a URL mostly.
    pub address: String,
    /// The place of the address.
    pub place: Place,
}

/// The hosts of all sources, and the faults of the sources' files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hosts {
    /// In the order of sources; in a hosts directory sorted by name.
    pub hosts: Vec<Host>,
    /// The roles that need hosts.
    pub replicas: Vec<Replicas>,
    /// The management controllers of machines.
    pub management_controllers: Vec<ManagementController>,
    /// The cluster's network.
    pub cluster: Cluster,
    /// Skipped files and parts of files, each with the reason.
    pub diagnostics: Diagnostics,
}

impl Hosts {
    /// A single document of no particular host.
    pub fn document(source: &Source) -> Self {
        let mut hosts = Self::default();
        hosts.add(Host::of_file(None, source));
        hosts
    }

    /// Tells and drops documents with too many interfaces, which are parts of files.
    pub(super) fn bound(&mut self) {
        for host in &mut self.hosts {
            if let Some(fault) = host.document().and_then(too_many_interfaces) {
                host.network = HostNetwork::Unreadable;
                self.diagnostics.push(fault);
            }
        }
    }

    pub(crate) fn add(&mut self, host: Result<Host, Diagnostics>) {
        self.hosts.extend(self.diagnostics.accept(host));
    }
}
