//! The automatic bridge: its profiles made in memory and activated in order, and the proof that
//! Open vSwitch and NetworkManager have it as planned.

use std::{net::IpAddr, time::Duration};

use futures_util::future::try_join_all;
use nmgen::chain;
use tokio::time::Instant;

use super::{
    NetworkError, Result,
    clients::Clients,
    wait::{Changes, wait_for, wait_until},
};
use crate::{
    bridge::{
        names::{self, BridgeNames},
        plan::{Activation, BridgePlan, PlannedProfile, Role},
    },
    client::{
        dbus::{BusError, to_dbus},
        ovsdb::Ovsdb,
    },
    model::{
        Active, Address, Bridge, Family, Lacp, Link, Mac, ProfileRef, Route,
        connection::{Record, Value},
    },
};

/// An activation is over within this time, and a port of a bond is brought up by its controller.
const BY_CONTROLLER: Duration = Duration::from_secs(5);
/// Maximum pause before a refused activation is tried again; any signal ends it.
const AGAIN: Duration = Duration::from_secs(5);
/// One try at an activation: NetworkManager gives up DHCP after 45 s by itself.
const ONE_TRY: Duration = Duration::from_secs(50);
/// Maximum time between two checks: the client of OVSDB does not subscribe to its changes.
const AT_LEAST: Duration = Duration::from_millis(200);

/// Makes the profiles, then activates them.
pub(super) async fn apply(net: &Clients<'_>, plan: &BridgePlan, bound: Duration) -> Result {
    let deadline = Instant::now() + bound;
    for link in &plan.allmulticast {
        net.netlink.receive_all_multicast(link).await?;
    }
    let known = net.bus.profiles().await?;
    if let Some(own) = &plan.own
        && let Some(profile) = known.iter().find(|profile_ref| profile_ref.uuid == own.uuid)
    {
        let mut settings = to_dbus(&own.settings)?;
        if let Some(secrets) = &own.secrets {
            net.bus.add_secrets(&mut settings, &secrets.of, &secrets.section).await?;
        }
        net.bus.save(profile, &settings).await?;
    }
    let made = plan.profiles.iter().map(|profile| make(net, profile, &known));
    try_join_all(made).await?;
    for activation in &plan.order {
        if activation.settle_lacp {
            settle_lacp(net, &activation.device).await?;
        }
    }
    let mut changes = Changes::of_manager(&net.bus).await?.at_least_every(AGAIN);
    for activation in &plan.order {
        let Some(controller) = &activation.port_of else {
            bring_up(net, plan, activation, deadline, &mut changes).await?;
            continue;
        };
        if by_controller(net, &activation.uuid).await? {
            continue;
        }
        // One port is enough.
        let one_try = deadline.min(Instant::now() + ONE_TRY);
        if let Err(error) = bring_up(net, plan, activation, one_try, &mut changes).await {
            tracing::warn!(profile = %activation.id, %controller, "{}", chain(&error));
        }
    }
    each_controller_has_a_port(net, plan).await
}

/// Adds the profile, or updates the one that an earlier run has made.
async fn make(
    net: &Clients<'_>,
    profile: &PlannedProfile,
    known: &[ProfileRef],
) -> Result<(), BusError> {
    let mut settings = to_dbus(&profile.settings)?;
    if let Some(secrets) = &profile.secrets {
        net.bus.add_secrets(&mut settings, &secrets.of, &secrets.section).await?;
    }
    match known.iter().find(|profile_ref| profile_ref.uuid == profile.uuid) {
        Some(earlier) => net.bus.update_in_memory(earlier, &settings).await,
        None => net.bus.add_in_memory(&settings).await,
    }
}

/// Activates a profile unless it is active; tries again until `deadline`.
async fn bring_up(
    net: &Clients<'_>,
    plan: &BridgePlan,
    activation: &Activation,
    deadline: Instant,
    changes: &mut Changes,
) -> Result {
    let kind = plan.profile(&activation.id).and_then(|p| p.settings.text("connection", "type"));
    let wanted = Active {
        uuid: activation.uuid.clone(),
        device: activation.device.clone(),
        kind: kind.unwrap_or_default().to_owned(),
    };
    loop {
        if net.bus.activated().await?.contains(&wanted.uuid) {
            return Ok(());
        }
        let one_try = deadline.min(Instant::now() + ONE_TRY);
        let up = async {
            tokio::select! {
                up = net.bus.bring_up(&wanted) => Ok(up),
                configured = configured(net, &wanted.uuid) => configured.map(Ok),
            }
        };
        let error = match tokio::time::timeout_at(one_try, up).await {
            Ok(done) => match done? {
                Ok(()) => return Ok(()),
                Err(error) => error,
            },
            Err(_) => BusError::NotActive {
                profile: activation.id.clone(),
                reason: "NetworkManager is still activating it",
            },
        };
        tracing::warn!(profile = %activation.id, "{}", chain(&error));
        changes.next(Some(deadline)).await?;
        if Instant::now() >= deadline {
            let id = activation.id.clone();
            return Err(NetworkError::NotActive { id, source: Box::new(error) });
        }
    }
}

