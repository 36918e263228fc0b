//! The network that a later boot waits for.

use serde::{Deserialize, Serialize};

use super::{ip::Family, link::LinkRef, profile::Active};

/// Families with a default route through one of these links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Uplinks {
    pub(crate) families: Vec<Family>,
    /// Interfaces of the document.
    pub(crate) links: Vec<LinkRef>,
    /// Interfaces of the document that can have addresses; any may carry the route after a day-2 change. A port that has some
    /// instead of its bridge, as by the profile that NetworkManager makes for a card without one, is no network of the document's.
    /// `None` where the document cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) addressable: Option<Vec<LinkRef>>,
    /// Links with the preferred default route of a family at the commit, by which the node is reached. Version 0.2 does not
    /// record them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) preferred: Vec<(Family, LinkRef)>,
    /// Network cards under the interfaces that carried the routes: an OVS interface keeps its
    /// address without a NIC.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) cards: Vec<LinkRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) profiles: Vec<Active>,
}

impl Uplinks {
    /// The links that may carry the node's addresses and routes.
    pub(crate) fn addressable(&self) -> &[LinkRef] {
        self.addressable.as_ref().unwrap_or(&self.links)
    }

    /// The links that carried a family at the commit; those that may, where none is recorded.
    pub(crate) fn preferred(&self, family: Family) -> Vec<LinkRef> {
        let preferred = self.preferred.iter().filter(|(of, _)| *of == family);
        let preferred: Vec<LinkRef> = preferred.map(|(_, link)| link.clone()).collect();
        if preferred.is_empty() { self.addressable().to_vec() } else { preferred }
    }

    /// The links whose gateways prove this network.
    pub(crate) fn proving(&self) -> Vec<LinkRef> {
        let mut links: Vec<LinkRef> = Vec::new();
        for link in self.families.iter().flat_map(|family| self.preferred(*family)) {
            if !links.contains(&link) {
                links.push(link);
            }
        }
        links
    }
}
