//! Probes of the wire: what the cable, the switch and the neighbours do, beside what the document says.

mod bond;
mod duplicate;
mod echo;
mod facts;
mod finding;
mod gateway;
mod lacp;
mod lines;
mod lldp;
mod mtu;
mod vlan;

use std::time::Instant;

use self::facts::WireFacts;
pub(crate) use self::finding::{Asked, Finding, Verdict, Wire};
use crate::{
    client::netlink::{Netlink, NetlinkError},
    model::Planned,
    paths::Paths,
};

/// Asks all of these at once. The error is that of a question to the kernel.
pub(crate) async fn look(
    wires: &[Wire],
    asked: &Asked,
    paths: &Paths,
    netlink: &Netlink,
) -> Result<Vec<Finding>, NetlinkError> {
    let facts = &WireFacts::read(netlink, paths).await?;
    let one = |wire: Wire| async move {
        let start = Instant::now();
        let mut found = match wire {
            Wire::Bond => facts.bonds.iter().map(bond::judge).collect(),
            Wire::Lacp => facts.bonds.iter().filter(|bond| bond.is_lacp).map(lacp::judge).collect(),
            Wire::Vlan => vlan::look(facts, &asked.peers, netlink).await,
            Wire::Mtu => mtu::look(facts, &asked.peers).await,
            Wire::Duplicate => duplicate::look(facts).await,
            Wire::Gateway => gateway::look(facts, &asked.gateways, netlink).await,
            Wire::Lldp => lldp::look(&asked.neighbours).await,
        };
        let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        found.iter_mut().for_each(|finding| finding.milliseconds = milliseconds);
        found
    };
    let found = futures_util::future::join_all(wires.iter().copied().map(one)).await;
    Ok(found.into_iter().flatten().collect())
}

/// Asks who has these addresses already; those of the node itself are left out. The error is that of a question to the kernel.
pub(crate) async fn before_use(
    planned: &[Planned],
    paths: &Paths,
    netlink: &Netlink,
) -> Result<Vec<Finding>, NetlinkError> {
    Ok(duplicate::before_use(planned, &WireFacts::read(netlink, paths).await?).await)
}

/// Faults of the cable, for a console: three lines at most, of the six probes and the carriers of the cards.
pub(crate) async fn in_three_lines(
    asked: &Asked,
    paths: &Paths,
    netlink: &Netlink,
) -> Result<Vec<String>, NetlinkError> {
    let found = look(&Wire::ALL, asked, paths, netlink).await?;
    Ok(lines::of(&netlink.links().await?, &found))
}
