//! A node as OpenShift's machine-config-operator makes it: its whole graph of units, on premises, with stand-ins that have the
//! same effects on network, files and other units as the scripts of a release, faults included.

use std::fmt;

use super::node::Node;
use crate::program;

/// Releases of OpenShift whose units or scripts differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Release {
    /// Also 4.17 to 4.19: nmstate-configuration.sh applies one document for good, and its marker `applied` is empty.
    V4_16,
    /// Also 4.21: nmstate-configuration.sh applies at every boot, since its comparison is always false.
    V4_20,
    /// nmstate-configuration.sh applies each content once.
    V4_22,
    /// Also 4.23, its other name: wait-for-node-ip.service, and openvswitch-ipsec.service, enabled in mid-boot.
    V5_0,
    /// Also 5.2: 10-ofport-request.sh leaves the VRFs of user-defined networks alone.
    V5_1,
}

impl Release {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::V4_16, Self::V4_20, Self::V4_22, Self::V5_0, Self::V5_1];

    /// Directories with the files of this release; later ones override earlier ones.
    fn layers(self) -> &'static [&'static str] {
        match self {
            Self::V4_16 => &["common", "until-4.22", "4.16"],
            Self::V4_20 => &["common", "until-4.22", "4.20"],
            Self::V4_22 => &["common", "until-4.22", "4.20", "4.22"],
            Self::V5_0 => &["common", "4.20", "4.22", "5.0"],
            Self::V5_1 => &["common", "4.20", "4.22", "5.0", "5.1"],
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V4_16 => "4.16",
            Self::V4_20 => "4.20",
            Self::V4_22 => "4.22",
            Self::V5_0 => "5.0",
            Self::V5_1 => "5.1",
        })
    }
}

/// The cluster that the node is of. An arbiter's units are those of [`Topology::HighlyAvailable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topology {
    /// Three nodes or more.
    HighlyAvailable,
    /// Two nodes with fencing, from 4.22 on with what orders their units: corosync, after ovs-configuration.service, and pacemaker,
    /// which starts kubelet. `/run/lab-fenced` exists if the node's address left its link while corosync ran.
    TwoNodesWithFencing,
    /// One node, installed by a bootstrap in place, which restarts kubelet at the first boot.
    SingleNode,
}

/// A node's release and cluster.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The release.
    pub release: Release,
    /// The cluster.
    pub topology: Topology,
}

impl Field {
    /// 4.16 to 4.19.
    #[must_use]
    pub const fn release_4_16() -> Self {
        Self { release: Release::V4_16, topology: Topology::HighlyAvailable }
    }

    /// 4.20 and 4.21.
    #[must_use]
    pub const fn release_4_20() -> Self {
        Self { release: Release::V4_20, topology: Topology::HighlyAvailable }
    }

    /// 4.22.
    #[must_use]
    pub const fn release_4_22() -> Self {
        Self { release: Release::V4_22, topology: Topology::HighlyAvailable }
    }

    /// 4.23 and 5.0.
    #[must_use]
    pub const fn release_5_0() -> Self {
        Self { release: Release::V5_0, topology: Topology::HighlyAvailable }
    }

    /// 5.1 and 5.2.
    #[must_use]
    pub const fn release_5_1() -> Self {
        Self { release: Release::V5_1, topology: Topology::HighlyAvailable }
    }

    /// The first release that orders corosync after br-ex.
    #[must_use]
    pub const fn two_nodes_4_22() -> Self {
        Self { release: Release::V4_22, topology: Topology::TwoNodesWithFencing }
    }

    /// The newest one.
    #[must_use]
    pub const fn two_nodes_5_1() -> Self {
        Self { release: Release::V5_1, topology: Topology::TwoNodesWithFencing }
    }

    /// On one node.
    #[must_use]
    pub const fn single_node_5_0() -> Self {
        Self { release: Release::V5_0, topology: Topology::SingleNode }
    }
}

impl From<Release> for Field {
    fn from(release: Release) -> Self {
        Self { release, topology: Topology::HighlyAvailable }
    }
}

