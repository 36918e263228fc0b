//! A node at one moment, as it was collected: everything besides files that answers depend on.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Active, Address, Bridge, Family, Link, LldpNeighbour, Profile, Route};

/// An answer of one source, or why it gave none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SourceAnswer<T> {
    Value(T),
    Error(String),
}

/// A source that did not answer when the node was collected.
#[derive(Debug, Error)]
#[error("{what} did not tell when the node was collected: {why}")]
pub(crate) struct NotTold {
    what: &'static str,
    why: String,
}

impl<T: Clone> SourceAnswer<T> {
    /// The answer of `what`.
    pub(crate) fn get(&self, what: &'static str) -> Result<T, NotTold> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::Error(why) => Err(NotTold { what, why: why.clone() }),
        }
    }
}

/// Everything that is not in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Facts {
    /// The kernel's devices, in its order.
    pub(crate) links: SourceAnswer<Vec<Link>>,
    pub(crate) addresses: SourceAnswer<Vec<Address>>,
    /// Routes of the main table.
    pub(crate) default_routes: SourceAnswer<Vec<Route>>,
    /// NetworkManager's profiles, without secrets.
    pub(crate) profiles: SourceAnswer<Vec<Profile>>,
    /// Which profile is on which device.
    pub(crate) active: SourceAnswer<Vec<Active>>,
    /// The uuids of the profiles whose activation is done.
    pub(crate) activated: SourceAnswer<Vec<String>>,
    /// Open vSwitch's; `None` where nobody serves its database.
    pub(crate) bridges: SourceAnswer<Option<Vec<Bridge>>>,
    /// nmstate's current state.
    pub(crate) state: SourceAnswer<serde_json::Value>,
    /// nmstate's state of the kernel and Open vSwitch, which needs no NetworkManager.
    pub(crate) kernel: SourceAnswer<serde_json::Value>,
    pub(crate) lldp: SourceAnswer<Vec<LldpNeighbour>>,
    /// Why Open vSwitch is down.
    pub(crate) open_vswitch: Option<Outage>,
    /// Why NetworkManager or the bus is down.
    pub(crate) network_manager: Option<Outage>,
    /// Why no gateway of the network in force answered.
    pub(crate) silent: Option<String>,
    /// Address families of the commit that were gone. Bundles of 0.3.0 do not have them.
    #[serde(default)]
    pub(crate) missing_families: Vec<Family>,
    /// The run that was at work.
    pub(crate) at_work: Option<String>,
    /// The clock of deadlines (CLOCK_MONOTONIC), in milliseconds.
    pub(crate) monotonic: u64,
}

/// A service that does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StoppedService {
    /// Its database or its daemon.
    OpenVswitch,
    NetworkManager,
    Bus,
}

/// A service that is down, or too slow, and how it starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Outage {
    pub(crate) service: StoppedService,
    /// Whether it had no answer in time: on a busy node that is no proof of anything.
    pub(crate) is_late: bool,
    /// The evidence.
    pub(crate) why: String,
    /// The command, in words.
    pub(crate) start: String,
}

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.service {
            StoppedService::OpenVswitch => "Open vSwitch",
            StoppedService::NetworkManager => "NetworkManager",
            StoppedService::Bus => "the system bus",
        };
        f.write_str(name)?;
        f.write_str(if self.is_late { " does not answer" } else { " is down" })
    }
}
