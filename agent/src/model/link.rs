//! Network devices.

use serde::{Deserialize, Serialize};

use super::mac::Mac;

/// A network device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Link {
    pub(crate) index: u32,
    pub(crate) name: String,
    pub(crate) alt_names: Vec<String>,
    /// Current MAC address; `None` for a device without one.
    pub(crate) mac: Option<Mac>,
    /// Permanent MAC address of a card.
    pub(crate) permanent_mac: Option<Mac>,
    /// Whether this is a physical NIC to the kernel (NMState also counts a veth as Ethernet).
    pub(crate) physical: bool,
    /// The address of a card on PCI, as nmstate writes it: `0000:18:00.0`; kernels before 5.14 tell none.
    #[serde(default)]
    pub(crate) pci_address: Option<String>,
    pub(crate) mtu: Option<u32>,
    pub(crate) layer: Layer,
    /// The kernel's kind of a virtual device: `bond`, `vlan`, `bridge`, `team`, `tun`, `veth`, …
    pub(crate) kind: Option<String>,
    /// Name of the controller, `ovs-system` for a port of Open vSwitch; that of a device in another
    /// namespace is unknown.
    pub(crate) controller: Option<String>,
    /// Whether somebody set it up (IFF_UP).
    pub(crate) is_set_up: bool,
    /// Whether the link is up and has a carrier.
    pub(crate) has_carrier: bool,
    /// For a port of a bond with LACP.
    pub(crate) lacp: Option<Lacp>,
}

/// The layer below IP on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Layer {
    #[default]
    Ethernet,
    Infiniband,
    Loopback,
    /// Any other, such as PPP or a tunnel: never a port of a bridge.
    Other,
}

/// The state of a bond's port in LACP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Lacp {
    /// Both sides collect and distribute.
    Settled,
    /// Negotiation is not over.
    Settling,
}

impl Link {
    /// Whether the document's reference matches this link.
    pub(crate) fn is(&self, wanted: &LinkRef) -> bool {
        match wanted {
            LinkRef::Name(name) => self.name == *name || self.alt_names.contains(name),
            // A VLAN on a card has the card's address.
            LinkRef::Mac(mac) => {
                let is_bond = matches!(self.kind.as_deref(), Some("bond" | "team"));
                (self.physical || is_bond) && self.macs().any(|own| own == mac)
            }
            LinkRef::Pci(address) => self.pci_address.as_ref() == Some(address),
        }
    }

    /// Whether a program has made it, and its MAC address with it.
    pub(crate) fn is_made(&self) -> bool {
        self.layer == Layer::Ethernet && self.permanent_mac.is_none() && !self.physical
    }

    /// The MTU; a link that tells none has that of Ethernet, as in configure-ovs.sh.
    pub(crate) fn mtu(&self) -> u32 {
        self.mtu.unwrap_or(1500)
    }

    /// The permanent address and the current one.
    pub(crate) fn macs(&self) -> impl Iterator<Item = &Mac> {
        [&self.permanent_mac, &self.mac].into_iter().flatten()
    }
}

/// A link as a document names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LinkRef {
    /// By name or alternative name.
    Name(String),
    /// By MAC address.
    Mac(Mac),
    /// By PCI address, as nmstate writes it.
    Pci(String),
}

impl std::fmt::Display for LinkRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Mac(mac) => write!(f, "with MAC {mac}"),
            Self::Pci(address) => write!(f, "at PCI address {address}"),
        }
    }
}
