//! The network cards that a document configures.

use nmgen_core::source::Host;
use nmgen_document::diagnostic::Place;
use nmgen_document::mac::Mac;
use nmgen_document::{Document, Path};

use crate::convert::Converted;

pub(super) struct ConfiguredCard {
    pub(super) name: String,
    /// From the document.
    pub(super) mac_address: Option<Mac>,
    /// From the source, beside the document.
    pub(super) mapped_mac_address: Option<Mac>,
    /// The card's name in the document, or the host where the document only refers to it.
    pub(super) place: Place,
}

impl ConfiguredCard {
    /// Its address, from wherever it is known.
    pub(super) fn mac(&self) -> Option<Mac> {
        self.mac_address.or(self.mapped_mac_address)
    }
}

/// Every card with a profile, including those that the document only refers to.
pub(super) fn cards(converted: &Converted) -> Vec<ConfiguredCard> {
    let host = &converted.host;
    let Some(document) = host.document() else { return Vec::new() };
    let profiles = converted.configuration.profiles.iter();
    let is_card = |kind: &str| matches!(kind, "802-3-ethernet" | "ethernet" | "infiniband");
    profiles
        .filter(|profile| profile.keyfile.get("connection", "type").is_some_and(is_card))
        .map(|profile| {
            let by_id = || named_by_profile(document, &profile.id);
            let name = profile.keyfile.get("connection", "interface-name").or_else(by_id);
            let name = name.unwrap_or(&profile.id).to_owned();
            let found = document.interface(&name);
            let place = found.map_or_else(
                || host.place.clone(),
                |(index, _)| {
                    let list = Path::default().key("interfaces");
                    document.place_at(&list.index(index).key("name"))
                },
            );
            ConfiguredCard {
                mapped_mac_address: mapped(host, &name),
                mac_address: found.and_then(|(_, node)| node.mac_at("mac-address")),
                name,
                place,
            }
        })
        .collect()
}

fn mapped(host: &Host, name: &str) -> Option<Mac> {
    let nic = host.nics.iter().find(|nic| nic.name.as_deref() == Some(name))?;
    Some(nic.mac_address)
}

/// The interface of a profile that has no interface name.
fn named_by_profile<'d>(document: &'d Document<'_>, id: &str) -> Option<&'d str> {
    let nodes = document.root.get("interfaces")?.items().iter();
    nodes.filter(|node| node.text_at("profile-name") == Some(id)).find_map(|n| n.text_at("name"))
}
