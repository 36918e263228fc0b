//! The network interface of a transaction: one small trait, so that a fake can fail or hang at
//! every step.

mod above;
mod activate;
mod automatic;
pub(crate) mod bridges;
mod captures;
mod cards;
pub(crate) mod causes;
mod clients;
pub(crate) mod connected;
mod foreign;
mod held;
pub(crate) mod hung;
mod of_others;
mod planning;
mod readiness;
pub(crate) mod real;
mod restore;
pub(crate) mod sight;
mod stale;
pub(crate) mod takeover;
pub(crate) mod uplinks;
mod verify;
mod version;
mod wait;

use std::time::Duration;

use thiserror::Error;

pub(crate) use self::clients::boot_time;
use self::takeover::Leftovers;
use crate::{
    bridge::{error::BridgeError, gather::GatherError, plan::BridgePlan},
    client::{datapath::DatapathError, dbus::BusError, netlink::NetlinkError, ovsdb::OvsdbError},
    document::identity::HostNameError,
    durable::FileError,
    model::{Before, Checkpoint, OnLink, ProbeResult, Uplinks, Wants, WayBack, facts::NotTold},
    probe::Probe,
    state::{Parsed, State, StateError},
};

/// Why a step of the network failed.
#[derive(Debug, Error)]
pub(crate) enum NetworkError {
    #[error(transparent)]
    Bus(#[from] BusError),
    #[error(transparent)]
    Netlink(#[from] NetlinkError),
    #[error(transparent)]
    Datapath(#[from] DatapathError),
    #[error(transparent)]
    Ovsdb(#[from] OvsdbError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    HostName(#[from] HostNameError),
    #[error(transparent)]
    NotTold(#[from] NotTold),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("br-ex cannot be planned")]
    Bridge(#[from] BridgeError),
    #[error("the state of this node cannot be read")]
    Gather(#[from] GatherError),
    #[error("the profile {id} is not active")]
    NotActive { id: String, source: Box<BusError> },
    #[error("no port of {link} is active")]
    NoPort { link: String },
    #[error("timed out after {:.0} s waiting for {what}", .bound.as_secs_f64())]
    NotReady { what: String, bound: Duration },
    #[error("the current state still lacks: {subjects}")]
    Missing { subjects: String },
    #[error(
        "ovs-vswitchd has carried nothing out for {:.0} s, though Open vSwitch's database answers: `systemctl restart \
         ovs-vswitchd.service`",
        .bound.as_secs_f64()
    )]
    HungDaemon { bound: Duration },
    #[error("no address came from the network on {links}")]
    NoLease { links: String },
    #[error("the address {address} is already in use by another host")]
    Duplicate { address: OnLink },
    #[error("the document has no saved profile to activate")]
    NoProfile,
    #[error(
        "another program holds a checkpoint of NetworkManager on {devices}, which {}: it has to end, by that program, whose pid is in \
         `journalctl --boot --unit=NetworkManager.service --grep='{checkpoint}\"'`, or by `busctl call org.freedesktop.NetworkManager \
         /org/freedesktop/NetworkManager org.freedesktop.NetworkManager CheckpointDestroy o {checkpoint}`",
        .left.map_or_else(|| "has no end".to_owned(), |left| format!("ends in {} s", left.as_secs()))
    )]
    Held { devices: String, checkpoint: String, left: Option<Duration> },
    #[error("NetworkManager's networking is off: `nmcli networking on` sets it on")]
    NetworkingOff,
    #[error("the old network was not restored: {missing} missing")]
    NotRestored { missing: String },
}

/// What a step of the network comes to.
pub(crate) type Result<T = (), E = NetworkError> = std::result::Result<T, E>;

/// Reports what is awaited, and for how long at most.
pub(crate) type Say<'a> = &'a dyn Fn(&str, Duration);

/// The roll back of the transaction's checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undone {
    /// There was none.
    NoCheckpoint,
    /// NetworkManager has rolled back; it refused these devices.
    Checkpoints { refused: Vec<String> },
}

/// Does `work`, of which `what` is awaited, for at most `bound`.
pub(crate) async fn within<T>(
    what: &str,
    bound: Duration,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let late = |_| NetworkError::NotReady { what: what.to_owned(), bound };
    tokio::time::timeout(bound, work).await.map_err(late)?
}

/// Operations that read and change the network. Those of a roll back have no bound of their own: the
/// transaction ends each, so that the next one runs.
pub(crate) trait Network {
    /// Returns when no other program's checkpoint keeps NetworkManager from one on these links; without links, on any.
    async fn released(&self, links: Option<&[String]>, say: Say<'_>) -> Result;
    /// Returns when the document's prerequisites are met. `say` reports what is awaited.
    async fn ready(&self, wants: &Wants, say: Say<'_>) -> Result;
    /// The current state as soon as each capture of the policy finds something; at the bound as it is.
    async fn captured(&self, parsed: &Parsed, say: Say<'_>) -> Result<State>;
    /// The current state as nmstate sees it.
    async fn current(&self) -> Result<State>;
    /// `desired` with the names and addresses of the node's links: `identifier`, `copy-mac-from`.
    async fn resolve_links(&self, desired: State) -> Result<State>;
    /// The current state, for the journal.
    async fn snapshot(&self, wants: &Wants, way_back: WayBack) -> Result<Before>;
    /// Runs all probes, each for at most `bound`.
    async fn probe(&self, probes: &[Probe], bound: Duration) -> Vec<ProbeResult>;
    /// Leftovers of other tools that the document replaces.
    async fn leftovers(&self, wants: &Wants, before: &Before) -> Result<Leftovers>;
    /// A checkpoint that rolls back by itself after `seconds`.
    async fn checkpoint(&self, seconds: u32) -> Result<Checkpoint>;
    /// Removes leftovers of other tools.
    async fn take_over(&self, leftovers: &Leftovers) -> Result;
    /// Applies under a checkpoint that stays open; `held`, the transaction's checkpoint, is
    /// destroyed first.
    async fn apply(&self, desired: &State, before: &Before, held: Option<&Checkpoint>) -> Result;
    /// Makes the profiles of an automatic bridge in memory, and returns when they are active; fails
    /// at `bound` with the first that is not.
    async fn apply_profiles(&self, plan: &BridgePlan, bound: Duration) -> Result;
    /// Returns when Open vSwitch and NetworkManager have the bridge as planned; fails at `bound`
    /// with the difference.
    async fn verify_profiles(&self, plan: &BridgePlan, bound: Duration) -> Result;
    /// Returns when the current state has all of `desired`; fails at `bound` with the difference.
    async fn verify(&self, desired: &State, wants: &Wants, bound: Duration) -> Result;
    /// Restores earlier patch ports on the bridges in `made`, which were created anew.
    async fn return_patch_ports(&self, before: &Before, made: &[String]) -> Result;
    /// Activates profiles on the document's links again that are none of its own, were up before, and are down. A refusal is told:
    /// the change is verified by then.
    async fn activate_above(&self, before: &Before, wants: &Wants);
    /// The families that have a default route through the document's interfaces.
    async fn uplinks(&self, wants: &Wants) -> Result<Uplinks>;
    /// What is doubtful about the changed network although it is proved: another address than before, an MTU that is too large.
    async fn doubts(&self, before: &Before, wants: &Wants) -> Result<Vec<String>>;
    /// Makes the change permanent: destroys every checkpoint that is not in `before`.
    async fn commit(&self, before: &Before) -> Result;
    /// Rolls back every checkpoint that is not in `before`.
    async fn undo_checkpoints(&self, before: &Before) -> Result<Undone>;
    /// Reapplies the profiles on disk to the devices in `before`.
    async fn reapply_profiles(&self, before: &Before) -> Result;
    /// Makes NetworkManager reload the profiles on disk.
    async fn reload_profiles(&self) -> Result;
    /// Restores the parts of the bridges of `before` that no profile restores, and removes bridges
    /// of `made` that are not in `before`.
    async fn undo_bridges(&self, before: &Before, made: &[String]) -> Result;
    /// Restarts NetworkManager, which then reads profiles and devices anew.
    async fn restart(&self) -> Result;
    /// Restores the host name of `before`.
    async fn undo_hostname(&self, before: &Before) -> Result;
    /// Returns when addresses, default gateways and MTUs of `before` are back, and its profiles too if NetworkManager has
    /// `refused` devices, activating profiles that it leaves down; fails at `bound` with the missing ones, but for those of
    /// cards that are gone.
    async fn restored(&self, before: &Before, refused: &[String], bound: Duration) -> Result;
}
