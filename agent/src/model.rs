//! The node in plain types, which know no other module: clients fill them, the bridge is planned with
//! them, the journal and the record are made of them.

mod before;
mod bridge;
pub(crate) mod connection;
pub(crate) mod facts;
mod ip;
mod link;
mod mac;
pub(crate) mod memory;
mod name_server;
mod oversized;
mod ovs_setting;
mod probe;
mod profile;
mod uplinks;
mod wants;
mod wire;

pub(crate) use self::{
    before::{Before, Checkpoint, Lead, WayBack},
    bridge::{Bridge, BridgeRow, PROFILE, Port, Row, column_map, column_text},
    ip::{Address, Family, Gateway, OnLink, Route, Scope},
    link::{Lacp, Layer, Link, LinkRef},
    mac::Mac,
    name_server::NameServer,
    oversized::Oversized,
    ovs_setting::{OvsKey, OvsMap, OvsSetting},
    probe::ProbeResult,
    profile::{Active, Profile, ProfileRef},
    uplinks::Uplinks,
    wants::{Dynamic, Wants},
    wire::{Bond, BondPort, LldpNeighbour, Neighbouring, Planned, Vlan},
};
