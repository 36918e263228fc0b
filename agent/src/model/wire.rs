//! The wire as the kernel and NetworkManager know it: bonds and their ports, VLANs, neighbours.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{ip::OnLink, mac::Mac};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bond {
    pub(crate) name: String,
    /// 802.3ad.
    pub(crate) is_lacp: bool,
    /// Whether this side asks for a packet a second (`lacp_rate fast`).
    pub(crate) is_fast: bool,
    /// The aggregator in use, of LACP.
    pub(crate) aggregator: Option<u16>,
    /// The partner's system; `None` as long as nobody answers.
    pub(crate) partner: Option<Mac>,
    pub(crate) ports: Vec<BondPort>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BondPort {
    pub(crate) name: String,
    pub(crate) has_carrier: bool,
    /// In Mbit/s, of a link that says it.
    pub(crate) speed: Option<u32>,
    pub(crate) aggregator: Option<u16>,
    /// Nobody on this port speaks LACP, or no longer.
    pub(crate) is_alone: bool,
    /// Both sides collect and distribute.
    pub(crate) carries: bool,
    /// The partner asks for a packet a second.
    pub(crate) partner_is_fast: bool,
}

/// A VLAN of the kernel's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Vlan {
    pub(crate) index: u32,
    pub(crate) name: String,
    pub(crate) id: u16,
    /// Name of the interface below.
    pub(crate) base: String,
}

/// A next hop, or a neighbour, on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Neighbouring {
    pub(crate) index: u32,
    pub(crate) ip: IpAddr,
}

/// A static address of a document, and where it can be asked for as long as no interface has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) on: OnLink,
    /// Its interface and those below that carry the same packets, from the top; some may not exist yet.
    pub(crate) links: Vec<String>,
}

/// The other end of a cable, as it says of itself by LLDP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LldpNeighbour {
    pub(crate) link: String,
    pub(crate) system: Option<String>,
    pub(crate) port: Option<String>,
    /// The largest frame, with header and checksum (802.3).
    pub(crate) frame: Option<u32>,
    pub(crate) vlans: Vec<u32>,
}
