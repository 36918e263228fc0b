//! The tiers by which a document is chosen, and their order at each stage.

/// The name, without its extension, of the document for machines without their own.
pub const CLUSTER: &str = "cluster";

/// A way to match a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// A card's MAC address, in the file name.
    MacAddress,
    /// The first bytes of a card's MAC address, in the file name.
    MacPrefix,
    /// The serial number or UUID from DMI, as the file name.
    Dmi,
    /// The host name up to its first dot, as the file name.
    ShortHostName,
    /// The host name with its domain, as the file name.
    FullHostName,
    /// [`CLUSTER`].
    Cluster,
}

/// In the initramfs hardware comes first: a host name may come from DHCP or an image there, and a
/// machine during installation has none. Prefixes of MAC addresses are for machines with random
/// addresses, such as the bootstrap machine, which has no agent.
pub const INITRAMFS: &[Tier] = &[
    Tier::MacAddress,
    Tier::MacPrefix,
    Tier::Dmi,
    Tier::ShortHostName,
    Tier::FullHostName,
    Tier::Cluster,
];

/// On the running node the host name comes first: machine-config-operator's
/// nmstate-configuration.service reads `$(hostname -s).yml`, and a node keeps its document when the
/// agent takes over.
pub const RUNNING: &[Tier] =
    &[Tier::ShortHostName, Tier::FullHostName, Tier::MacAddress, Tier::Dmi, Tier::Cluster];
