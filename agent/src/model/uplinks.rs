//! The network that a later boot waits for.

use serde::{Deserialize, Serialize};

use super::{ip::Family, link::LinkRef, profile::Active};

/// Families with a default route through one of these links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Uplinks {
    pub(crate) families: Vec<Family>,
    /// The document's interfaces; any of them may carry the route after a day-2 change.
    pub(crate) links: Vec<LinkRef>,
    /// Network cards under the interfaces that carried the routes: an OVS interface keeps its
    /// address without a NIC.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) cards: Vec<LinkRef>,
    /// Profiles that are active on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) profiles: Vec<Active>,
}
