//! What targets leave to the caller.

/// Each target reads those that concern it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The specification that an Ignition config follows.
    pub ignition_version: IgnitionVersion,
    /// The machine config pool of hosts whose source doesn't tell it.
    pub role: Option<String>,
    /// The agent's units are enabled by the MachineConfig.
    pub agent: Option<Agent>,
    /// The namespace of Kubernetes objects.
    pub namespace: Option<String>,
    /// Labels of NMStateConfigs: an InfraEnv finds them by these.
    pub labels: Vec<(String, String)>,
}

/// The agent in a MachineConfig.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agent {
    /// The text of `/etc/dayone/dayone.toml`; without it the agent's defaults hold.
    pub configuration: Option<String>,
}

/// A version of Ignition's specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum IgnitionVersion {
    /// What every release of OpenShift 4 from 4.6 on reads.
    #[default]
    #[value(name = "3.2.0")]
    V3_2,
    /// From OpenShift 4.9 on.
    #[value(name = "3.3.0")]
    V3_3,
    /// From OpenShift 4.12 on.
    #[value(name = "3.4.0")]
    V3_4,
}
