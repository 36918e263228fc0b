//! The uplink and its ports in the document.

use std::collections::BTreeMap;

use nmgen::check::bond_mode;
use serde_json::{Map, Value, json};

use super::mac_address;
use crate::{
    bridge::{inputs::Inputs, plan::PlannedProfile, profiles::parent_name},
    model::connection::{self, ConnectionSettings},
    state::Parsed,
};

/// The uplink and its ports; a comment for what NMState has no type for.
pub(super) fn interfaces(
    inputs: &Inputs,
    uplink: &PlannedProfile,
    ports: &[&PlannedProfile],
    comments: &mut Vec<String>,
) -> Vec<Value> {
    let mut found: Vec<Value> = ports.iter().filter_map(|port| interface(port, comments)).collect();
    let Some(mut own) = interface(uplink, comments) else { return found };
    let (name, settings) = (uplink.interface_name(), &uplink.settings);
    let ports: Vec<&str> = ports.iter().map(|port| port.interface_name()).collect();
    own["mtu"] = settings.number("802-3-ethernet", "mtu").into();
    own["mac-address"] = mac_address(settings).into();
    own["lldp"] = match settings.number("connection", "lldp") {
        Some(number @ (0 | 1)) => json!({"enabled": number == 1}),
        _ => Value::Null,
    };
    match settings.text("connection", "type") {
        Some("vlan") => own["vlan"] = vlan(inputs, settings).into(),
        Some("bond") => own["link-aggregation"] = aggregation(name, settings, &ports, comments),
        Some("bridge") => {
            let ports: Vec<Value> = ports.iter().map(|name| json!({"name": name})).collect();
            own["bridge"] = json!({"port": ports});
        }
        _ => {}
    }
    for family in ["ipv4", "ipv6"] {
        own[family] = json!({"enabled": false});
    }
    found.push(own);
    found
}

fn interface(profile: &PlannedProfile, comments: &mut Vec<String>) -> Option<Value> {
    let name = profile.interface_name();
    let kind = match profile.settings.text("connection", "type") {
        Some("802-3-ethernet") => "ethernet",
        Some("bridge") => "linux-bridge",
        Some(kind @ ("bond" | "dummy" | "vlan")) => kind,
        other => {
            let kind = other.unwrap_or_default();
            comments
                .push(format!("{name} is of type {kind}, which an NMState document cannot have"));
            return None;
        }
    };
    Some(json!({"name": name, "type": kind, "state": "up"}))
}

fn vlan(inputs: &Inputs, settings: &ConnectionSettings) -> Option<Value> {
    Some(json!({
        "base-iface": parent_name(inputs, settings.text("vlan", "parent")?),
        "id": settings.number("vlan", "id")?,
        "protocol": settings.text("vlan", "protocol").map(str::to_lowercase),
    }))
}

/// nmstate decides which options are NMState's; others are comments.
fn aggregation(
    name: &str,
    settings: &ConnectionSettings,
    ports: &[&str],
    comments: &mut Vec<String>,
) -> Value {
    let mut all = match settings.get("bond", "options") {
        Some(connection::Value::TextMap(options)) => options.clone(),
        _ => BTreeMap::new(),
    };
    let mode = all.remove("mode").filter(|mode| !mode.is_empty());
    let mode = mode.unwrap_or_else(|| "balance-rr".to_owned());
    let mode = bond_mode(&mode).unwrap_or(&mode);
    let mut options = Map::new();
    for (option, text) in all {
        let number = text.parse::<u64>().ok().map(Value::from);
        let mut candidates = number.into_iter().chain([text.as_str().into()]);
        match candidates.find(|value| is_option(mode, &option, value)) {
            Some(value) => _ = options.insert(option, value),
            None => comments.push(format!("{name}: the bond's option {option}={text}")),
        }
    }
    json!({"mode": mode, "options": options, "port": ports})
}

fn is_option(mode: &str, option: &str, value: &Value) -> bool {
    let text = format!(
        "interfaces: [{{name: bond, type: bond, link-aggregation: {{mode: {mode}, options: {{{option}: {value}}}}}}}]"
    );
    Parsed::new(&text).is_ok()
}
