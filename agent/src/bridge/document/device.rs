//! The uplink and its ports in the document.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{DocumentBridge, Enabled, Interface, Port, ip::Ip, mac_address};
use crate::{
    bridge::{inputs::Inputs, plan::PlannedProfile, profiles::parent_name},
    model::connection::{ConnectionSettings, Value},
    state::Parsed,
};

/// Modes of a bond by their numbers.
const BOND_MODES: [&str; 7] = [
    "balance-rr",
    "active-backup",
    "balance-xor",
    "broadcast",
    "802.3ad",
    "balance-tlb",
    "balance-alb",
];

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Vlan {
    base_iface: String,
    id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Aggregation {
    mode: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    options: BTreeMap<String, BondOption>,
    port: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum BondOption {
    Number(u64),
    Text(String),
}

#[derive(Debug, Serialize)]
pub(super) struct LinuxBridge {
    port: Vec<Port>,
}

/// The uplink and its ports; a comment for what NMState has no type for.
pub(super) fn interfaces(
    inputs: &Inputs,
    uplink: &PlannedProfile,
    ports: &[&PlannedProfile],
    comments: &mut Vec<String>,
) -> Vec<Interface> {
    let names = || ports.iter().map(|port| port.interface_name().to_owned());
    let mut found: Vec<Interface> =
        ports.iter().filter_map(|port| interface(port, comments)).collect();
    let Some(mut own) = interface(uplink, comments) else { return found };
    let settings = &uplink.settings;
    own.mtu = settings.number("802-3-ethernet", "mtu");
    own.mac_address = mac_address(settings);
    own.lldp = match settings.number("connection", "lldp") {
        Some(0) => Some(Enabled { enabled: false }),
        Some(1) => Some(Enabled { enabled: true }),
        _ => None,
    };
    (own.ipv4, own.ipv6) = (Some(Ip::default()), Some(Ip::default()));
    match own.kind {
        "vlan" => own.vlan = vlan(inputs, settings),
        "bond" => {
            own.link_aggregation =
                Some(aggregation(&own.name, settings, names().collect(), comments));
        }
        "linux-bridge" => {
            let port = names().map(|name| Port { name }).collect();
            own.bridge = Some(DocumentBridge::Linux(LinuxBridge { port }));
        }
        _ => {}
    }
    found.push(own);
    found
}

fn interface(profile: &PlannedProfile, comments: &mut Vec<String>) -> Option<Interface> {
    let name = profile.interface_name().to_owned();
    let kind = match profile.settings.text("connection", "type") {
        Some("802-3-ethernet") => "ethernet",
        Some("bond") => "bond",
        Some("bridge") => "linux-bridge",
        Some("dummy") => "dummy",
        Some("vlan") => "vlan",
        other => {
            let kind = other.unwrap_or_default();
            comments
                .push(format!("{name} is of type {kind}, which an NMState document cannot have"));
            return None;
        }
    };
    Some(Interface { name, kind, state: "up", ..Interface::default() })
}

fn vlan(inputs: &Inputs, settings: &ConnectionSettings) -> Option<Vlan> {
    Some(Vlan {
        base_iface: parent_name(inputs, settings.text("vlan", "parent")?).to_owned(),
        id: settings.number("vlan", "id")?,
        protocol: settings.text("vlan", "protocol").map(str::to_lowercase),
    })
}

/// nmstate decides which options are NMState's; others are comments.
fn aggregation(
    name: &str,
    settings: &ConnectionSettings,
    port: Vec<String>,
    comments: &mut Vec<String>,
) -> Aggregation {
    let mut all = match settings.get("bond", "options") {
        Some(Value::TextMap(options)) => options.clone(),
        _ => BTreeMap::new(),
    };
    let mode = all.remove("mode").unwrap_or_default();
    let by_number = mode.parse::<usize>().ok().and_then(|number| BOND_MODES.get(number));
    let mode = by_number.map_or(mode.as_str(), |name| name).to_owned();
    let mode = if mode.is_empty() { BOND_MODES[0].to_owned() } else { mode };
    let mut options = BTreeMap::new();
    for (option, text) in all {
        let number = text.parse::<u64>().ok().map(BondOption::Number);
        let candidates = number.into_iter().chain([BondOption::Text(text.clone())]);
        match candidates.into_iter().find(|value| is_option(&mode, &option, value)) {
            Some(value) => _ = options.insert(option, value),
            None => comments.push(format!("{name}: the bond's option {option}={text}")),
        }
    }
    Aggregation { mode, options, port }
}

fn is_option(mode: &str, option: &str, value: &BondOption) -> bool {
    let value = serde_json::to_string(value).unwrap_or_default();
    let text = format!(
        "interfaces: [{{name: bond, type: bond, link-aggregation: {{mode: {mode}, options: {{{option}: {value}}}}}}}]"
    );
    Parsed::new(&text).is_ok()
}
