//! Probes of the wire: what the cable, the switch and the neighbours do, beside what the document says.

mod bond;
mod duplicate;
mod echo;
mod facts;
mod lacp;
mod lldp;
mod mtu;
mod vlan;

use std::{net::IpAddr, time::Instant};

use serde::Serialize;

use self::facts::Facts;
use crate::{
    client::netlink::{Netlink, NetlinkError},
    paths::Paths,
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
    Lldp,
}

impl Wire {
    /// All, from the cable up.
    pub(crate) const ALL: [Self; 6] =
        [Self::Bond, Self::Lacp, Self::Vlan, Self::Mtu, Self::Duplicate, Self::Lldp];

    /// The name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bond => "bond",
            Self::Lacp => "lacp",
            Self::Vlan => "vlan",
            Self::Mtu => "mtu",
            Self::Duplicate => "duplicate",
            Self::Lldp => "lldp",
        }
    }

    /// The policy of the settings.
    pub(crate) fn policy(self, settings: &Probes) -> Policy {
        match self {
            Self::Bond => settings.bond,
            Self::Lacp => settings.lacp,
            Self::Vlan => settings.vlan,
            Self::Mtu => settings.mtu,
            Self::Duplicate => settings.duplicate,
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
}

impl Asked {
    /// The other ends, as far as they are told.
    pub(crate) fn of(settings: &Probes) -> Self {
        Self { peers: settings.peers.clone(), neighbours: settings.lldp_neighbour.clone() }
    }
}

/// The result of a probe for one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Failed,
    /// Nobody answers who has to: no proof of either.
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
    fn new(probe: Wire, target: &str, result: Verdict, detail: String) -> Self {
        Self { probe, target: target.to_owned(), result, detail, next: None, milliseconds: 0 }
    }

    fn failed(probe: Wire, target: &str, detail: String, next: &str) -> Self {
        let next = Some(next.to_owned());
        Self { next, ..Self::new(probe, target, Verdict::Failed, detail) }
    }
}

/// Asks all of these at once. The error is that of a question to the kernel.
pub(crate) async fn look(
    wires: &[Wire],
    asked: &Asked,
    paths: &Paths,
    netlink: &Netlink,
) -> Result<Vec<Finding>, NetlinkError> {
    let facts = &Facts::read(netlink, paths).await?;
    let one = |wire: Wire| async move {
        let start = Instant::now();
        let mut found = match wire {
            Wire::Bond => facts.bonds.iter().map(bond::judge).collect(),
            Wire::Lacp => facts.bonds.iter().filter(|it| it.is_lacp).map(lacp::judge).collect(),
            Wire::Vlan => vlan::look(facts, &asked.peers, netlink).await,
            Wire::Mtu => mtu::look(facts, &asked.peers).await,
            Wire::Duplicate => duplicate::look(facts).await,
            Wire::Lldp => lldp::look(&asked.neighbours).await,
        };
        let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        found.iter_mut().for_each(|it| it.milliseconds = milliseconds);
        found
    };
    let found = futures_util::future::join_all(wires.iter().copied().map(one)).await;
    Ok(found.into_iter().flatten().collect())
}
