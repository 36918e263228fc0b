//! What changes on the wire without an event on this node: a silent gateway answers again, and another machine gives up an address
//! of this node's. During a pause, or while the boot waits for other units, a question costs nothing.

use std::time::Duration;

use nmgen::chain;
use tokio::sync::watch;

use super::{in_force::wants_of_document, signals::stoppable};
use crate::{
    client::{
        dbus::{Bus, awaited_by},
        netlink::Netlink,
    },
    error::Error,
    model::{Active, Planned, Profile},
    network::{
        NetworkError,
        causes::{addresses, configured},
    },
    paths::Paths,
    probe::wire::{self, Asked, Finding, Verdict, Wire},
    warn::OrWarn as _,
};

/// The time between two questions.
const EVERY: Duration = Duration::from_secs(5);

/// What is asked again: gateways that do not answer, and addresses of other machines.
#[derive(Default)]
pub(super) struct Awaited(Vec<Finding>);

impl Awaited {
    /// Takes in answers, and returns those that failed before and are good now.
    fn hear(&mut self, now: &[Finding]) -> Vec<Finding> {
        let with = |result| now.iter().filter(move |finding| finding.result == result);
        let mended: Vec<Finding> =
            with(Verdict::Ok).filter(|finding| self.has(finding)).cloned().collect();
        self.0.retain(|of| !mended.iter().any(|finding| is_same(of, finding)));
        for finding in with(Verdict::Failed) {
            if !self.has(finding) {
                tracing::warn!("asked again every {} s: {}", EVERY.as_secs(), finding.detail);
                self.0.push(finding.clone());
            }
        }
        mended
    }

    fn has(&self, finding: &Finding) -> bool {
        self.0.iter().any(|of| is_same(of, finding))
    }
}

/// Whether two findings are of one question.
fn is_same(one: &Finding, other: &Finding) -> bool {
    (one.probe, &one.target) == (other.probe, &other.target)
}

/// Returns when a silent gateway answers, or when nobody else has an address any more that another machine had, in this pause or
/// since an earlier one. `hold`: the first part of a pause, which nothing ends. Where nobody can be asked, the time ends the pause.
pub(super) async fn changed(paths: &Paths, hold: Duration, awaited: &mut Awaited) {
    if let Err(error) = watch(paths, hold, awaited).await {
        tracing::warn!("no pause follows the answers of the wire: {}", chain(&error));
        std::future::pending::<()>().await;
    }
}

async fn watch(paths: &Paths, hold: Duration, awaited: &mut Awaited) -> Result<(), NetworkError> {
    let (bus, netlink) = (Bus::connect().await?, Netlink::connect()?);
    let profiles = configured(&bus).await?;
    let (wants, _) = wants_of_document(paths, &netlink).await?;
    let planned = [wants.planned(), addresses(&profiles)].concat();
    let asked = Asked { gateways: wants.planned_gateways(), ..Asked::default() };
    let mut mended = awaited.hear(&ask(paths, &netlink, &planned, &asked).await?);
    if mended.is_empty() && awaited.0.is_empty() {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(hold).await;
    while mended.is_empty() {
        tokio::time::sleep(EVERY).await;
        mended = awaited.hear(&ask(paths, &netlink, &planned, &asked).await?);
    }
    for finding in mended.iter().filter(|finding| finding.probe == Wire::Duplicate) {
        activate(&bus, &profiles, &finding.target).await;
    }
    Ok(())
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
    let mut awaited = Awaited::default();
    while awaited_by("dayone-bridge.service").await?.is_some() {
        let profiles = configured(&bus).await?;
        let now = wire::before_use(&addresses(&profiles), paths, &netlink).await?;
        for finding in awaited.hear(&now) {
            activate(&bus, &profiles, &finding.target).await;
        }
        tokio::time::sleep(EVERY).await;
    }
    Ok(())
}

async fn ask(
    paths: &Paths,
    netlink: &Netlink,
    planned: &[Planned],
    asked: &Asked,
) -> Result<Vec<Finding>, NetworkError> {
    let gateways = wire::look(&[Wire::Gateway], asked, paths, netlink).await?;
    Ok([gateways, wire::before_use(planned, paths, netlink).await?].concat())
}

/// Activates the profiles with an address that is free again: NetworkManager tries none of them by itself. Its refusal is told, and
/// the attempt that follows finds what is missing.
async fn activate(bus: &Bus, profiles: &[Profile], ip: &str) {
    for profile in profiles.iter().filter(|profile| {
        addresses(std::slice::from_ref(*profile))
            .iter()
            .any(|address| address.on.ip.to_string() == ip)
    }) {
        let (uuid, kind) = (profile.uuid().to_owned(), profile.kind().to_owned());
        let device = profile.interface_name().unwrap_or_default().to_owned();
        bus.activate(&Active { uuid, device, kind }).await.or_warn();
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
            let mut awaited = Awaited::default();
            assert!(awaited.hear(&first).is_empty(), "{first:?}");
            // Nothing is forgotten by a question that has no answer, nor told twice.
            assert!(awaited.hear(&[]).is_empty(), "{first:?}");
            assert_eq!(awaited.hear(&now).len(), ended, "{first:?} {now:?}");
            assert!(awaited.hear(&now).is_empty(), "{first:?} {now:?}");
        }
    }
}