/// The file with the operator's additions to `mtu-migration.service` while the cluster changes its MTU.
pub const MTU_TARGET: &str = "/etc/systemd/system/mtu-migration.service.d/20-target.conf";

/// Its content.
#[must_use]
pub fn mtu_target(mtu: u16) -> String {
    format!("[Service]\nEnvironment=TARGET_MTU={mtu}\n")
}

impl Node {
    /// Adds the units of the machine-config-operator, CRI-O and kubelet, without the agent. `/run/lab-kubelet` has the network's
    /// state at kubelet's start. Tree: `tests/lab/field`.
    ///
    /// # Panics
    /// If a tree cannot be read, or `nmstatectl` cannot be built.
    #[must_use]
    pub fn field(self, field: impl Into<Field>) -> Self {
        let Field { release, topology } = field.into();
        let (layer, disabled): (_, &[&str]) = match topology {
            Topology::HighlyAvailable => (None, &[]),
            Topology::TwoNodesWithFencing => (Some("two-nodes"), &["kubelet.service"]),
            Topology::SingleNode => (Some("single-node"), &[]),
        };
        let layers = release.layers().iter().copied().chain(layer);
        let node = layers.fold(self, |node, layer| node.layer(layer, disabled));
        let node = node.copy(program::configure_ovs(), "/usr/local/bin/configure-ovs.sh");
        node.bind(program::nmstatectl(), "/usr/bin/nmstatectl")
    }

    /// Adds OVN-Kubernetes: br-int and a patch port on br-ex, made after kubelet's start and kept in OVSDB across boots.
    ///
    /// # Panics
    /// If its tree cannot be read.
    #[must_use]
    pub fn ovn_remains(self) -> Self {
        self.layer("ovn", &[])
    }

    /// Gives the node OVN, and adds OVN-Kubernetes with one pod, which kubelet starts: `lab-ovnkube.service`, `lab-pod.service`.
    ///
    /// # Panics
    /// If its tree cannot be read.
    #[must_use]
    pub fn ovn(mut self) -> Self {
        self.flavour = Some("ovn");
        self.layer("ovnkube", &[])
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
        self.file(MTU_TARGET, &mtu_target(mtu), 0o644).link(
            "/etc/systemd/system/kubelet-dependencies.target.wants/mtu-migration.service",
            "/etc/systemd/system/mtu-migration.service",
        )
    }

    /// Adds a directory of `tests/lab/field`, with its units enabled but for `disabled`.
    fn layer(self, name: &str, disabled: &[&str]) -> Self {
        self.installed(&super::scripts().join("field").join(name), "/etc/systemd/system", disabled)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::{Path, PathBuf},
    };

    fn files(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in directory.read_dir().into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => files(&path, found),
                path => found.push(path),
            }
        }
    }

    /// A stand-in is a claim about the field: what enables a unit decides whether a boot starts it, and what it is ordered after.
    #[test]
    fn each_unit_names_its_source_and_is_enabled_as_in_the_field() {
        let mut all = Vec::new();
        files(&crate::lab::scripts().join("field"), &mut all);
        all.retain(|path| path.components().any(|part| part.as_os_str() == "systemd"));
        assert!(all.len() > 30, "{all:?}");
        for path in &all {
            let text = fs::read_to_string(path).unwrap_or_default();
            let mut lines = text.lines();
            let source = lines.next().unwrap_or_default();
            assert!(source.starts_with("# Source: "), "{}", path.display());
            if path.extension().is_some_and(|extension| extension == "conf") {
                continue;
            }
            let state = lines.next().and_then(|line| line.strip_prefix("# In the field: "));
            let state = state.unwrap_or_default();
            let is_known =
                ["enabled", "disabled", "static"].iter().any(|known| state.starts_with(known));
            assert!(is_known, "{}", path.display());
            // What is enabled in the middle of a cluster's life has no [Install] here.
            let is_enabled = state.starts_with("enabled") && !state.starts_with("enabled while");
            assert_eq!(text.contains("\n[Install]\n"), is_enabled, "{}", path.display());
        }
    }
}
