//! What changes on the wire without an event on this node: a silent gateway answers again, and another machine gives up an address
//! of this node's. During a pause, or while the boot waits for other units, a question costs nothing.

use std::time::Duration;

use nmgen::chain;
use tokio::sync::watch;

use super::signals::stoppable;
use crate::{
    client::{
        dbus::{Bus, awaited_by},
        netlink::Netlink,
    },
    document,
    durable::record::Record,
    error::Error,
    model::{Active, Planned, Profile},
    network::{
        NetworkError,
        causes::{addresses, configured},
    },
    paths::Paths,
    probe::wire::{self, Asked, Finding, Verdict, Wire},
    state::Parsed,
};

/// The time between two questions.
const EVERY: Duration = Duration::from_secs(5);

/// Returns when a silent gateway answers, or when nobody else has an address any more that another machine had. `hold`: the first
/// part of a pause, which nothing ends. Where nobody can be asked, the time ends the pause.
pub(super) async fn changed(paths: &Paths, hold: Duration) {
    if let Err(error) = watch(paths, hold).await {
        tracing::warn!("no pause follows the answers of the wire: {}", chain(&error));
        std::future::pending::<()>().await;
    }
}

async fn watch(paths: &Paths, hold: Duration) -> Result<(), NetworkError> {
    let (bus, netlink) = (Bus::connect().await?, Netlink::connect()?);
    let profiles = configured(&bus).await?;
    let planned = [of_document(paths).await, addresses(&profiles)].concat();
    let first = ask(paths, &netlink, &planned).await?;
    if !first.iter().any(|finding| finding.result == Verdict::Failed) {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(hold).await;
    loop {
        tokio::time::sleep(EVERY).await;
        let now = ask(paths, &netlink, &planned).await?;
        let mended = mended(&first, &now);
        if mended.is_empty() {
            continue;
        }
        for finding in mended.iter().filter(|finding| finding.probe == Wire::Duplicate) {
            activate(&bus, &profiles, &finding.target).await;
        }
        return Ok(());
    }
}

/// Activates the profiles of a node without a document whose address another machine gives up, until dayone-bridge.service has its
/// turn: the units before it wait for the network, and nobody else tries these profiles again.
pub(super) async fn activate_freed(paths: &Paths, stop: &watch::Receiver<bool>) {
    if !paths.is_system() {
        return;
    }
    match stoppable(stop, activate_until_turn(paths)).await {
        Ok(()) | Err(Error::Stopped) => {}
        Err(error) => tracing::warn!("addresses of others are not followed: {}", chain(&error)),
    }
}

async fn activate_until_turn(paths: &Paths) -> Result<(), NetworkError> {
    let (bus, netlink) = (Bus::connect().await?, Netlink::connect()?);
    let mut before: Vec<Finding> = Vec::new();
    while awaited_by("dayone-bridge.service").await?.is_some() {
        let profiles = configured(&bus).await?;
        let now = wire::before_use(&addresses(&profiles), paths, &netlink).await?;
        let taken = now.iter().filter(|finding| finding.result == Verdict::Failed);
        for finding in taken.filter(|finding| !has_failed(&before, finding)) {
            tracing::warn!("{}", finding.detail);
        }
        for finding in mended(&before, &now) {
            activate(&bus, &profiles, &finding.target).await;
        }
        before = now;
        tokio::time::sleep(EVERY).await;
    }
    Ok(())
}

async fn ask(
    paths: &Paths,
    netlink: &Netlink,
    planned: &[Planned],
) -> Result<Vec<Finding>, NetworkError> {
    let gateways = wire::look(&[Wire::Gateway], &Asked::default(), paths, netlink).await?;
    Ok([gateways, wire::before_use(planned, paths, netlink).await?].concat())
}

/// What failed and is good now.
fn mended(first: &[Finding], now: &[Finding]) -> Vec<Finding> {
    let good = now.iter().filter(|finding| finding.result == Verdict::Ok);
    good.filter(|finding| has_failed(first, finding)).cloned().collect()
}

/// Whether the question of this finding has failed among those.
fn has_failed(findings: &[Finding], finding: &Finding) -> bool {
    let is_same = |of: &&Finding| (of.probe, &of.target) == (finding.probe, &finding.target);
    findings.iter().filter(is_same).any(|of| of.result == Verdict::Failed)
}

/// The static addresses of this node's document.
async fn of_document(paths: &Paths) -> Vec<Planned> {
    let in_force = Record::load(paths).document_in_force(paths);
    let chosen = document::choose(paths, in_force.as_ref(), Duration::ZERO, || {}).await;
    let document = chosen.ok().and_then(|chosen| chosen.document);
    let parsed = document.and_then(|document| Parsed::new(&document.text).ok());
    parsed.map(|parsed| parsed.first_wants().planned()).unwrap_or_default()
}

/// Activates the profiles with an address that is free again: NetworkManager tries none of them by itself. Its refusal is told, and
/// the attempt that follows finds what is missing.
async fn activate(bus: &Bus, profiles: &[Profile], ip: &str) {
    let has_it = |profile: &&Profile| {
        addresses(std::slice::from_ref(*profile))
            .iter()
            .any(|address| address.on.ip.to_string() == ip)
    };
    for profile in profiles.iter().filter(has_it) {
        let (uuid, kind) = (profile.uuid().to_owned(), profile.kind().to_owned());
        let device = profile.interface_name().unwrap_or_default().to_owned();
        if let Err(error) = bus.activate(&Active { uuid, device, kind }).await {
            tracing::warn!("{}", chain(&error));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_with_what_failed_and_is_good_now() {
        let finding =
            |probe, target: &str, result| Finding::new(probe, target, result, String::new());
        let gateway = |result| finding(Wire::Gateway, "192.0.2.1", result);
        let address = |result| finding(Wire::Duplicate, "192.0.2.10", result);
        for (first, now, ended) in [
            (vec![gateway(Verdict::Failed)], vec![gateway(Verdict::Failed)], 0),
            (vec![gateway(Verdict::Failed)], vec![gateway(Verdict::Ok)], 1),
            // Its route has gone.
            (vec![gateway(Verdict::Failed)], vec![], 0),
            // Another one of its family answers.
            (vec![gateway(Verdict::Failed)], vec![gateway(Verdict::Unknown)], 0),
            (vec![gateway(Verdict::Ok), address(Verdict::Failed)], vec![gateway(Verdict::Ok)], 0),
            (
                vec![gateway(Verdict::Ok), address(Verdict::Failed)],
                vec![gateway(Verdict::Ok), address(Verdict::Ok)],
                1,
            ),
        ] {
            assert_eq!(mended(&first, &now).len(), ended, "{first:?} {now:?}");
        }
    }
}
