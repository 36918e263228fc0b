//! Profiles as `nmcli connection show` prints them, without the properties that have NetworkManager's
//! default; the id of a planned profile stands for its UUID.

use std::collections::BTreeMap;

use crate::{
    bridge::plan::{BridgePlan, PlannedProfile},
    model::connection::{Record, Value},
};

/// Properties by name.
pub(super) type Properties = BTreeMap<String, String>;

/// The profiles of a fixture, by id.
pub(super) fn parse(text: &str) -> BTreeMap<String, Properties> {
    let mut profiles: BTreeMap<String, Properties> = BTreeMap::new();
    let mut id = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match (line.strip_prefix("--- "), line.split_once(": ")) {
            (Some(name), _) => {
                id = name.to_owned();
                assert!(
                    profiles.insert(id.clone(), Properties::new()).is_none(),
                    "{id} is there twice"
                );
            }
            (None, Some((property, value))) => {
                let profile = profiles.get_mut(&id).expect("a profile");
                let earlier = profile.insert(property.to_owned(), value.to_owned());
                assert!(earlier.is_none(), "{property} of {id} is there twice");
            }
            (None, None) => unreachable!("not a property: {line}"),
        }
    }
    profiles
}

/// A planned profile.
pub(super) fn shown(plan: &BridgePlan, profile: &PlannedProfile) -> Properties {
    let mut shown = Properties::new();
    for (section, properties) in profile.settings.sections() {
        for (property, value) in properties {
            let name = name(section, property);
            let text = text(plan, &name, value);
            // Identities are compared by `uuids`, and by the ids of controllers.
            if name != "connection.uuid" {
                shown.insert(name, text);
            }
        }
    }
    shown.entry("connection.autoconnect".to_owned()).or_insert_with(|| "yes".to_owned());
    shown
}

fn name(section: &str, property: &str) -> String {
    let property = match property {
        "master" => "controller",
        "slave-type" => "port-type",
        "autoconnect-slaves" => "autoconnect-ports",
        "assigned-mac-address" => "cloned-mac-address",
        "address-data" => "addresses",
        "route-data" => "routes",
        "dns-data" => "dns",
        other => other,
    };
    format!("{section}.{property}")
}

fn text(plan: &BridgePlan, name: &str, value: &Value) -> String {
    let number = value.number();
    match (name, number) {
        ("connection.controller", _) => {
            let uuid = value.text().expect("a controller");
            let of = plan.profiles.iter().find(|profile| profile.uuid == uuid);
            of.map_or(uuid, |profile| profile.id.as_str()).to_owned()
        }
        ("connection.autoconnect-ports", Some(1)) => "1 (true)".to_owned(),
        ("connection.lldp", Some(1)) => "enable-rx".to_owned(),
        ("802-3-ethernet.wake-on-lan", Some(64)) => "64 (magic)".to_owned(),
        ("tun.mode", Some(2)) => "2 (tap)".to_owned(),
        ("ipv6.addr-gen-mode", Some(0)) => "eui64".to_owned(),
        ("ipv6.addr-gen-mode", Some(1)) => "stable-privacy".to_owned(),
        ("ipv6.addr-gen-mode", Some(2)) => "default-or-eui64".to_owned(),
        (_, Some(number)) => number.to_string(),
        (_, None) => plain(name, value),
    }
}

fn plain(name: &str, value: &Value) -> String {
    let join = |texts: Vec<String>| texts.join(", ");
    #[allow(clippy::wildcard_enum_match_arm, reason = "a fixture has no other")]
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Text(text) => text.clone(),
        Value::Texts(texts) => texts.join(","),
        Value::TextMap(map) => {
            map.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
        }
        Value::Records(records) if name.ends_with(".addresses") => {
            join(records.iter().map(address).collect())
        }
        Value::Records(records) if name.ends_with(".routes") => {
            join(records.iter().map(route).collect())
        }
        Value::Records(records) if name.ends_with(".routing-rules") => {
            join(records.iter().map(rule).collect())
        }
        Value::Bytes(bytes) => {
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
        }
        other => unreachable!("{name} has no form: {other:?}"),
    }
}

fn of(entry: &Record, key: &str) -> String {
    let value = entry.get(key).expect("the key");
    value
        .number()
        .map_or_else(|| value.text().expect("text").to_owned(), |number| number.to_string())
}

fn address(entry: &Record) -> String {
    format!("{}/{}", of(entry, "address"), of(entry, "prefix"))
}

fn route(entry: &Record) -> String {
    let network =
        format!("{}/{} {}", of(entry, "dest"), of(entry, "prefix"), of(entry, "next-hop"));
    let metric = entry.get("metric").map(|_| format!(" {}", of(entry, "metric")));
    let table = entry.get("table").map(|_| format!(" table={}", of(entry, "table")));
    network + &metric.unwrap_or_default() + &table.unwrap_or_default()
}

fn rule(entry: &Record) -> String {
    let [priority, from, length, table] =
        ["priority", "from", "from-len", "table"].map(|key| of(entry, key));
    format!("priority {priority} from {from}/{length} table {table}")
}
