//! Options of the forms.

/// Each form reads the options that concern it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The specification that an Ignition config follows.
    pub ignition_version: IgnitionVersion,
    /// The machine config pool of hosts whose source gives none.
    pub role: Option<String>,
    /// The MachineConfigs' names without the role.
    pub name: Option<String>,
    /// Settings that kernel arguments cannot express are a warning.
    pub allow_loss: bool,
    /// Makes the MachineConfig enable the agent's units.
    pub agent: Option<Agent>,
    /// The namespace of Kubernetes objects.
    pub namespace: Option<String>,
    /// Labels of NMStateConfigs, by which an InfraEnv selects them.
    pub labels: Vec<(String, String)>,
    /// The program in an archive for an initramfs.
    pub program: Option<Program>,
}

/// The program in an archive for an initramfs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// Its path, for messages.
    pub path: String,
    /// The static program.
    pub content: Vec<u8>,
    /// The archives.
    pub layout: Layout,
}

/// How documents and program are delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Layout {
    /// In one archive.
    #[default]
    One,
    /// Two images, for a minimal ISO of assisted-image-service
    Assisted,
}

/// The agent in a MachineConfig.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agent {
    /// The text of `/etc/dayone/dayone.toml`; `None` for the agent's defaults.
    pub configuration: Option<String>,
}

/// A version of Ignition's specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum IgnitionVersion {
    /// Read by every release of OpenShift since 4.6.
    #[default]
    #[value(name = "3.2.0")]
    V3_2,
    /// Since OpenShift 4.9.
    #[value(name = "3.3.0")]
    V3_3,
    /// Since OpenShift 4.12.
    #[value(name = "3.4.0")]
    V3_4,
}
