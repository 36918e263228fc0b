//! The choice of the uplink of br-ex: configure-ovs.sh's sources in its order. Pure; the caller
//! waits for events and asks again.

use std::{fmt, net::IpAddr};

use serde::{Deserialize, Serialize};

/// The uplink of br-ex.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Uplink {
    /// The interface.
    pub(crate) link: String,
    /// Why this one.
    pub(crate) reason: Reason,
    /// Set if the chosen interface is br-ex itself, which carries `link` already.
    pub(crate) below: Option<Below>,
}

/// What chose the interface.
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

/// A choice, or what is still missing for one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    /// The uplink.
    Decided(Uplink),
    /// No default route counts yet.
    WaitForRoute,
    /// `hint` was the uplink before and has no default route yet; `otherwise` has one, if any.
    WaitForHint { hint: String, otherwise: Option<Uplink> },
}

/// Whether there is still time to wait for a default route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Within the bound.
    Left,
    /// Past the bound: decide with what is there.
    Over,
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
        }
        match self.below {
            None => Ok(()),
            Some(Below::Profile) => write!(f, ", and {} is the uplink in ovs-if-phys0", self.link),
            Some(Below::Ovsdb) => write!(f, ", and {} is its port in OVSDB", self.link),
            Some(Below::Hint) => write!(f, ", and {} was its uplink before", self.link),
        }
    }
}
