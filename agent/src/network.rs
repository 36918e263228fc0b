//! The network as a transaction sees it: one small trait, so that a fake can fail or hang at every
//! step.

mod activate;
pub(crate) mod bridges;
mod clients;
mod foreign;
mod readiness;
pub(crate) mod real;
mod restore;
pub(crate) mod takeover;
pub(crate) mod uplinks;
mod verify;
mod version;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::{takeover::Leftovers, uplinks::Uplinks};
use crate::{
    client::{
        dbus::{Active, BusError, Checkpoint},
        netlink::{Address, NetlinkError},
        ovsdb::{Bridge, OvsdbError},
    },
    document::identity::HostNameError,
    probe::{Probe, ProbeResult},
    state::{State, StateError},
    wants::{Gateway, OnLink, Wants},
};

/// Why a step of the network failed.
#[derive(Debug, Error)]
pub(crate) enum NetworkError {
    #[error(transparent)]
    Bus(#[from] BusError),
    #[error(transparent)]
    Netlink(#[from] NetlinkError),
    #[error(transparent)]
    Ovsdb(#[from] OvsdbError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    HostName(#[from] HostNameError),
    #[error("cannot watch {path}")]
    Watch { path: std::path::PathBuf, source: std::io::Error },
    #[error("{what} did not come within {seconds:.0} s")]
    NotReady { what: String, seconds: f64 },
    #[error("the current state still lacks: {subjects}")]
    Missing { subjects: String },
    #[error("no address came from the network on {links}")]
    NoLease { links: String },
    #[error("the address {address} is already in use by another host")]
    Duplicate { address: OnLink },
    #[error("no profile of the document is there to be activated")]
    NoProfile,
    #[error("the old network is not back: {missing} missing")]
    NotRestored { missing: String },
}

/// What was there before a transaction, as far as it must come back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Before {
    /// Addresses of global scope.
    pub(crate) addresses: Vec<OnLink>,
    /// Links with an IPv4 address from DHCP: the server may give another one afterwards.
    pub(crate) leased: Vec<String>,
    /// Default gateways.
    pub(crate) gateways: Vec<Gateway>,
    /// Active profiles.
    pub(crate) active: Vec<Active>,
    /// Checkpoints of others.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// The bound that the transaction's own checkpoints have, and are known by.
    pub(crate) checkpoint_seconds: u32,
    /// OVS bridges.
    pub(crate) bridges: Vec<Bridge>,
    /// The running host name, where the document sets one: any other change of it is not ours.
    pub(crate) hostname: Option<String>,
    /// Whether files of `nmstatectl service` change profiles before the checkpoint that is rolled
    /// back: their devices must take the restored profiles up again.
    pub(crate) reapply: bool,
    /// Addresses that neither a profile nor a lease put on the document's interfaces, and that
    /// their owner expects to stay (a keepalived VIP). Of no use after a restart of the agent.
    #[serde(skip)]
    pub(crate) foreign: Vec<Address>,
}

/// How the network is changed and looked at.
pub(crate) trait Network {
    /// Returns when what the document needs is there. `say` is told what is awaited.
    async fn ready(&self, wants: &Wants, say: &dyn Fn(&str, Duration)) -> Result<(), NetworkError>;
    /// The current state as nmstate sees it.
    async fn current(&self) -> Result<State, NetworkError>;
    /// `desired` with what depends on the present settled: `copy-mac-from`.
    async fn settle(&self, desired: State) -> Result<State, NetworkError>;
    /// What is there now, for the journal.
    async fn snapshot(&self, wants: &Wants) -> Result<Before, NetworkError>;
    /// Asks all probes, each at most `bound`.
    async fn probe(&self, probes: &[Probe], bound: Duration) -> Vec<ProbeResult>;
    /// What other tools left and the document replaces.
    async fn leftovers(&self, wants: &Wants, before: &Before) -> Result<Leftovers, NetworkError>;
    /// A checkpoint that rolls back by itself after `seconds`.
    async fn checkpoint(&self, seconds: u32) -> Result<Checkpoint, NetworkError>;
    /// Removes what other tools left.
    async fn take_over(&self, leftovers: &Leftovers) -> Result<(), NetworkError>;
    /// Applies under a checkpoint that stays open; `held` is one of ours that makes room for it.
    async fn apply(
        &self,
        desired: &State,
        before: &Before,
        held: Option<&Checkpoint>,
        seconds: u32,
    ) -> Result<(), NetworkError>;
    /// Returns when the current state has all of `desired`; at `bound` says what it lacks.
    async fn verify(
        &self,
        desired: &State,
        wants: &Wants,
        before: &Before,
        bound: Duration,
    ) -> Result<(), NetworkError>;
    /// Gives patch ports of before back to bridges that were `made` anew.
    async fn return_patch_ports(
        &self,
        before: &Before,
        made: &[String],
    ) -> Result<(), NetworkError>;
    /// The families that have a default route through the document's interfaces.
    async fn uplinks(&self, wants: &Wants) -> Result<Uplinks, NetworkError>;
    /// Makes it permanent: destroys every checkpoint that is not in `before`.
    async fn commit(&self, before: &Before) -> Result<(), NetworkError>;
    /// Rolls back every checkpoint that is not in `before`.
    async fn undo_checkpoints(&self, before: &Before, bound: Duration) -> Result<(), NetworkError>;
    /// Has the devices of before take up the profiles as they are on disk.
    async fn reapply_profiles(&self, before: &Before, bound: Duration) -> Result<(), NetworkError>;
    /// Has NetworkManager read the profiles on disk again.
    async fn reload_profiles(&self, bound: Duration) -> Result<(), NetworkError>;
    /// Returns what no profile brings back of the bridges of `before`, and removes those of `made`
    /// that were not there.
    async fn undo_bridges(
        &self,
        before: &Before,
        made: &[String],
        bound: Duration,
    ) -> Result<(), NetworkError>;
    /// Returns the host name of `before`.
    async fn undo_hostname(&self, before: &Before) -> Result<(), NetworkError>;
    /// Returns when addresses and default gateways of `before` are back, and activates profiles
    /// that NetworkManager leaves down; at `bound` says what is missing.
    async fn restored(&self, before: &Before, bound: Duration) -> Result<(), NetworkError>;
}
