//! The choice of the uplink of br-ex: configure-ovs.sh's sources in its order. Pure; the caller
//! waits for events and asks again.

use std::{fmt, net::IpAddr};

use serde::{Deserialize, Serialize};

use super::{
    error::{BridgeError, Result},
    inputs::Inputs,
    names::{BR_EX, BR_EX1, is_bridge},
};
use crate::model::{Family, Route};

/// The file that names the uplink.
pub(crate) const DEFAULT_BRIDGE: &str = "/etc/ovnk/default_bridge";
/// The file that names the uplink of br-ex1.
pub(crate) const EXTRA_BRIDGE: &str = "/etc/ovnk/extra_bridge";

/// The uplink of br-ex.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Uplink {
    pub(crate) link: String,
    pub(crate) reason: Reason,
    /// Set if the chosen interface is br-ex itself, which carries `link` already.
    pub(crate) below: Option<Below>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reason {
    /// `/etc/ovnk/default_bridge` names it.
    DefaultBridge,
    /// It has the address in `/run/nodeip-configuration/primary-ip`.
    PrimaryIp(IpAddr),
    /// It has the first default route.
    DefaultRoute(IpAddr),
    /// It was the uplink before, and has a default route.
    Hint(IpAddr),
    /// It had the first default route at an earlier attempt of this boot, and has one.
    Earlier(IpAddr),
}

impl Reason {
    /// Whether a default route has chosen it.
    pub(crate) fn is_by_route(&self) -> bool {
        match self {
            Self::DefaultRoute(_) | Self::Hint(_) | Self::Earlier(_) => true,
            Self::DefaultBridge | Self::PrimaryIp(_) => false,
        }
    }
}

/// How the uplink of a br-ex that exists is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Below {
    /// The profile `ovs-if-phys0` is for it.
    Profile,
    /// It is the system port of the bridge in OVSDB.
    Ovsdb,
    /// The hint names it.
    Hint,
}

/// A choice, or the event to wait for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    Decided(Uplink),
    /// Not before the event, or before the bound.
    Wait(Awaited),
}

/// The event that a choice waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// A default route that counts.
    DefaultRoute,
    /// A default route of this link, which was the uplink before.
    DefaultRouteOf(String),
    /// A default route of this link, which was the uplink at an earlier attempt.
    DefaultRouteOfEarlier(String),
    /// A link that a file names.
    Link { file: &'static str, link: String },
}

/// Whether there is still time to wait for a default route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Within the bound.
    Left,
    /// Past the bound: decide with what is there.
    Over,
}

/// Chooses the uplink of br-ex.
pub(crate) fn choose(inputs: &Inputs, patience: Patience) -> Result<Choice> {
    if let Some(link) = &inputs.files.default_bridge {
        return by_default_bridge(inputs, link, patience);
    }
    if let Some((link, ip)) = with_primary_ip(inputs) {
        return decided(inputs, link, Reason::PrimaryIp(ip));
    }
    let first = inputs.default_routes.iter().find(|route| counts(inputs, route));
    let decide = |route: &Route| decided(inputs, &route.link, Reason::DefaultRoute(route.gateway));
    // The bridge of an earlier run: no other hint is asked for.
    if let Some(route) = first.filter(|route| route.link == BR_EX.bridge) {
        return decide(route);
    }
    if let Some(hint) = hint(inputs).filter(|hint| first.is_none_or(|route| route.link != *hint)) {
        if let Some(route) = inputs.default_routes.iter().find(|route| route.link == hint) {
            return decided(inputs, hint, Reason::Hint(route.gateway));
        }
        if patience == Patience::Left {
            return Ok(Choice::Wait(Awaited::DefaultRouteOf(hint.to_owned())));
        }
    }
    if let Some(choice) = earlier(inputs, first, patience) {
        return choice;
    }
    match (first, patience) {
        (Some(route), _) => decide(route),
        (None, Patience::Left) => Ok(Choice::Wait(Awaited::DefaultRoute)),
        (None, Patience::Over) => Err(BridgeError::NoDefaultRoute),
    }
}

/// The choice of an earlier attempt, as long as that link has a default route, or asks the network for one: NetworkManager numbers
/// the metrics of default routes anew when it activates profiles again, as in a roll back.
fn earlier(inputs: &Inputs, first: Option<&Route>, patience: Patience) -> Option<Result<Choice>> {
    let link = inputs.earlier.as_deref()?;
    let is_hint = |route: &Route| hint(inputs) == Some(route.link.as_str());
    let is_other = first.is_none_or(|route| route.link != link && !is_hint(route));
    if !is_other || !may_be_uplink(inputs, link) || inputs.link(link).is_none() {
        return None;
    }
    let own =
        inputs.default_routes.iter().find(|route| route.link == link && counts(inputs, route));
    match (own, patience) {
        (Some(route), _) => Some(decided(inputs, link, Reason::Earlier(route.gateway))),
        (None, _) if !asks_for_a_route(inputs, link) => None,
        (None, Patience::Left) => {
            Some(Ok(Choice::Wait(Awaited::DefaultRouteOfEarlier(link.to_owned()))))
        }
        (None, Patience::Over) => {
            Some(Err(BridgeError::NoRouteOfEarlier { link: link.to_owned() }))
        }
    }
}

/// Whether a profile on the link has the network give it addresses and routes.
fn asks_for_a_route(inputs: &Inputs, link: &str) -> bool {
    let mut on_link = inputs.active.iter().filter(|active| active.device == link);
    on_link.any(|active| {
        let profile = inputs.profile(&active.uuid);
        profile
            .is_some_and(|profile| Family::ALL.into_iter().any(|family| profile.is_dynamic(family)))
    })
}

