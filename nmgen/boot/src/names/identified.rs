//! The running system's profiles of cards that the document gives by address.
//!
//! A card's name may be another one there: a `.link` file of Ignition's, `ifname=` at the first boot only, two
//! cards whose drivers change places.

use std::collections::BTreeMap;

use nmgen_core::node::Card;
use nmgen_core::profile::Profile;

use crate::command_line::Identifier;

/// The profiles with the cards' permanent addresses beside their names, so that a profile never takes another
/// card that has the name; in place of the names, so that it finds its card under any; or with the names alone, so that a new
/// card in the place of an old one has its network.
pub(crate) fn profiles(profiles: &[Profile], cards: &[Card], by: Identifier) -> Vec<Profile> {
    let mut profiles = profiles.to_vec();
    if by == Identifier::Name {
        return profiles;
    }
    let mut uuids: BTreeMap<String, String> = BTreeMap::new();
    for profile in &mut profiles {
        let get = |key| profile.keyfile.get("connection", key).unwrap_or_default().to_owned();
        let section = match get("type").as_str() {
            "802-3-ethernet" | "ethernet" => "ethernet",
            "infiniband" => "infiniband",
            _ => continue,
        };
        let (name, uuid) = (get("interface-name"), get("uuid"));
        let Some(card) = cards.iter().find(|card| card.name == name) else { continue };
        profile.keyfile.set(section, "mac-address", &card.mac.to_string());
        if by == Identifier::MacAddress {
            if let Some(connection) = profile.keyfile.section_mut("connection") {
                connection.entries.retain(|(key, _)| key != "interface-name");
            }
            uuids.insert(name, uuid);
        }
    }
    // An interface on such a card knows it by its profile, as nmstate has it for `identifier: mac-address`.
    let sections = profiles.iter_mut().flat_map(|profile| &mut profile.keyfile.sections);
    for (key, value) in sections.flat_map(|section| &mut section.entries) {
        if let Some(uuid) = uuids.get(value.as_str()).filter(|_| key == "parent") {
            *value = uuid.into();
        }
    }
    profiles
}
