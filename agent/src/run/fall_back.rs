//! After a failure: whether the last good configuration carries the node, and its return.

use nmgen::chain;
use tokio::time::{Instant, timeout_at};

use super::{
    Extent, Run,
    decision::{AttemptEnd, Fallback},
    last_good::{self, applied, last_good, last_good_state},
    proof,
};
use crate::{
    client::netlink::Netlink,
    document::Document,
    durable::{commit, record::Record, set_aside},
    error::{Error, Exit, Result},
    model::{Gateway, LinkRef, ProbeResult, Uplinks},
    network::NetworkError,
    probe::{self, Kind, Probe, wire::Wire},
    settings::Policy,
    state::Parsed,
    status::{Success, phase::Phase},
    transaction::{Probed, memory},
};

/// Falls back after `error`. The document may be in force by now all the same.
pub(super) async fn fall_back(run: &Run<'_>, error: Error, extent: Extent) -> AttemptEnd {
    match carrier(run, &error, extent).await {
        Ok(success) => {
            let why = chain(&error);
            run.warn(&format!("the document is in force, after a failed attempt: {why}"));
            AttemptEnd::Succeeded(success)
        }
        Err(fallback) => AttemptEnd::Failed { error, fallback },
    }
}

/// The network that carries the node: that of the document, or what is there without it.
async fn carrier(run: &Run<'_>, error: &Error, extent: Extent) -> Result<Success, Fallback> {
    if run.is_stopped() {
        return Err(Fallback::None);
    }
    let record = Record::load(run.paths);
    let is_recorded = record.committed.is_some();
    let found = if is_recorded { last_good(&record) } else { applied(run.paths) };
    let (document, parsed) = match found {
        Ok(found) => found.ok_or(Fallback::None)?,
        Err(error) => {
            return Err(Fallback::Lost(format!("last good is unusable: {}", chain(&error))));
        }
    };
    let name = format!("the last good configuration ({})", document.path.display());
    if error.exit() != Exit::RollBackFailed {
        match answers(run, &record).await {
            Ok(answers) => match silence(&answers) {
                Some(why) => tracing::warn!("{name} gives the node no working network: {why}"),
                None if is_itself(run, &record) && proof::is_there(run, &record).await => {
                    run.status.update(|s| s.probes_after = answers);
                    return Ok(Success::Unchanged);
                }
                // The run was stopped meanwhile: a corrected document is tried first.
                None if run.is_stopped() => return Err(Fallback::None),
                None => return Err(Fallback::LastGood(format!("{name} is in force"))),
            },
            Err(error) => tracing::warn!("{}", chain(&error)),
        }
        // A machine error before the transaction would fail this document too, and so would what its own transaction has failed by.
        let fails_again = matches!(error, Error::Transaction(_))
            && run.status.get().digest == Some(document.digest.to_string());
        if error.exit() == Exit::Machine || extent == Extent::ProofAlone || fails_again {
            return Err(Fallback::Lost(format!("{name} gives the node no working network")));
        }
    }
    // Without a record nothing says that the document worked on this node.
    if !is_recorded {
        return Err(Fallback::Lost(format!("{name} gives the node no working network")));
    }
    match put_back(run, &record, &document, &parsed).await {
        Ok(()) if is_itself(run, &Record::load(run.paths)) => Ok(Success::Committed),
        Ok(()) => Err(Fallback::LastGood(format!("{name} was put back"))),
        Err(error) => Err(Fallback::Lost(format!("{name} failed too: {}", chain(&error)))),
    }
}

/// Whether this node's document is the last good one, with everything that belongs to it: then its return is no step back.
fn is_itself(run: &Run<'_>, record: &Record) -> bool {
    let status = run.status.get();
    last_good::is_whole(run.paths, record, status.digest.as_deref(), &status.hostname)
}

/// Runs the probes that decide whether the last good configuration carries the node, while links come up.
async fn answers(run: &Run<'_>, record: &Record) -> Result<Vec<ProbeResult>> {
    let wants = last_good_state(record)?.map(|state| state.wants()).unwrap_or_default();
    let settings = &run.settings.probe;
    let netlink = Netlink::connect().map_err(NetworkError::from)?;
    // Changes of day two belong to the network that is in force.
    let routes = netlink.default_routes().await.map_err(NetworkError::from)?;
    let gateways = wants.gateways.into_iter().map(|gateway| gateway.in_use(&routes));
    let gateways: Vec<Gateway> = gateways.collect();
    let plan = probe::plan(settings, &gateways, &wants.name_servers, run.paths);
    let recorded = record.uplinks();
    let links = recorded.map(Uplinks::addressable).unwrap_or_default();
    let mut asked = telling(&plan, &run.status.get().probes_before, settings.gateway, links);
    // What the network without the document does not give either says nothing of it: the gateway lets the boot go on.
    let memory = memory::load(run.paths);
    asked.retain(|probe| probe.is_of_a_gateway() || !memory.is_silent(&probe.name));
    let bound = run.settings.wait.link.get() + run.settings.timeout.probe.get();
    let deadline = Instant::now() + bound;
    let start = run.progress.enter(Phase::LastGood, bound);
    let mut answers = probe::run(&asked, bound, run.paths, &netlink).await;
    if silence(&answers).is_none()
        && let Some(recorded) = recorded
    {
        // A late answer leaves it a moment.
        let deadline = deadline.max(Instant::now() + run.settings.timeout.baseline.get());
        answers.extend(address(recorded, &netlink, deadline).await);
    }
    run.progress.leave(Phase::LastGood, start, silence(&answers).is_none());
    Ok(answers)
}