/// Returns when the kernel has all of a profile whose activation takes long: it waits for scripts of the dispatcher, a minute and a
/// half for each. To activate it again, or to roll it back, would begin them again.
async fn configured(net: &Clients<'_>, uuid: &String) -> Result {
    tokio::time::sleep(BY_CONTROLLER).await;
    let mut changes = Changes::of_manager(&net.bus).await?;
    wait_for(&mut changes, async || Ok(net.bus.activated().await?.contains(uuid).then_some(())))
        .await?;
    tracing::info!(profile = uuid, "it is up but for scripts of NetworkManager's dispatcher");
    Ok(())
}

/// Whether the controller activates this port in time.
async fn by_controller(net: &Clients<'_>, uuid: &String) -> Result<bool> {
    let mut changes = Changes::of_manager(&net.bus).await?;
    let waited = wait_until(&mut changes, Instant::now() + BY_CONTROLLER, async || {
        Ok(if net.bus.activated().await?.contains(uuid) { Ok(()) } else { Err(()) })
    });
    Ok(waited.await?.is_ok())
}

async fn each_controller_has_a_port(net: &Clients<'_>, plan: &BridgePlan) -> Result {
    let active = net.bus.activated().await?;
    for profile in &plan.profiles {
        let is_port = |activation: &&Activation| activation.port_of.as_ref() == Some(&profile.uuid);
        let mut ports = plan.order.iter().filter(is_port).peekable();
        if ports.peek().is_some() && !ports.any(|port| active.contains(&port.uuid)) {
            return Err(NetworkError::NoPort { link: profile.interface_name().to_owned() });
        }
    }
    Ok(())
}

/// Waits until LACP on this port of a bond has settled, within a bound: a port that changes its
/// controller in the middle starts the negotiation anew.
async fn settle_lacp(net: &Clients<'_>, port: &str) -> Result {
    // The kernel sends no event for a partner's flags.
    let mut changes = Changes::of_kernel()?.at_least_every(AT_LEAST);
    let waited = wait_until(&mut changes, Instant::now() + BY_CONTROLLER, async || {
        let links = net.netlink.links().await?;
        let is_settling = |link: &Link| link.name == port && link.lacp == Some(Lacp::Settling);
        Ok(if links.iter().any(is_settling) { Err(()) } else { Ok(()) })
    });
    if waited.await?.is_err() {
        tracing::warn!(%port, "LACP has not settled; going on");
    }
    Ok(())
}

/// Returns when the bridge is as planned.
pub(super) async fn verify(net: &Clients<'_>, plan: &BridgePlan, bound: Duration) -> Result {
    let mut changes = Changes::of_both(&net.bus).await?.at_least_every(AT_LEAST);
    wait_until(&mut changes, Instant::now() + bound, async || {
        let lacking = lacking(net, plan).await?;
        Ok(match lacking.is_empty() {
            true => Ok(()),
            false => Err(NetworkError::Missing { subjects: lacking.join(", ") }),
        })
    })
    .await?
}

/// The parts of the plan that the node lacks, in words.
pub(super) async fn lacking(net: &Clients<'_>, plan: &BridgePlan) -> Result<Vec<String>> {
    let seen = Seen {
        activated: net.bus.activated().await?,
        addresses: net.netlink.addresses().await?,
        routes: net.netlink.default_routes().await?,
        bridges: Ovsdb::connect(&net.paths.ovsdb_socket()).await?.bridges().await?,
    };
    Ok(seen.lacking(plan))
}

/// The node as far as the proof of an automatic bridge looks at it.
pub(super) struct Seen {
    /// The uuids of active profiles.
    pub(super) activated: Vec<String>,
    pub(super) addresses: Vec<Address>,
    pub(super) routes: Vec<Route>,
    pub(super) bridges: Vec<Bridge>,
}

