//! The picture of a plan: an NMState document, to show, compare and verify. NMState cannot say
//! everything that the profiles have; such things are comments.

mod device;
pub(crate) mod empty;
pub(crate) mod ip;
mod routes;

use serde_json::{Value, json};

use self::empty::{drop_empty, some};
use super::{
    inputs::Inputs,
    names::{ALL, BridgeNames},
    plan::{PlannedProfile, Role},
    uplink::Uplink,
};
use crate::model::connection::ConnectionSettings;

/// The document, with what NMState cannot say as comments above it.
pub(super) fn document(inputs: &Inputs, uplink: &Uplink, profiles: &[PlannedProfile]) -> String {
    let mut comments = vec![format!("br-ex on {}: {uplink}", uplink.link)];
    let (mut interfaces, mut routes, mut rules) = (Vec::new(), Vec::new(), Vec::new());
    for names in ALL {
        let of = |id: String| profiles.iter().find(|profile| profile.id == id);
        let (Some(device), Some(local)) = (of(names.physical_id()), of(names.local_id())) else {
            continue;
        };
        let is_port = |profile: &&PlannedProfile| {
            matches!(profile.role, Role::Port { .. })
                && profile.settings.text("connection", "master") == Some(&device.uuid)
        };
        let ports: Vec<&PlannedProfile> = profiles.iter().filter(is_port).collect();
        interfaces.extend(device::interfaces(inputs, device, &ports, &mut comments));
        interfaces.push(bridge(names, device, inputs));
        let local_interface = local_interface(names, &local.settings);
        comments.extend(small_mtu(&local_interface));
        interfaces.push(local_interface);
        for family in ["ipv4", "ipv6"] {
            routes.extend(routes::routes(&local.settings, family, names));
            rules.extend(routes::rules(&local.settings, family));
            comments.extend(routes::name_servers(&local.settings, family, names));
        }
    }
    let config = |list: Vec<Value>| json!({"config": some(list)});
    let (routes, rules) = (config(routes), config(rules));
    let mut document = json!({"interfaces": interfaces, "routes": routes, "route-rules": rules});
    drop_empty(&mut document);
    // It has nothing that YAML cannot say.
    let text = serde_yaml::to_string(&document).unwrap_or_default();
    // A name of others begins no line of the document.
    let comment = |line: &String| format!("# {}\n", nmgen::printable(line));
    comments.iter().map(comment).collect::<String>() + &text
}

fn bridge(names: BridgeNames, device: &PlannedProfile, inputs: &Inputs) -> Value {
    let ports = [device.interface_name(), names.bridge].map(|name| json!({"name": name}));
    let options = json!({"datapath": inputs.datapath_type});
    let bridge = json!({"options": options, "port": ports});
    json!({"name": names.bridge, "type": "ovs-bridge", "state": "up", "bridge": bridge})
}

fn local_interface(names: BridgeNames, settings: &ConnectionSettings) -> Value {
    let (ipv4, ipv6) = (ip::ipv4(settings), ip::ipv6(settings));
    let needs = |family: &str, ip: &Option<Value>| {
        settings.flag(family, "may-fail") == Some(false)
            && ip.as_ref().is_some_and(|ip| ip["enabled"] == true)
    };
    json!({
        "name": names.bridge,
        "type": "ovs-interface",
        "state": "up",
        "mtu": settings.number("802-3-ethernet", "mtu"),
        "mac-address": mac_address(settings),
        "wait-ip": ip::wait_ip(needs("ipv4", &ipv4), needs("ipv6", &ipv6)),
        "ipv4": ipv4,
        "ipv6": ipv6,
    })
}

/// IPv6 does not start on a link with a smaller MTU.
fn small_mtu(local: &Value) -> Option<String> {
    const NEEDED: i64 = 1280;
    let mtu = local["mtu"].as_i64().filter(|mtu| *mtu < NEEDED)?;
    let (has_ipv6, name) = (local["ipv6"]["enabled"] != false, local["name"].as_str()?);
    has_ipv6.then(|| format!("MTU {mtu} of {name} is below {NEEDED}, which IPv6 needs"))
}

fn mac_address(settings: &ConnectionSettings) -> Option<String> {
    settings.text("802-3-ethernet", "assigned-mac-address").map(str::to_uppercase)
}
