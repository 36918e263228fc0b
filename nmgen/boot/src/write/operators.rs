//! Profiles that a person gave the initramfs: by `coreos-installer --copy-network`, or with an image. They are no part of what the
//! kernel command line gives, and nobody makes them again: the document gives way to them, as it does to the running system's own.

use std::path::PathBuf;

use nmgen_core::node::Card;
use nmgen_core::profile::{Configuration, Keyfile, Profile};

use crate::write::components;
use crate::write::given::{Given, is_same_uuid};
use crate::write::others::Other;

/// Removes the components that one of these profiles is for; returns the removed profiles and the names of those that stay.
pub(crate) fn leave_out(
    configuration: &mut Configuration,
    others: &[Other],
    cards: &[Card],
) -> (Vec<Profile>, Vec<String>) {
    let own: Vec<&Other> = others
        .iter()
        .filter(|other| !other.is_generated() && !is_ours(other, configuration))
        .collect();
    let is_for = |profile: &Profile, own: &Other| is_for_same(&as_other(profile), own, cards);
    let is_reason =
        |own: &&&Other| configuration.profiles.iter().any(|profile| is_for(profile, own));
    let reasons = own.iter().filter(is_reason).map(|own| own.name()).collect();
    let is_hit = |profile: &Profile| own.iter().any(|own| is_for(profile, own));
    (components::leave_out(configuration, is_hit), reasons)
}

/// True when NetworkManager could load only one of the two, or both are for one interface.
pub(crate) fn is_for_same(profile: &Other, other: &Other, cards: &[Card]) -> bool {
    let is_same_file = profile.path.file_name() == other.path.file_name();
    is_same_file || is_same_uuid(profile, other) || Given::of(profile, cards).is_for_same(other)
}

/// True for a profile of the document as `nmgen generate` and `nmgen gc` write it, under any name. The uuid proves nothing: it
/// depends on the interface's name and type alone.
pub(crate) fn is_ours(other: &Other, configuration: &Configuration) -> bool {
    let mut profiles = configuration.profiles.iter();
    profiles.any(|profile| {
        let read = Keyfile::parse_leniently(&profile.keyfile.render());
        entries(&read) == entries(&other.keyfile)
    })
}

/// A profile of the document as a file. One that matches a PCI address has the name of its card, which its id is.
pub(crate) fn as_other(profile: &Profile) -> Other {
    let mut keyfile = profile.keyfile.clone();
    if keyfile.get("match", "path").is_some() {
        keyfile.set("connection", "interface-name", &profile.id);
    }
    Other { path: PathBuf::from(profile.file_name()), keyfile }
}

/// All but the address of a card, which the document need not have.
fn entries(keyfile: &Keyfile) -> Vec<(&str, &str, &str)> {
    let sections = keyfile.sections.iter();
    let all = sections.flat_map(|section| {
        section
            .entries
            .iter()
            .map(|(key, value)| (section.name.as_str(), key.as_str(), value.as_str()))
    });
    let mut all: Vec<_> = all.filter(|(_, key, _)| *key != "mac-address").collect();
    all.sort_unstable();
    all
}
