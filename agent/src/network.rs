//! What a transaction needs of the network: one small trait, so that a fake can fail or hang at
//! every step.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    dbus::{Active, BusError, Checkpoint},
    durable::FileError,
    identity::HostNameError,
    netlink::NetlinkError,
    ovsdb::{Bridge, OvsdbError},
    probe::{Probe, ProbeResult},
    state::{State, StateError},
    takeover::Leftovers,
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
    File(#[from] FileError),
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
    #[error("the old network is not back: {missing} missing")]
    NotRestored { missing: String },
    #[error("{count} steps of the roll back failed, the first one")]
    RollBackSteps { count: usize, source: Box<NetworkError> },
}

/// What was there before a transaction, as far as it must come back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Before {
    /// Addresses of global scope.
    pub(crate) addresses: Vec<OnLink>,
    /// Default gateways.
    pub(crate) gateways: Vec<Gateway>,
    /// Active profiles.
    pub(crate) active: Vec<Active>,
    /// Checkpoints of others; any other is ours.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// OVS bridges.
    pub(crate) bridges: Vec<Bridge>,
    /// The running host name, where the document sets one: any other change of it is not ours.
    pub(crate) hostname: Option<String>,
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
        held: Option<&Checkpoint>,
        seconds: u32,
    ) -> Result<(), NetworkError>;
    /// Returns when the current state has all of `desired`; at `bound` says what it lacks.
    async fn verify(
        &self,
        desired: &State,
        wants: &Wants,
        bound: Duration,
    ) -> Result<(), NetworkError>;
    /// Makes it permanent: destroys every checkpoint that is not in `before`.
    async fn commit(&self, before: &Before) -> Result<(), NetworkError>;
    /// Undoes everything since `before`: checkpoints, then `restore_files`, then bridges. Goes on after a failed step; `bridges` are the document's.
    async fn roll_back(
        &self,
        before: &Before,
        bridges: &[String],
        restore_files: &dyn Fn() -> Result<bool, FileError>,
        step: Duration,
    ) -> Result<(), NetworkError>;
    /// Returns when addresses and default gateways of `before` are back, and activates what
    /// NetworkManager leaves down; at `bound` says what is missing.
    async fn restored(&self, before: &Before, bound: Duration) -> Result<(), NetworkError>;
}
