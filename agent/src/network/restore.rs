//! Roll back of the network, with or without NetworkManager, and its proof.

use std::time::Duration;

use futures_util::future::OptionFuture;
use nmgen::chain;
use tokio::time::Instant;

use super::{NetworkError, Result, Undone, bridges, clients::Clients, foreign, stale};
use crate::{
    client::{
        dbus::Signals,
        netlink::{Events, KeptAddress},
        ovsdb::Ovsdb,
    },
    model::{Active, Before, Family, Gateway, Lead, Link, Mac, Route},
    warn::OrWarn as _,
};

/// The subject of a roll back's proof.
pub(super) struct Proof<'p> {
    pub(super) before: &'p Before,
    /// Addresses of other programs, which are put back.
    pub(super) foreign: &'p [KeptAddress],
    /// NetworkManager did not roll all devices back: their profiles have to be active again.
    pub(super) is_refused: bool,
}

/// A part of the earlier network that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lost {
    link: Option<String>,
    what: String,
}

impl Lost {
    fn of(link: &str, what: String) -> Self {
        Self { link: Some(link.to_owned()), what }
    }
}

/// Rolls back the checkpoints of the transaction.
pub(super) async fn checkpoints(net: &Clients<'_>, before: &Before) -> Result<Undone> {
    patient(net, async || {
        let mut undone = Undone::NoCheckpoint;
        for checkpoint in net.own_checkpoints(before).await? {
            tracing::info!(?checkpoint, "rolling back");
            let mut refused = net.bus.roll_back(&checkpoint).await?;
            if !refused.is_empty() {
                let devices = refused.join(", ");
                tracing::warn!("NetworkManager could not roll back {devices}; the proof decides");
            }
            if let Undone::Checkpoints { refused: earlier } = undone {
                refused.extend(earlier);
            }
            undone = Undone::Checkpoints { refused };
        }
        Ok(undone)
    })
    .await
}

/// Makes NetworkManager reload its profiles: a checkpoint does not restore inactive profiles or the
/// exact bytes of edited ones, but the copies on disk do.
pub(super) async fn profiles(net: &Clients<'_>) -> Result {
    patient(net, async || Ok(net.bus.reload_files().await?)).await
}

/// Reapplies the profile on disk to each earlier device. A failure is a warning; the proof of the
/// roll back decides.
pub(super) async fn reapply(net: &Clients<'_>, before: &Before) -> Result {
    patient(net, async || {
        for active in &before.active {
            match net.bus.reapply(active).await {
                Err(error) if !error.is_gone() => {
                    tracing::warn!(device = %active.device, "{}", chain(&error));
                }
                done => done?,
            }
        }
        Ok(())
    })
    .await
}

/// Undoes bridges if OVSDB is up: without it no bridge works, and none was made.
pub(super) async fn bridges(net: &Clients<'_>, before: &Before, made: &[String]) -> Result {
    if !bridges::is_needed(before, made) {
        return Ok(());
    }
    match Ovsdb::connect(&net.paths.ovsdb_socket()).await {
        Ok(mut ovsdb) => {
            let active: Vec<&str> = before.active.iter().map(|a| a.uuid.as_str()).collect();
            bridges::undo_settings(&mut ovsdb, before).await?;
            bridges::undo(&mut ovsdb, &before.bridges, made, &active).await?;
            stale::release_cards(net, before, Some(&mut ovsdb)).await
        }
        Err(error) if bridges::must_return(before) => Err(error.into()),
        Err(error) => {
            tracing::warn!("{error}; cannot read the bridges");
            stale::release_cards(net, before, None).await
        }
    }
}

/// Completes the bridges that NetworkManager made again: foreign ports, and the numbers of its own.
pub(super) async fn complete_bridges(net: &Clients<'_>, before: &Before) -> Result {
    if before.bridges.is_empty() {
        return Ok(());
    }
    let mut ovsdb = Ovsdb::connect(&net.paths.ovsdb_socket()).await?;
    bridges::undo(&mut ovsdb, &before.bridges, &[], &[]).await?;
    Ok(bridges::return_ofports(&mut ovsdb, &before.bridges).await?)
}

/// Repeats work with NetworkManager if it dies in the middle: systemd starts a new process, which
/// has no checkpoints and reads the profiles from disk.
async fn patient<T>(net: &Clients<'_>, work: impl AsyncFn() -> Result<T>) -> Result<T> {
    loop {
        net.bus.started_network_manager().await?;
        match work().await {
            Err(NetworkError::Bus(error)) if error.is_gone() => {
                tracing::info!("NetworkManager left the bus; waiting for its return");
                // The bus name of a dead process may stay owned briefly.
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            done => return done,
        }
    }
}

/// NetworkManager's progress with the earlier profiles.
#[derive(Default)]
struct RestoreProgress<'b> {
    /// Profiles that were active and are not now: lower ones last, since activating an interface also activates its controllers.
    inactive: Vec<&'b Active>,
    /// Whether it still works on a profile that was up: addresses and routes stay until an activation that replaces another one
    /// takes them away.
    is_under_way: bool,
}

