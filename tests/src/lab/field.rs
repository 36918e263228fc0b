//! A node as OpenShift's machine-config-operator makes it: its whole graph of units, on premises, with stand-ins that have the
//! same effects on network, files and other units as the scripts of a release, faults included.

use std::fmt;

use super::node::Node;
use crate::program;

/// Releases of OpenShift whose scripts differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Release {
    /// nmstate-configuration.sh applies one document for good, and its marker `applied` is empty.
    V4_16,
    /// nmstate-configuration.sh is 4.16's.
    V4_19,
    /// nmstate-configuration.sh applies at every boot: its comparison is always false.
    V4_20,
    /// nmstate-configuration.sh applies each content once.
    V4_22,
}

impl Release {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::V4_16, Self::V4_19, Self::V4_20, Self::V4_22];

    /// Directories with the files of this release; later ones override earlier ones.
    fn layers(self) -> &'static [&'static str] {
        match self {
            Self::V4_16 | Self::V4_19 => &["common", "4.16"],
            Self::V4_20 => &["common", "4.20"],
            Self::V4_22 => &["common", "4.20", "4.22"],
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V4_16 => "4.16",
            Self::V4_19 => "4.19",
            Self::V4_20 => "4.20",
            Self::V4_22 => "4.22",
        })
    }
}

impl Node {
    /// Adds the units of the machine-config-operator, CRI-O and kubelet, without the agent. `/run/lab-kubelet` has the network's
    /// state at kubelet's start. Tree: `tests/lab/field`.
    ///
    /// # Panics
    /// If a tree cannot be read, or `nmstatectl` cannot be built.
    #[must_use]
    pub fn field(self, release: Release) -> Self {
        let node = release.layers().iter().fold(self, |node, layer| node.layer(layer));
        node.bind(program::nmstatectl(), "/usr/bin/nmstatectl")
    }

    /// Adds OVN-Kubernetes: br-int and a patch port on br-ex, made after kubelet's start and kept in OVSDB across boots.
    ///
    /// # Panics
    /// If its tree cannot be read.
    #[must_use]
    pub fn ovn_remains(self) -> Self {
        self.layer("ovn")
    }

    /// Makes the next boot the first: machine-config-daemon needs the network, and ends the boot by a power-off (in the field: a
    /// reboot).
    #[must_use]
    pub fn first_boot(self) -> Self {
        self.file("/etc/ignition-machine-config-encapsulated.json", "{}\n", 0o600)
    }

    /// Enables `mtu-migration.service`, with this MTU.
    #[must_use]
    pub fn mtu_migration(self, mtu: u16) -> Self {
        self.file("/etc/cno/mtu-migration/config", &format!("TARGET_MTU={mtu}\n"), 0o644).link(
            "/etc/systemd/system/kubelet-dependencies.target.wants/mtu-migration.service",
            "/etc/systemd/system/mtu-migration.service",
        )
    }

    /// Adds a directory of `tests/lab/field`.
    fn layer(self, name: &str) -> Self {
        self.installed(&super::scripts().join("field").join(name), "/etc/systemd/system", &[])
    }
}