impl Seen {
    /// The parts of the plan that it lacks, in words.
    pub(super) fn lacking(&self, plan: &BridgePlan) -> Vec<String> {
        let Self { activated, addresses, routes, bridges } = self;
        let is_optional = |profile: &PlannedProfile| matches!(profile.role, Role::Port { .. });
        let mut lacking: Vec<String> = plan
            .profiles
            .iter()
            .filter(|profile| !is_optional(profile) && !activated.contains(&profile.uuid))
            .map(|profile| format!("the profile {} is not active", profile.id))
            .collect();
        for (names, link) in planned(plan) {
            let of = |id: String| plan.profile(&id);
            let mac = of(names.local_id()).and_then(|p| {
                ["assigned-mac-address", "cloned-mac-address"]
                    .iter()
                    .find_map(|property| p.settings.text("802-3-ethernet", property))
                    .and_then(Mac::parse)
            });
            match bridges.iter().find(|bridge| bridge.name == names.bridge) {
                None => lacking.push(format!("the bridge {}", names.bridge)),
                Some(bridge) => {
                    let system: Vec<&str> = bridge.system_interfaces().collect();
                    if system != [link] {
                        let found = system.join(" and ");
                        lacking.push(format!(
                            "{} has the uplink {link} alone (it has {found})",
                            names.bridge
                        ));
                    }
                    if mac.is_some() && bridge.hwaddr().and_then(Mac::parse) != mac {
                        lacking.push(format!("{} has the MAC address of {link}", names.bridge));
                    }
                    // ovs-vswitchd numbers a port once it has opened the device.
                    if !bridge.ofports().any(|(name, _)| name == link) {
                        lacking.push(format!("{link} has a port number on {}", names.bridge));
                    }
                }
            }
            let on_bridge = addresses.iter().filter(|a| a.on.link == names.bridge && a.is_global());
            lacking
                .extend(on_bridge.filter(|a| a.tentative).map(|a| format!("{} is usable", a.on)));
            let stated = of(names.local_id()).map(stated_gateways).unwrap_or_default();
            let own = routes.iter().filter(|route| route.link == names.bridge);
            let own = own.filter(|route| !stated.contains(&route.gateway));
            let preferred = preferred(own.collect());
            lacking.extend(preferred.filter(|route| route.metric != names.metric).map(|route| {
                format!("the default route by {} has metric {}", route.gateway, names.metric)
            }));
        }
        lacking
    }
}

/// The preferred one of each family: NetworkManager from 1.50 on gives a router that says of itself to be a lesser one a higher
/// metric (RFC 4191).
fn preferred(routes: Vec<&Route>) -> impl Iterator<Item = &Route> {
    Family::ALL.into_iter().filter_map(move |family| {
        let own = routes.iter().filter(|route| route.family == family);
        own.min_by_key(|route| route.metric).copied()
    })
}

/// Gateways of default routes that the profile lists as routes, which have their own metric.
fn stated_gateways(local: &PlannedProfile) -> Vec<IpAddr> {
    let routes =
        ["ipv4", "ipv6"].iter().flat_map(|family| local.settings.records(family, "route-data"));
    let gateway = |route: &Record| {
        let is_default = route.get("prefix").and_then(Value::number) == Some(0);
        is_default.then(|| route.get("next-hop")?.text()?.parse().ok()).flatten()
    };
    routes.filter_map(gateway).collect()
}

/// The bridges of the plan, each with its uplink.
fn planned(plan: &BridgePlan) -> Vec<(BridgeNames, &str)> {
    let extra = plan.extra.as_deref().map(|link| (names::BR_EX1, link));
    [(names::BR_EX, plan.uplink.link.as_str())].into_iter().chain(extra).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesser_router_is_not_compared() {
        let route = |family: Family, last: u16, metric: u32| Route {
            gateway: std::net::Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, last).into(),
            family,
            index: 1,
            link: "br-ex".to_owned(),
            metric,
            is_advertised: true,
        };
        let all = [
            route(Family::Ipv6, 2, 49),
            route(Family::Ipv6, 1, 48),
            // By an IPv6 gateway.
            route(Family::Ipv4, 1, 100),
        ];
        let metrics: Vec<u32> = preferred(all.iter().collect()).map(|route| route.metric).collect();
        assert_eq!(metrics, [100, 48]);
    }
}