async fn progress<'b>(net: &Clients<'_>, before: &'b Before) -> Result<RestoreProgress<'b>> {
    let (active, activated) = net.bus.active_and_activated().await?;
    let is_inactive = |wanted: &&Active| !active.iter().any(|a| a.uuid == wanted.uuid);
    let mut were_up = active.iter().filter(|active| before.activated.contains(&active.uuid));
    Ok(RestoreProgress {
        inactive: before.active.iter().filter(is_inactive).collect(),
        is_under_way: were_up.any(|active| !activated.contains(&active.uuid)),
    })
}

/// Activates profiles, OVS bridges first: for a port NetworkManager activates only a controller
/// that it manages. A refused profile does not stop the next, which may activate it too.
async fn activate(net: &Clients<'_>, profiles: &[&Active]) {
    let (bridges, others): (Vec<&Active>, Vec<&Active>) =
        profiles.iter().partition(|profile| profile.kind == "ovs-bridge");
    for wanted in bridges.into_iter().chain(others) {
        tracing::info!(profile = %wanted.uuid, device = %wanted.device, "activating again");
        net.bus.activate(wanted).await.or_warn_of("activating the old profiles");
    }
}

/// NetworkManager counts as idle after this time without a signal.
const QUIET: Duration = Duration::from_millis(500);

/// Waits until the earlier addresses, gateways, preferred default routes and MTUs are back, and NetworkManager is done with the
/// earlier profiles. At `bound` the former decide, and the profiles too where NetworkManager refused to roll a device back. What a
/// card had that is gone by then no roll back returns; where it was the way out, its gateway is silent.
///
/// NetworkManager activates its profiles by itself first: an additional activation would make it
/// start over. Once it is idle, profiles still down are activated: a profile may have failed with
/// an interface of the undone document below it ("dependency-failed"), or may lack autoconnect. MTUs
/// are set by netlink: to a NetworkManager started meanwhile, the undone document's are the cards' own. It also numbers the metrics
/// of its default routes in the order of the activations: they are set on the devices.
pub(super) async fn restored(
    net: &Clients<'_>,
    &Proof { before, foreign, is_refused }: &Proof<'_>,
    bound: Duration,
) -> Result {
    let deadline = Instant::now() + bound;
    let mut events = Events::subscribe()?;
    let mut signals = net.bus.signals().await.ok();
    // Activate inactive profiles once, even if the proof is already complete.
    let mut has_activated = false;
    let mut tried = Vec::new();
    let mut led = Vec::new();
    loop {
        if let Err(error) = foreign::put_back(net, foreign).await {
            tracing::debug!("{error}");
        }
        let mut lost = lost(net, before).await?;
        let progress = progress(net, before).await;
        if is_refused {
            lost.extend(lost_profiles(before, progress.as_ref().ok()));
        }
        let RestoreProgress { inactive, is_under_way } = progress.unwrap_or_else(|error| {
            tracing::debug!("{error}");
            RestoreProgress::default()
        });
        let links = net.netlink.links().await?;
        let macs = other_macs(before, &links, &tried);
        let is_idle = !is_under_way && (inactive.is_empty() || has_activated);
        if lost.is_empty() && is_idle && macs.is_empty() {
            return Ok(());
        }
        let signal = OptionFuture::from(signals.as_mut().map(Signals::changed));
        let (is_quiet, is_closed) = tokio::select! {
            changed = events.changed() => changed.map(|()| (false, false))?,
            Some(changed) = signal => (false, changed.is_err()),
            () = tokio::time::sleep_until((Instant::now() + QUIET).min(deadline)) => (true, false),
        };
        if is_closed {
            signals = None;
        }
        if Instant::now() >= deadline {
            let (gone, missing) = of_gone_cards(before, &links, lost);
            if !gone.is_empty() {
                let gone = listed(&gone);
                tracing::warn!("not restored, since the card is gone: {gone}");
            }
            return match missing.is_empty() {
                true => Ok(()),
                false => Err(NetworkError::NotRestored { missing: listed(&missing) }),
            };
        }
        if is_quiet && (has_activated || inactive.is_empty()) {
            // NetworkManager makes a bond or an internal interface of Open vSwitch anew with a random address, and the next attempt
            // would plan with it. A refusal is told: the address is no part of the proof.
            for (link, mac) in macs {
                let name = &link.name;
                tracing::warn!(
                    "{name} has another MAC address since the undone change; setting {mac}"
                );
                net.netlink.set_mac(&link, &mac).await.or_warn();
                tried.push(link.name);
            }
        }
        if is_quiet && !inactive.is_empty() {
            has_activated = true;
            activate(net, &inactive).await;
        } else if is_quiet {
            // A refusal is told; the proof decides.
            for (link, mtu) in other_mtus(before, &net.netlink.links().await?) {
                tracing::warn!("{} keeps the MTU of the undone change; setting {mtu}", link.name);
                net.netlink.set_mtu(link, mtu).await.or_warn();
            }
            set_leads(net, before, &mut led).await?;
        }
    }
}

