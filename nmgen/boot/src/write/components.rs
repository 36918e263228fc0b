//! Connected components of profiles: ports with their controller, interfaces with their base. A part of
//! one is no network: a bond without its ports, a VLAN without its card.

use std::collections::{BTreeMap, BTreeSet};

use nmgen_core::profile::{Configuration, Keyfile, Profile};

use crate::write::others::Other;

/// Keys whose value names another profile's interface or uuid, in any section.
const REFERENCES: [&str; 7] =
    ["master", "controller", "parent", "peer", "port1", "port2", "interlink"];

/// The number of each profile's component, in the order of the profiles.
pub(crate) fn components<'k>(
    profiles: impl IntoIterator<Item = &'k Keyfile, IntoIter: Clone>,
) -> Vec<usize> {
    let profiles = profiles.into_iter();
    let referenced: BTreeSet<&str> = profiles.clone().flat_map(references).collect();
    let mut component: Vec<usize> = Vec::new();
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, keyfile) in profiles.enumerate() {
        component.push(index);
        let named = other_names(keyfile).filter(|name| referenced.contains(name));
        for name in interface(keyfile).into_iter().chain(named).chain(references(keyfile)) {
            let other = component[*first.entry(name).or_insert(index)];
            let this = component[index];
            component
                .iter_mut()
                .filter(|number| **number == this)
                .for_each(|number| *number = other);
        }
    }
    component
}

/// The members of each component with a hit.
pub(crate) fn with_hit<'o>(
    profiles: &[&'o Other],
    is_hit: impl Fn(&Other) -> bool,
) -> Vec<&'o Other> {
    let component = components(profiles.iter().map(|profile| &profile.keyfile));
    let all = profiles.iter().copied().zip(component);
    let hit: Vec<usize> = all
        .clone()
        .filter(|(profile, _)| is_hit(profile))
        .map(|(_, component)| component)
        .collect();
    all.filter(|(_, component)| hit.contains(component)).map(|(profile, _)| profile).collect()
}

/// Removes the components with a hit from the configuration; returns the removed profiles.
pub(crate) fn leave_out(
    configuration: &mut Configuration,
    is_hit: impl Fn(&Profile) -> bool,
) -> Vec<Profile> {
    let component = components(configuration.profiles.iter().map(|profile| &profile.keyfile));
    let profiles = configuration.profiles.iter().zip(&component);
    let hit: Vec<usize> =
        profiles.filter(|(profile, _)| is_hit(profile)).map(|(_, component)| *component).collect();
    let mut left_out = Vec::new();
    let mut component = component.into_iter();
    configuration.profiles.retain(|profile| {
        let is_kept = component.next().is_none_or(|component| !hit.contains(&component));
        if !is_kept {
            left_out.push(profile.clone());
        }
        is_kept
    });
    left_out
}

fn connection<'k>(keyfile: &'k Keyfile, key: &str) -> Option<&'k str> {
    keyfile.get("connection", key).filter(|value| !value.is_empty())
}

fn interface(keyfile: &Keyfile) -> Option<&str> {
    connection(keyfile, "interface-name")
}

/// Other names that references use. A profile without an interface's name is known by its id
/// (`identifier: mac-address`).
fn other_names(keyfile: &Keyfile) -> impl Iterator<Item = &str> {
    let id = connection(keyfile, "id").filter(|_| interface(keyfile).is_none());
    id.into_iter().chain(connection(keyfile, "uuid"))
}

fn references(keyfile: &Keyfile) -> impl Iterator<Item = &str> {
    let entries = keyfile.sections.iter().flat_map(|section| &section.entries);
    entries
        .filter(move |(key, value)| REFERENCES.contains(&key.as_str()) && !value.is_empty())
        .map(|entry| entry.1.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_bases_and_controllers_hold_together() {
        let keyfile = |name: &str, more: &str| {
            let text =
                format!("[connection]\nid={name}\nuuid={name}-uuid\ninterface-name={name}\n{more}");
            Keyfile::parse_leniently(&text)
        };
        let keyfiles = [
            keyfile("eth0", "controller=bond0\n"),
            keyfile("eth2", ""),
            keyfile("eth1", "master=bond0-uuid\n"),
            keyfile("bond0.100", "[vlan]\nparent=bond0\n"),
            keyfile("bond0", ""),
            Keyfile::parse_leniently(
                "[connection]\nid=eth3\n[ethernet]\nmac-address=0:0:0:0:0:1\n",
            ),
            keyfile("eth3.7", "[vlan]\nparent=eth3\n"),
        ];
        let found = components(&keyfiles);
        assert!([2, 3, 4].iter().all(|index| found[*index] == found[0]), "{found:?}");
        assert!(found[1] != found[0] && found[5] == found[6] && found[5] != found[1], "{found:?}");
    }
}
