//! The help text of SOURCE, which several commands take.

/// The kinds of files.
pub(super) const SOURCE: &str = "\
An NMState document (YAML or JSON), '-' for standard input, a
directory with <hostname>.yml files and cluster.yml, or files
of a fleet: install-config.yaml, agent-config.yaml,
manifests (Secret, BareMetalHost, NMStateConfig,
ClusterInstance, SiteConfig, MachineConfig,
NodeNetworkConfigurationPolicy, also in a policy of Open
Cluster Management, NodeNetworkState), networkConfig alone,
a tree of assisted-service; as facts of hosts HardwareData,
Agent, a file of `dayone collect`";