/// Gives the earlier preferred default routes their place again, each once. A refusal is told; the proof decides.
async fn set_leads(net: &Clients<'_>, before: &Before, tried: &mut Vec<Lead>) -> Result {
    for lead in leading(before, &net.netlink.default_routes().await?) {
        if tried.contains(&lead) {
            continue;
        }
        let Lead { family, link, metric } = &lead;
        tracing::warn!(
            "another link than {link} has the preferred {family} default route; giving that of {link} the metric {metric}"
        );
        net.bus.set_metric(link, *family, *metric).await.or_warn();
        tried.push(lead);
    }
    Ok(())
}

/// The lost preferred default routes that are still there, with metrics by which they lead: their own, if that is enough.
fn leading(before: &Before, routes: &[Route]) -> Vec<Lead> {
    let of = |lead: &Lead| {
        let mut others = routes.iter().filter(|route| route.family == lead.family);
        let is_there = others.clone().any(|other| other.link == lead.link);
        let lowest = others
            .by_ref()
            .filter(|other| other.link != lead.link)
            .map(|other| other.metric)
            .min()?;
        let metric = lead.metric.min(lowest.checked_sub(1)?);
        (is_there && metric > 0).then(|| Lead { metric, ..lead.clone() })
    };
    before.lost_leads(routes).into_iter().filter_map(of).collect()
}

/// Links with another MAC address than before, which they have in the answer, but for those that were `tried`.
fn other_macs(before: &Before, links: &[Link], tried: &[String]) -> Vec<(Link, Mac)> {
    let other = |link: &Link| {
        let mac = before.macs.get(&link.name)?;
        let is_other = link.is_made() && link.mac.as_ref().is_some_and(|address| address != mac);
        (is_other && !tried.contains(&link.name)).then(|| (link.clone(), mac.clone()))
    };
    links.iter().filter_map(other).collect()
}

/// Links with another MTU than before, which they have in the answer.
fn other_mtus<'l>(before: &Before, links: &'l [Link]) -> Vec<(&'l Link, u32)> {
    let other = |link: &'l Link| {
        let mtu = *before.mtus.get(&link.name)?;
        link.mtu.is_some_and(|number| number != mtu).then_some((link, mtu))
    };
    links.iter().filter_map(other).collect()
}

/// The parts of the earlier network, but for its profiles, that are not there.
async fn lost(net: &Clients<'_>, before: &Before) -> Result<Vec<Lost>> {
    let addresses = net.netlink.addresses().await?;
    let routes = net.netlink.default_routes().await?;
    let links = net.netlink.links().await?;
    let lost = before
        .addresses
        .iter()
        .filter(|b| !addresses.iter().any(|a| a.on == **b && a.is_settled(&links)))
        .map(|address| Lost::of(&address.link, address.to_string()));
    // A DHCP server names the gateway that it has now.
    let is_leased = |gateway: &Gateway| {
        gateway.ip.is_ipv4()
            && gateway.link.as_ref().is_some_and(|link| before.leased.contains(link))
    };
    let leads_out = |gateway: &Gateway| {
        routes
            .iter()
            .any(|route| route.family == Family::Ipv4 && Some(&route.link) == gateway.link.as_ref())
    };
    let is_back = |gateway: &Gateway| match before.routers.contains(gateway) {
        true => gateway.is_back_by_any(&routes),
        false if is_leased(gateway) => leads_out(gateway),
        false => routes.iter().any(|route| gateway.is_of(route)),
    };
    let gateways = before.gateways.iter().filter(|gateway| !is_back(gateway));
    let gateways = gateways.map(|gateway| Lost {
        link: gateway.link.clone(),
        what: format!("the default route by {}", gateway.ip),
    });
    let has_lease = |link: &String| {
        addresses
            .iter()
            .any(|a| a.on.link == *link && a.dynamic && a.is_global() && a.on.ip.is_ipv4())
    };
    let leases = before.leased.iter().filter(|link| !has_lease(link));
    let leases = leases.map(|link| Lost::of(link, format!("an address from DHCP on {link}")));
    let mtus = other_mtus(before, &links).into_iter();
    let mtus =
        mtus.map(|(link, mtu)| Lost::of(&link.name, format!("the MTU {mtu} of {}", link.name)));
    let leads = before.lost_leads(&routes).into_iter().map(|Lead { family, link, .. }| {
        Lost::of(link, format!("the preferred {family} default route by {link}"))
    });
    Ok(lost.chain(gateways).chain(leases).chain(mtus).chain(leads).collect())
}

