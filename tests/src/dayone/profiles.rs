//! The profiles that NetworkManager holds, beside those of configure-ovs.sh, property by property.

use std::collections::{BTreeMap, BTreeSet};

use crate::lab::{Inside, Result};

/// Properties by profile and name, without NetworkManager's defaults; a profile's id stands for its UUID.
pub type Profiles = BTreeMap<String, BTreeMap<String, String>>;

/// Profiles of a node without a document that configure-ovs.sh made, as the unit tests of the plan have them.
#[macro_export]
macro_rules! configure_ovs_profiles {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../agent/src/bridge/tests/profiles/",
            $name,
            ".txt"
        ))
    };
}

/// All profiles of the node but those that NetworkManager makes for links of others.
pub fn profiles(inside: &Inside) -> Result<Profiles> {
    // In one call, which has to ask for all profiles anyway: in a virtual machine each takes a second.
    let text = inside.sh(
        "nmcli -g UUID,TYPE connection show | sed -n '/:tun$/d; /:loopback$/d; s/^\\([^:]*\\):.*/uuid \\1/p' | \
         xargs nmcli connection show | sed 's/^connection[.]id: *\\(.*\\)$/--- \\1\\n&/'",
    )?;
    Ok(parse(&text))
}

/// The profiles in a text of `nmcli connection show`, each after a line `--- ID`.
pub fn parse(text: &str) -> Profiles {
    let mut all = Profiles::new();
    let mut ids = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(id) = line.strip_prefix("--- ") {
            id.clone_into(&mut current);
            all.entry(current.clone()).or_default();
        } else if let Some((property, value)) = line.split_once(':') {
            let value = value.trim();
            if property == "connection.uuid" {
                ids.insert(value.to_owned(), current.clone());
            } else if is_set(property, value) {
                let properties = all.entry(current.clone()).or_default();
                properties.insert(property.to_owned(), value.to_owned());
            }
        }
    }
    for properties in all.values_mut() {
        if let Some(controller) = properties.get_mut("connection.controller")
            && let Some(id) = ids.get(controller)
        {
            controller.clone_from(id);
        }
        if let Some(mac) = properties.get_mut("802-3-ethernet.cloned-mac-address") {
            mac.make_ascii_lowercase();
        }
        if let Some(options) = properties.get_mut("bond.options") {
            let sorted: BTreeSet<&str> = options.split(',').collect();
            *options = sorted.into_iter().collect::<Vec<_>>().join(",");
        }
    }
    all
}

/// Whether a property counts: neither a default nor an older spelling of another one nor the state of an active profile.
fn is_set(property: &str, value: &str) -> bool {
    let is_older = ["connection.master", "connection.slave-type", "connection.autoconnect-slaves"]
        .contains(&property);
    let is_state = property.starts_with(|first: char| first.is_ascii_uppercase());
    let is_yes_by_default =
        property.ends_with(".may-fail") || property.ends_with(".dhcp-send-hostname-deprecated");
    let is_default = match (property, value) {
        ("connection.autoconnect", _) => false,
        ("connection.timestamp", _) | ("proxy.method", "none") | ("bridge-port.priority", "32") => {
            true
        }
        (_, "" | "--" | "-1" | "0" | "default" | "unknown") => true,
        (_, "no") => !is_yes_by_default,
        (_, "yes") => is_yes_by_default,
        (_, "auto") => property.ends_with(".mtu"),
        _ => ["-1 (", "0 (", "0x0 ("].iter().any(|prefix| value.starts_with(prefix)),
    };
    !is_older && !is_state && !is_default
}

/// The differences of these profiles that `agent/doc/bridge.md` does not list, as `PROFILE PROPERTY: CONFIGURE-OVS, OWN`.
pub fn undocumented(script: &Profiles, own: &Profiles) -> Vec<String> {
    let documented = documented();
    let none = BTreeMap::new();
    let mut found = Vec::new();
    for (id, script) in script {
        let own = own.get(id).unwrap_or(&none);
        let names: BTreeSet<&String> = script.keys().chain(own.keys()).collect();
        for name in names {
            let (script, own) = (script.get(name), own.get(name));
            let is_row = |(profile, row): &(String, String)| {
                let rest = name.strip_prefix(row.as_str());
                profile == id && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            if script != own && !documented.iter().any(is_row) {
                found.push(format!("{id} {name}: {script:?}, {own:?}"));
            }
        }
    }
    found
}

/// The rows of the table of differences: profile, property or section.
fn documented() -> Vec<(String, String)> {
    let text = include_str!("../../../agent/doc/bridge.md");
    let table = text.lines().skip_while(|line| *line != "## Differences from configure-ovs.sh");
    let rows = table.filter_map(|line| line.strip_prefix("| `"));
    let row = |row: &str| {
        let mut cells = row.split(" | ").map(|cell| cell.trim_matches('`').to_owned());
        Some((cells.next()?, cells.next()?))
    };
    rows.filter_map(row).collect()
}
