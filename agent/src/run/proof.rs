//! The network of a document in force: proved before the boot goes on, and repaired where it does not come back by itself.

use std::{fmt, future::Future, time::Duration};

use nmgen::chain;
use tokio::time::Instant;

use super::Run;
use crate::{
    client::netlink::Netlink,
    durable::record::Record,
    error::{Error, Result},
    model::{Uplinks, Wants},
    network::{NetworkError, hung, within},
    probe,
    settings::Policy,
    status::phase::Phase,
    transaction::{Failure, PhaseError, stopped},
    warn::OrWarn as _,
};

/// Parts that a network lacks.
enum Lack {
    /// Addresses, routes or links.
    Network(NetworkError),
    /// An answer of a gateway, and profiles of these devices: gone, or not up although the device carries a default route or is a
    /// card below it.
    Profiles(Vec<String>),
    /// An answer of a gateway, and nothing else.
    Answer(String),
    /// A family, beside another one whose gateway answers; all profiles are there.
    Family(NetworkError),
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(error) => f.write_str(&chain(error)),
            Self::Profiles(devices) => {
                let devices = devices.join(", ");
                write!(f, "no gateway answers, and profiles are gone or not up: {devices}")
            }
            Self::Answer(why) => write!(f, "no gateway answers: {why}"),
            Self::Family(error) => write!(f, "the other family works, but: {}", chain(error)),
        }
    }
}

/// How far a network that is expected is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NetworkProof {
    /// It works.
    Whole,
    /// Its addresses, routes and known profiles are there, and no gateway answers.
    Silent,
    /// The document has to be applied again.
    Broken,
}

/// Waits for the network, and activates the document's profiles if necessary.
pub(super) async fn prove(run: &Run<'_>, expected: &Uplinks) -> Result<NetworkProof> {
    if expected.families.is_empty() {
        return Ok(NetworkProof::Whole);
    }
    let netlink = Netlink::connect().map_err(NetworkError::from)?;
    let bound = run.settings.wait.network.get();
    let waited = released(run, expected, wait(run, expected, &netlink, bound));
    let Err(lack) = phase(run, Phase::Network, bound, waited).await? else {
        return Ok(NetworkProof::Whole);
    };
    tracing::warn!("{lack}; activating the document's profiles");
    let bound = run.settings.timeout.verify.get();
    let repaired = repair(run, expected, &netlink, bound, lack);
    match phase(run, Phase::Activate, bound, repaired).await? {
        Ok(()) => {
            run.warn("the network did not return by itself: activated the document's profiles");
            Ok(NetworkProof::Whole)
        }
        // A gateway that is down is no fault of this node's network.
        // Neither is a family that the network gives no more, or that day two has taken away: the same profiles would not bring it.
        Err(lack @ (Lack::Answer(_) | Lack::Family(_))) => {
            let are_there = match expected.profiles.is_empty() {
                true => "",
                false => "; the document's profiles are there",
            };
            run.warn(&format!("{lack}{are_there}"));
            Ok(match lack {
                Lack::Answer(_) => NetworkProof::Silent,
                Lack::Network(_) | Lack::Profiles(_) | Lack::Family(_) => NetworkProof::Whole,
            })
        }
        // Nothing can be applied either.
        Err(Lack::Network(error @ NetworkError::NetworkingOff)) => Err(error.into()),
        Err(lack @ (Lack::Network(_) | Lack::Profiles(_))) => {
            tracing::warn!("{lack}");
            Ok(NetworkProof::Broken)
        }
    }
}

/// [`prove`] for a document of whose network the agent has no record.
pub(super) async fn prove_by_document(run: &Run<'_>, wants: &Wants) -> Result<NetworkProof> {
    let proof = prove(run, &Uplinks::declared(wants)).await?;
    let is_broken = proof == NetworkProof::Broken || !is_given(run, wants).await?;
    Ok(if is_broken { NetworkProof::Broken } else { proof })
}

/// Whether the network has given the uplink an address and a default route, where the document names no gateway. Such a document
/// tells neither the families nor whether a lease brings a route: one family is enough, and after the wait an address.
async fn is_given(run: &Run<'_>, wants: &Wants) -> Result<bool> {
    if !wants.gateways.is_empty() || wants.leads().is_empty() {
        return Ok(true);
    }
    let netlink = Netlink::connect().map_err(NetworkError::from)?;
    let bound = run.settings.wait.network.get();
    let what = "an address and a default route from the network";
    run.progress.say(&format!("waiting for {what} (up to {:.0} s)", bound.as_secs_f64()), bound);
    let given = within(what, bound, Uplinks::wait_for_a_lease(&netlink, wants));
    match phase(run, Phase::Network, bound, given).await? {
        Ok(()) => Ok(true),
        Err(error) => {
            tracing::warn!("{}", chain(&error));
            Ok(Uplinks::has_a_lease(&netlink, wants).await?)
        }
    }
}

/// Whether the network of the document in force is there without a repair, after a failed attempt to apply it again.
pub(super) async fn is_there(run: &Run<'_>, record: &Record) -> bool {
    let Some(expected) = record.uplinks() else { return false };
    let waited = match Netlink::connect().map_err(NetworkError::from) {
        Ok(netlink) => wait(run, expected, &netlink, run.settings.timeout.baseline.get()).await,
        Err(error) => Err(Lack::Network(error)),
    };
    waited.inspect_err(|lack| tracing::warn!("{lack}")).is_ok()
}

