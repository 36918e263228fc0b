//! The state before a transaction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    bridge::Bridge,
    ip::{Gateway, OnLink},
    mac::Mac,
    profile::Active,
};

/// A checkpoint's object path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Checkpoint(pub(crate) String);

/// The state before a transaction that a roll back must restore.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Before {
    /// Addresses of global scope.
    pub(crate) addresses: Vec<OnLink>,
    /// Links with an IPv4 address from DHCP: the server may later assign another one.
    pub(crate) leased: Vec<String>,
    /// Default gateways.
    pub(crate) gateways: Vec<Gateway>,
    /// Active profiles.
    pub(crate) active: Vec<Active>,
    /// UUIDs of those whose activation had succeeded.
    pub(crate) activated: Vec<String>,
    /// MTU of each link with an active profile.
    pub(crate) mtus: BTreeMap<String, u32>,
    /// MAC address of each virtual link with an active profile, which no hardware gives back.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) macs: BTreeMap<String, Mac>,
    /// Checkpoints of other programs.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// Timeout of the transaction's own checkpoints, which identifies them.
    pub(crate) checkpoint_seconds: u32,
    /// OVS bridges.
    pub(crate) bridges: Vec<Bridge>,
    /// The running host name if the document sets one; other changes of it are not the agent's.
    pub(crate) hostname: Option<String>,
    /// Whether a roll back has the devices reapply the restored profiles: files of `nmstatectl service`
    /// change profiles before the checkpoint that is rolled back, and that of a trial may be gone.
    pub(crate) reapply: bool,
}

/// The part of [`Before`] that the kind of a transaction decides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WayBack {
    pub(crate) checkpoint_seconds: u32,
    pub(crate) reapply: bool,
}