/// Profiles that were up and are not active; any may be where NetworkManager tells none.
fn lost_profiles(before: &Before, progress: Option<&RestoreProgress<'_>>) -> Vec<Lost> {
    let Some(RestoreProgress { inactive, .. }) = progress else {
        return vec![Lost { link: None, what: "NetworkManager's active profiles".to_owned() }];
    };
    let were_up = inactive.iter().filter(|active| before.activated.contains(&active.uuid));
    let what = |active: &Active| format!("the profile {} of {}", active.uuid, active.device);
    were_up.map(|active| Lost::of(&active.device, what(active))).collect()
}

/// The parts that were lost with a card, and the rest.
fn of_gone_cards(before: &Before, links: &[Link], lost: Vec<Lost>) -> (Vec<Lost>, Vec<Lost>) {
    let is_gone = |name: &str| {
        before.active.iter().any(|active| active.device == name && active.is_of_card())
            && !links.iter().any(|link| link.name == name)
    };
    lost.into_iter().partition(|part| part.link.as_deref().is_some_and(is_gone))
}

fn listed(lost: &[Lost]) -> String {
    lost.iter().map(|part| part.what.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(name: &str, mac: &str, is_card: bool) -> Link {
        let permanent_mac = Mac::parse(mac).filter(|_| is_card);
        Link {
            name: name.to_owned(),
            mac: Mac::parse(mac),
            physical: is_card,
            permanent_mac,
            ..Link::default()
        }
    }

    /// NetworkManager makes the bond anew, with a random address that its ports take.
    #[test]
    fn the_address_of_a_bond_that_was_made_anew_is_set_back_once() {
        let (own, random) = ("52:54:00:00:00:01", "6a:c9:60:11:22:33");
        let mac = Mac::parse(own).expect("an address");
        let macs = [("bond0".to_owned(), mac.clone())].into();
        let before = Before { macs, ..Before::default() };
        let bond = link("bond0", random, false);
        let now = [link("eno1", random, true), bond.clone(), link("eno2", own, true)];
        assert_eq!(other_macs(&before, &now, &[]), [(bond, mac)]);
        assert_eq!(other_macs(&before, &now, &["bond0".to_owned()]), []);
        assert_eq!(other_macs(&before, &[link("bond0", own, false)], &[]), []);
        assert_eq!(other_macs(&before, &[], &[]), []);
    }

    fn active(uuid: &str, device: &str, kind: &str) -> Active {
        Active { uuid: uuid.to_owned(), device: device.to_owned(), kind: kind.to_owned() }
    }

    /// eno2 was taken out; NetworkManager refused br7 for another reason.
    #[test]
    fn what_a_card_had_that_is_gone_no_roll_back_returns() {
        let before = Before {
            active: vec![
                active("1", "eno1", "802-3-ethernet"),
                active("2", "eno2", "802-3-ethernet"),
                active("3", "eno2", "ovs-port"),
                active("4", "br7", "bridge"),
                active("5", "eno3", "802-3-ethernet"),
            ],
            activated: ["1", "2", "3", "4"].map(str::to_owned).to_vec(),
            ..Before::default()
        };
        let inactive: Vec<&Active> = before.active[1..].iter().collect();
        let lost = lost_profiles(&before, Some(&RestoreProgress { inactive, is_under_way: false }));
        let text = "the profile 2 of eno2, the profile 3 of eno2, the profile 4 of br7";
        assert_eq!(listed(&lost), text, "the profile of eno3 was not up before");
        let eno1 = link("eno1", "52:54:00:00:00:01", true);
        let (gone, missing) = of_gone_cards(&before, std::slice::from_ref(&eno1), lost.clone());
        assert_eq!(listed(&gone), "the profile 2 of eno2, the profile 3 of eno2");
        assert_eq!(listed(&missing), "the profile 4 of br7");
        let eno2 = link("eno2", "52:54:00:00:00:02", true);
        assert_eq!(of_gone_cards(&before, &[eno1, eno2], lost.clone()), (Vec::new(), lost));
        assert_eq!(lost_profiles(&before, None).len(), 1);
        let nowhere = vec![Lost { link: None, what: "the default route by 192.0.2.1".to_owned() }];
        assert_eq!(of_gone_cards(&before, &[], nowhere.clone()), (Vec::new(), nowhere));
    }
}