/// A network that comes by itself is there by then, and costs no connection to the bus.
const BY_ITSELF: Duration = Duration::from_secs(2);

/// Does `work`, and meanwhile activates interfaces again whose activation NetworkManager has abandoned (`network::hung`).
async fn released<T>(run: &Run<'_>, expected: &Uplinks, work: impl Future<Output = T>) -> T {
    let aid = async {
        tokio::time::sleep(BY_ITSELF).await;
        let network = run.connect().await?;
        loop {
            let devices = network.release_hung(&expected.profiles).await?.join(", ");
            run.warn(&format!(
                "NetworkManager did not end the activation of {devices}: activated again"
            ));
        }
    };
    hung::beside(work, aid).await
}

/// Waits for addresses and routes, and asks the gateways on the recorded links: an interface of Open vSwitch keeps address and
/// route without its uplink. An answer proves a card too: a replaced one, with another MAC address, is not awaited.
async fn wait(
    run: &Run<'_>,
    expected: &Uplinks,
    netlink: &Netlink,
    bound: Duration,
) -> Result<(), Lack> {
    let start = Instant::now();
    let say = |text: &str, bound| run.progress.say(text, bound);
    if run.settings.probe.gateway == Policy::Off {
        return expected.wait(netlink, (start, bound), &say).await.map_err(Lack::Network);
    }
    let proving = expected.proving();
    let waited = expected.wait_for_families(netlink, (start, bound), &say).await;
    if !waited.map_err(Lack::Network)? {
        let answered = async {
            if probe::silent(&proving, bound, run.paths, netlink).await.is_some() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            waited = expected.wait(netlink, (start, bound), &say) => waited.map_err(Lack::Network)?,
            () = answered => return Ok(()),
        }
    }
    let bound = bound.saturating_sub(start.elapsed()).max(run.settings.timeout.baseline.get());
    say(&format!("waiting for a gateway's answer (up to {:.0} s)", bound.as_secs_f64()), bound);
    match probe::silent(&proving, bound, run.paths, netlink).await {
        Some(why) => Err(Lack::Answer(why)),
        None => Ok(()),
    }
}

/// Activates the document's profiles that are not up, and waits again if there were any.
async fn repair(
    run: &Run<'_>,
    expected: &Uplinks,
    netlink: &Netlink,
    bound: Duration,
    lack: Lack,
) -> Result<(), Lack> {
    let say = |text: &str, bound| run.progress.say(text, bound);
    let Some(network) = run.connect().await.or_warn() else { return Err(lack) };
    let repaired = match network.activate(&expected.profiles, &say).await {
        Ok(()) => {
            let waited = released(run, expected, wait(run, expected, netlink, bound)).await;
            if waited.is_ok() {
                network.activate_cards_of_bridges(&expected.profiles).await.or_warn();
            }
            waited
        }
        Err(NetworkError::NoProfile) => Err(lack),
        Err(error @ NetworkError::NetworkingOff) => return Err(Lack::Network(error)),
        Err(error) => {
            tracing::warn!("{}", chain(&error));
            Err(lack)
        }
    };
    let Err(lack) = repaired else { return Ok(()) };
    match (lack, network.lost(expected).await) {
        (Lack::Network(error), Ok(lost)) if lost.is_empty() => {
            Err(without_a_card_or_family(run, expected, netlink, error).await)
        }
        (Lack::Answer(_), Ok(lost)) if !lost.is_empty() => Err(Lack::Profiles(lost)),
        (lack, Ok(_)) => Err(lack),
        (lack, Err(error)) => {
            tracing::warn!("{}", chain(&error));
            Err(lack)
        }
    }
}

/// The lack where each profile is up: a replaced card beside a silent gateway, one of several families, or the network.
async fn without_a_card_or_family(
    run: &Run<'_>,
    expected: &Uplinks,
    netlink: &Netlink,
    error: NetworkError,
) -> Lack {
    let usable = expected.usable_families(netlink).await.or_warn().unwrap_or_default();
    if usable.is_empty() {
        return Lack::Network(error);
    }
    if run.settings.probe.gateway == Policy::Off {
        return Lack::Family(error);
    }
    let bound = run.settings.timeout.baseline.get();
    match probe::silent(expected.addressable(), bound, run.paths, netlink).await {
        None => Lack::Family(error),
        Some(silent) => match expected.has_families(netlink).await {
            Ok(true) => Lack::Answer(format!("{silent}; {}", chain(&error))),
            Ok(false) => Lack::Network(error),
            Err(unread) => {
                tracing::warn!("{}", chain(&unread));
                Lack::Network(error)
            }
        },
    }
}

/// Runs a phase that a signal stops; the caller judges its failure.
async fn phase<T, E>(
    run: &Run<'_>,
    phase: Phase,
    bound: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<Result<T, E>> {
    let start = run.progress.enter(phase, bound);
    let result = tokio::select! {
        biased;
        () = stopped(run.stop.clone()) => {
            let source = Box::new(PhaseError::Stopped);
            Err(Error::Transaction(Failure::Untouched { phase, source }))
        }
        result = work => Ok(result),
    };
    run.progress.leave(phase, start, matches!(result, Ok(Ok(_))));
    result
}
