//! A probe of the wire, what it is asked, and what it finds.

use std::net::IpAddr;

use serde::Serialize;

use crate::{
    model::Planned,
    settings::{LldpNeighbour as Expected, Policy, Probes},
};

/// A probe by its name, which is that of its setting too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Wire {
    Bond,
    Lacp,
    Vlan,
    Mtu,
    Duplicate,
    /// A transaction asks gateways by probes of their own.
    Gateway,
    Lldp,
}

impl Wire {
    /// Those of a transaction, from the cable up.
    pub(crate) const ALL: [Self; 6] =
        [Self::Bond, Self::Lacp, Self::Vlan, Self::Mtu, Self::Duplicate, Self::Lldp];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bond => "bond",
            Self::Lacp => "lacp",
            Self::Vlan => "vlan",
            Self::Mtu => "mtu",
            Self::Duplicate => "duplicate",
            Self::Gateway => "gateway",
            Self::Lldp => "lldp",
        }
    }

    pub(crate) fn policy(self, settings: &Probes) -> Policy {
        match self {
            Self::Bond => settings.bond,
            Self::Lacp => settings.lacp,
            Self::Vlan => settings.vlan,
            Self::Mtu => settings.mtu,
            Self::Duplicate => settings.duplicate,
            Self::Gateway => settings.gateway,
            Self::Lldp => settings.lldp,
        }
    }
}

/// The other ends as the settings have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Machines that are asked beside the gateways.
    pub(crate) peers: Vec<IpAddr>,
    /// The switch and port of each cable.
    pub(crate) neighbours: Vec<Expected>,
    /// Gateways that a document names.
    pub(crate) gateways: Vec<Planned>,
}

impl Asked {
    /// The other ends, as far as they are told.
    pub(crate) fn of(settings: &Probes) -> Self {
        Self {
            peers: settings.peers.clone(),
            neighbours: settings.lldp_neighbour.clone(),
            gateways: Vec::new(),
        }
    }
}

/// The result of a probe for one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Failed,
    /// No answer from a target that is not obliged to answer: neither a fault nor a success.
    Unknown,
    Ok,
}

/// A finding about one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Finding {
    pub(crate) probe: Wire,
    /// The interface, the address or the neighbour.
    pub(crate) target: String,
    pub(crate) result: Verdict,
    /// A sentence, with the likely cause.
    pub(crate) detail: String,
    /// The next step, of a failure.
    pub(crate) next: Option<String>,
    /// The time of the whole probe, all of its targets side by side.
    pub(crate) milliseconds: u64,
}

impl Finding {
    pub(crate) fn new(probe: Wire, target: &str, result: Verdict, detail: String) -> Self {
        Self { probe, target: target.to_owned(), result, detail, next: None, milliseconds: 0 }
    }

    pub(super) fn failed(probe: Wire, target: &str, detail: String, next: &str) -> Self {
        let next = Some(next.to_owned());
        Self { next, ..Self::new(probe, target, Verdict::Failed, detail) }
    }
}
