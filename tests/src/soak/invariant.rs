//! Promises that hold on a node whose agent has decided.

use std::time::Duration;

use serde_json::Value;

use super::{
    machine::Machine,
    node::{CARD, Document, Kind},
    scene::ACCOUNT,
};
use crate::{
    dayone::{APPLIED, BRIDGE_PROFILES, volatile_profiles},
    lab::{Case, Error, Inside},
};

/// Bound on one answer; the question is asked again.
const ANSWER: Duration = Duration::from_secs(2);
/// Directory of the saved profiles.
const SAVED: &str = "/etc/NetworkManager/system-connections";

/// A node's own account.
#[derive(Debug)]
pub(super) struct Told {
    /// Whether its document, or the automatic br-ex, is in force.
    pub(super) is_in_force: bool,
    /// The good document that `applied` has.
    pub(super) applied: Option<Document>,
    /// How the last run ended.
    pub(super) outcome: String,
}

/// A rule that does not hold, in words.
pub(super) type Broken = String;

/// Reads status, record and files, and compares them.
pub(super) fn told(
    inside: &Inside,
    kind: Kind,
    machine: Machine,
) -> Result<Result<Told, Broken>, Error> {
    let status = inside.run_within(&["dayone", "status", "--json"], ACCOUNT)?;
    let Ok(told) = serde_json::from_str::<Value>(&status.stdout) else {
        return Ok(Err(format!("dayone status: {status}")));
    };
    let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
    let outcome = text("outcome");
    let in_force = told["in-force"] == Value::Bool(true);
    let left = inside.sh("ls /var/lib/dayone")?;
    if outcome == "running" {
        return Ok(Err("the status has a run that goes on, and the unit is active".into()));
    }
    if left.lines().any(|name| name == "transaction") && outcome != "roll-back-failed" {
        return Ok(Err(format!("{outcome}, and a transaction is open")));
    }
    if !kind.has_document() {
        let is_in_force = in_force && ["committed", "unchanged"].contains(&outcome.as_str());
        return Ok(Ok(Told { is_in_force, applied: None, outcome }));
    }
    let applied = inside.read(APPLIED)?;
    let document =
        Document::GOOD.into_iter().find(|document| Some(kind.text(machine, *document)) == applied);
    let Some(document) = document else {
        return Ok(Err(format!("applied has no document that held: {applied:?}")));
    };
    let record = inside.read("/var/lib/dayone/record.json")?.unwrap_or_default();
    let record: Value = serde_json::from_str(&record).unwrap_or_default();
    // Version 0.2 keeps the document in a file, and none of one that this version has recorded.
    let last_good = match record["committed"]["document"]["text"].as_str() {
        Some(text) => Some(text.to_owned()),
        None => inside.read("/var/lib/dayone/last-good.yml")?,
    };
    if last_good.is_some() && applied != last_good {
        return Ok(Err(format!("applied has {document}, the last good document is {last_good:?}")));
    }
    if in_force != (record["committed"]["digest"].as_str() == told["digest"].as_str()) {
        return Ok(Err(format!("in force: {in_force}, with the record {record}")));
    }
    Ok(Ok(Told { is_in_force: in_force, applied: Some(document), outcome }))
}

/// Whether the node is reached, with the network that it tells; `profiles`: and has its profiles.
pub(super) fn network(
    case: &Case<'_>,
    (kind, machine): (Kind, Machine),
    told: &Told,
    profiles: bool,
) -> Result<Option<Broken>, Error> {
    let inside = case.inside()?;
    if !is_reached(case, kind, machine)? {
        return Ok(Some("the peer does not reach the node".into()));
    }
    let Some(document) = told.applied else {
        return automatic(&inside, told, profiles);
    };
    let mtu = document.mtu().to_string();
    for link in [CARD, "br-ex"] {
        let seen = inside.read(&format!("/sys/class/net/{link}/mtu"))?.unwrap_or_default();
        if profiles && seen.trim() != mtu {
            return Ok(Some(format!("{document} has MTU {mtu}, {link} has {}", seen.trim())));
        }
    }
    if !profiles {
        return Ok(None);
    }
    let written = inside.sh(&format!("grep -l ^mtu={mtu}$ {SAVED}/* | wc -l"))?;
    let all = inside.sh(&format!("grep -l ^mtu= {SAVED}/* | wc -l"))?;
    Ok((written != "2" || all != "2")
        .then(|| format!("{written} of {all} profiles have the MTU of {document}, of 2")))
}

fn automatic(inside: &Inside, told: &Told, profiles: bool) -> Result<Option<Broken>, Error> {
    if !told.is_in_force {
        return Ok(None);
    }
    let address = inside.sh("ip -4 -oneline address show dev br-ex scope global || :")?;
    if address.is_empty() {
        return Ok(Some("br-ex is in force and has no address".into()));
    }
    let ids = volatile_profiles(inside)?;
    Ok((profiles && ids != BRIDGE_PROFILES).then(|| format!("profiles of br-ex: {ids:?}")))
}

/// Whether the peer reaches the node: by its address, or by one of its leases.
pub(super) fn is_reached(case: &Case<'_>, kind: Kind, machine: Machine) -> Result<bool, Error> {
    if !kind.is_dhcp() {
        return case.peer().pings(machine.address(), ANSWER);
    }
    // The newest first: those of cards that are gone answer no more.
    for lease in case.peer().leases()?.into_iter().rev() {
        if case.peer().pings(lease.address, ANSWER)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether kubelet has started on a network.
pub(super) fn kubelet(inside: &Inside) -> Result<Option<Broken>, Error> {
    let seen = |name: &str| inside.read(&format!("/run/lab-kubelet/{name}"));
    let (routes, addresses) = (seen("routes")?, seen("addresses")?);
    let routes: Value = serde_json::from_str(&routes.unwrap_or_default()).unwrap_or_default();
    let addresses: Value = serde_json::from_str(&addresses.unwrap_or_default()).unwrap_or_default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let is_usable = list(&routes).iter().filter(|route| route["dst"] == "default").any(|route| {
        list(&addresses).iter().any(|link| {
            let is_global = |address: &Value| address["scope"] == "global";
            link["ifname"] == route["dev"] && list(&link["addr_info"]).iter().any(is_global)
        })
    });
    Ok((!is_usable).then(|| format!("kubelet started on {routes} {addresses}")))
}