/// The lack of an address: a gateway answers on a link without one too, as where another machine has this node's.
async fn address(recorded: &Uplinks, netlink: &Netlink, deadline: Instant) -> Option<ProbeResult> {
    if recorded.families.is_empty() {
        return None;
    }
    let start = Instant::now();
    let detail = match timeout_at(deadline, recorded.wait_for_a_family(netlink)).await {
        Ok(Ok(())) => return None,
        Ok(Err(error)) => chain(&error),
        Err(_) => {
            let links: Vec<String> =
                recorded.addressable().iter().map(ToString::to_string).collect();
            format!("none with a default route is on {}", links.join(", "))
        }
    };
    Some(ProbeResult {
        name: "address".to_owned(),
        ok: false,
        detail,
        warning: None,
        link: None,
        milliseconds: start.elapsed().as_millis().try_into().unwrap_or(u64::MAX),
    })
}

/// The probes without an answer; `None`: all answer.
fn silence(answers: &[ProbeResult]) -> Option<String> {
    let silent = answers.iter().filter(|answer| !answer.ok);
    let silent: Vec<String> =
        silent.map(|answer| format!("{}: {}", answer.name, answer.detail)).collect();
    (!silent.is_empty()).then(|| silent.join("; "))
}

/// Applies the last good document as a transaction, over remains of a failed roll back.
async fn put_back(run: &Run<'_>, record: &Record, document: &Document, parsed: &Parsed) -> Result {
    let aside = set_aside::set_aside(run.paths)?;
    let applied = last_good::apply(run, record, (document, parsed), &mut Probed::default()).await;
    if aside {
        match applied {
            Ok(()) => set_aside::forget(run.paths)?,
            // Decided, and not recorded: the next start ends the commit, and nothing is left to undo.
            Err(_) if commit::is_unfinished(run.paths) => set_aside::forget(run.paths)?,
            Err(_) => set_aside::open_again(run.paths)?,
        }
    }
    applied
}

/// The probes that decide for the last good document, always with a gateway, in use on its links if the document names none: its
/// silence before may be the fault. The wire is not asked but for an address that another machine has: a switch that is wrong makes
/// no node unreachable, and no document mends it.
fn telling(
    plan: &[Probe],
    before: &[ProbeResult],
    gateway: Policy,
    links: &[LinkRef],
) -> Vec<Probe> {
    let mut asked = probe::decisive(plan, before, &probe::of_both_families(links));
    let of_the_switch =
        |kind: &Kind| matches!(kind, Kind::Wire { wire, .. } if *wire != Wire::Duplicate);
    asked.retain(|probe| !of_the_switch(&probe.kind));
    if gateway != Policy::Off && !asked.iter().any(Probe::is_of_a_gateway) {
        asked.push(probe::gateways_in_use(links));
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{paths::Paths, settings::Probes};

    fn names(gateways: &[Gateway], before: &[(&str, bool)], settings: &Probes) -> Vec<String> {
        let plan = probe::plan(settings, gateways, &[], &Paths::new("/nowhere"));
        let result = |(name, ok): &(&str, bool)| ProbeResult {
            name: (*name).to_owned(),
            ok: *ok,
            detail: String::new(),
            warning: None,
            link: None,
            milliseconds: 0,
        };
        let before: Vec<_> = before.iter().map(result).collect();
        let asked = telling(&plan, &before, settings.gateway, &[]);
        asked.into_iter().map(|probe| probe.name).collect()
    }

    #[test]
    fn a_gateway_always_tells_unless_it_is_off() {
        let named = [Gateway { link: None, ip: std::net::Ipv4Addr::new(192, 0, 2, 1).into() }];
        let settings = Probes::default();
        assert_eq!(names(&named, &[], &settings), ["gateway 192.0.2.1"]);
        assert_eq!(names(&[], &[("gateway", false)], &settings), ["gateway"]);
        let before = [("IPv4 gateway", true), ("dns", true)];
        assert_eq!(names(&[], &before, &settings), ["IPv4 gateway", "dns"]);
        let off = Probes { gateway: Policy::Off, ..Probes::default() };
        assert!(names(&named, &[], &off).is_empty());
    }

    #[test]
    fn a_wire_that_is_wrong_does_not_tell_against_the_last_good_document() {
        let required = Policy::Required;
        let settings =
            Probes { lacp: required, vlan: Policy::IfItWorkedBefore, ..Probes::default() };
        let before = [("IPv4 gateway", true), ("vlan", true)];
        assert_eq!(names(&[], &before, &settings), ["IPv4 gateway"]);
        // An address that two machines have is no switch's fault.
        let settings = Probes { duplicate: required, ..settings };
        assert_eq!(names(&[], &before, &settings), ["IPv4 gateway", "duplicate"]);
    }
}
