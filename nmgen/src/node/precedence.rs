//! What a document is chosen by, and in which order at each stage.

/// The name, without its extension, of the document for machines that have none of their own.
pub const CLUSTER: &str = "cluster";

/// What a document is chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// A file is named after the MAC address of a network card.
    MacAddress,
    /// A file is named after the first bytes of one.
    MacPrefix,
    /// A file is named after the serial number or the UUID in DMI.
    Dmi,
    /// A file is named after the host name up to its first dot.
    ShortHostName,
    /// A file is named after the host name with its domain.
    FullHostName,
    /// [`CLUSTER`].
    Cluster,
}

/// In the initramfs hardware goes first: a host name there may come from DHCP or an image, and a machine that
/// is installed has none. A prefix of a MAC address is for machines with a random one, such as the bootstrap
/// machine, which no agent runs on.
pub const INITRAMFS: &[Tier] = &[
    Tier::MacAddress,
    Tier::MacPrefix,
    Tier::Dmi,
    Tier::ShortHostName,
    Tier::FullHostName,
    Tier::Cluster,
];

/// On the running node the host name goes first: nmstate-configuration.service of machine-config-operator takes
/// `$(hostname -s).yml`, and a node keeps its document when the agent takes over.
pub const RUNNING: &[Tier] =
    &[Tier::ShortHostName, Tier::FullHostName, Tier::MacAddress, Tier::Dmi, Tier::Cluster];