/// The uplink before this boot, if it may be one again: the hint file's, else that of the profile
/// which configure-ovs.sh kept.
pub(crate) fn hint(inputs: &Inputs) -> Option<&str> {
    let is_valid = |link: &&str| !is_bridge(link) && inputs.link(link).is_some();
    let of_file = inputs.files.hint.as_deref().filter(is_valid);
    let hint = of_file.or_else(|| kept_uplink(inputs).filter(is_valid))?;
    (inputs.files.extra_bridge.as_deref() != Some(hint)).then_some(hint)
}

fn by_default_bridge(inputs: &Inputs, link: &str, patience: Patience) -> Result<Choice> {
    let (file, link) = (DEFAULT_BRIDGE, link.to_owned());
    if link.is_empty() {
        return Err(BridgeError::EmptyDefaultBridge);
    }
    if is_bridge(&link) {
        return Err(BridgeError::NamesBridge { file, link });
    }
    match (inputs.link(&link), patience) {
        (Some(_), _) => {
            Ok(Choice::Decided(Uplink { link, reason: Reason::DefaultBridge, below: None }))
        }
        (None, Patience::Left) => Ok(Choice::Wait(Awaited::Link { file, link })),
        (None, Patience::Over) => Err(BridgeError::NoLink { file, link }),
    }
}

/// The first link with the node IP, which nodeip-configuration.service has found.
fn with_primary_ip(inputs: &Inputs) -> Option<(&str, IpAddr)> {
    let ip = inputs.files.primary_ip.as_deref()?.trim().parse().ok()?;
    let links = inputs
        .addresses
        .iter()
        .filter(|address| address.on.ip == ip)
        .map(|address| address.on.link.as_str());
    links.into_iter().find(|link| may_be_uplink(inputs, link)).map(|link| (link, ip))
}

fn may_be_uplink(inputs: &Inputs, link: &str) -> bool {
    link != BR_EX1.bridge && inputs.files.extra_bridge.as_deref() != Some(link)
}

/// Whether configure-ovs.sh would see this default route: it passes over a gateway of the other
/// family.
fn counts(inputs: &Inputs, route: &Route) -> bool {
    may_be_uplink(inputs, &route.link) && Family::of(route.gateway) == route.family
}

/// `link` as the uplink, or the link below it if it is br-ex.
fn decided(inputs: &Inputs, link: &str, reason: Reason) -> Result<Choice> {
    if link != BR_EX.bridge {
        return Ok(Choice::Decided(Uplink { link: link.to_owned(), reason, below: None }));
    }
    let (link, below) = below_bridge(inputs).ok_or(BridgeError::UnknownUplink)?;
    Ok(Choice::Decided(Uplink { link: link.to_owned(), reason, below: Some(below) }))
}

/// The uplink of the br-ex that exists.
fn below_bridge(inputs: &Inputs) -> Option<(&str, Below)> {
    let exists = |link: &&str| *link != BR_EX.bridge && inputs.link(link).is_some();
    let of_ovsdb = inputs.bridges.iter().find(|bridge| bridge.name == BR_EX.bridge);
    let mut ports =
        of_ovsdb.into_iter().flat_map(|bridge| bridge.system_interfaces()).filter(exists);
    let sources = [
        (kept_uplink(inputs).filter(exists), Below::Profile),
        (ports.next(), Below::Ovsdb),
        (hint(inputs), Below::Hint),
    ];
    sources.into_iter().find_map(|(link, below)| Some((link?, below)))
}

/// The interface of the profile `ovs-if-phys0`.
pub(super) fn kept_uplink(inputs: &Inputs) -> Option<&str> {
    let id = BR_EX.physical_id();
    inputs.profiles.iter().find(|profile| profile.id() == id)?.interface_name()
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DefaultRoute => f.write_str("a default route with a gateway"),
            Self::DefaultRouteOf(link) => {
                write!(f, "a default route of {link}, the uplink before this boot")
            }
            Self::DefaultRouteOfEarlier(link) => {
                write!(f, "a default route of {link}, the uplink of an earlier attempt")
            }
            Self::Link { file, link } => write!(f, "{link}, which {file} names"),
        }
    }
}

impl fmt::Display for Uplink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = if self.below.is_some() { "br-ex" } else { "it" };
        match &self.reason {
            Reason::DefaultBridge => write!(f, "/etc/ovnk/default_bridge names {subject}")?,
            Reason::PrimaryIp(ip) => write!(f, "{subject} has the node IP {ip}")?,
            Reason::DefaultRoute(gateway) => {
                write!(f, "{subject} has the first default route, via {gateway}")?;
            }
            Reason::Hint(gateway) => {
                write!(
                    f,
                    "{subject} was the uplink before, and has a default route via {gateway}"
                )?;
            }
            Reason::Earlier(gateway) => {
                write!(
                    f,
                    "{subject} had the first default route at an earlier attempt, and has one via {gateway}"
                )?;
            }
        }
        match self.below {
            None => Ok(()),
            Some(Below::Profile) => write!(f, ", and {} is the uplink in ovs-if-phys0", self.link),
            Some(Below::Ovsdb) => write!(f, ", and {} is its port in OVSDB", self.link),
            Some(Below::Hint) => write!(f, ", and {} was its uplink before", self.link),
        }
    }
}
