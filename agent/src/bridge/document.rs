//! The picture of a plan: an NMState document, to show, compare and verify. NMState cannot say
//! everything that the profiles have; such things are comments.

mod device;
pub(crate) mod ip;
mod routes;

use serde::Serialize;

use self::{
    device::{Aggregation, LinuxBridge, Vlan},
    ip::Ip,
    routes::{RouteRules, Routes},
};
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
    let mut document = BridgeDocument::default();
    for names in ALL {
        let of = |id: String| profiles.iter().find(|profile| profile.id == id);
        let (Some(device), Some(local)) = (of(names.physical_id()), of(names.local_id())) else {
            continue;
        };
        let ports: Vec<&PlannedProfile> = ports_of(profiles, &device.uuid).collect();
        document.interfaces.extend(device::interfaces(inputs, device, &ports, &mut comments));
        document.interfaces.push(bridge(names, device, inputs));
        let local_interface = local_interface(names, &local.settings);
        comments.extend(small_mtu(&local_interface));
        document.interfaces.push(local_interface);
        routes::add(&local.settings, names, &mut document, &mut comments);
    }
    // The structures have nothing that YAML cannot say.
    let text = serde_yaml::to_string(&document).unwrap_or_default();
    // A name of others begins no line of the document.
    let comment = |line: &String| format!("# {}\n", nmgen::printable(line));
    comments.iter().map(comment).collect::<String>() + &text
}

/// A NetworkState, as far as a bridge needs it.
#[derive(Debug, Default, Serialize)]
struct BridgeDocument {
    interfaces: Vec<Interface>,
    #[serde(skip_serializing_if = "Routes::is_empty")]
    routes: Routes,
    #[serde(rename = "route-rules", skip_serializing_if = "RouteRules::is_empty")]
    route_rules: RouteRules,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Interface {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtu: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mac_address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lldp: Option<Enabled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_ip: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vlan: Option<Vlan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link_aggregation: Option<Aggregation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bridge: Option<DocumentBridge>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ipv4: Option<Ip>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ipv6: Option<Ip>,
}

#[derive(Debug, Serialize)]
struct Enabled {
    enabled: bool,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum DocumentBridge {
    Ovs(OvsBridge),
    Linux(LinuxBridge),
}

#[derive(Debug, Serialize)]
struct OvsBridge {
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<OvsOptions>,
    port: Vec<Port>,
}

#[derive(Debug, Serialize)]
struct OvsOptions {
    datapath: String,
}

#[derive(Debug, Serialize)]
struct Port {
    name: String,
}

fn ports_of<'a>(
    profiles: &'a [PlannedProfile],
    controller: &'a str,
) -> impl Iterator<Item = &'a PlannedProfile> {
    let is_below = move |profile: &&PlannedProfile| {
        matches!(profile.role, Role::Port { .. })
            && profile.settings.text("connection", "master") == Some(controller)
    };
    profiles.iter().filter(is_below)
}

fn bridge(names: BridgeNames, device: &PlannedProfile, inputs: &Inputs) -> Interface {
    let port = |name: &str| Port { name: name.to_owned() };
    let datapath = inputs.options.datapath_type.clone();
    Interface {
        name: names.bridge.to_owned(),
        kind: "ovs-bridge",
        state: "up",
        bridge: Some(DocumentBridge::Ovs(OvsBridge {
            options: datapath.map(|datapath| OvsOptions { datapath }),
            port: vec![port(device.interface_name()), port(names.bridge)],
        })),
        ..Interface::default()
    }
}

fn local_interface(names: BridgeNames, settings: &ConnectionSettings) -> Interface {
    let (ipv4, ipv6) = (ip::ipv4(settings), ip::ipv6(settings));
    let needs = |family: &str, ip: &Option<Ip>| {
        settings.flag(family, "may-fail") == Some(false) && ip.as_ref().is_some_and(|ip| ip.enabled)
    };
    let wait_ip = ip::wait_ip(needs("ipv4", &ipv4), needs("ipv6", &ipv6));
    Interface {
        name: names.bridge.to_owned(),
        kind: "ovs-interface",
        state: "up",
        mtu: settings.number("802-3-ethernet", "mtu"),
        mac_address: mac_address(settings),
        wait_ip,
        ipv4,
        ipv6,
        ..Interface::default()
    }
}

/// IPv6 does not start on a link with a smaller MTU.
fn small_mtu(local: &Interface) -> Option<String> {
    const NEEDED: i64 = 1280;
    let mtu = local.mtu.filter(|mtu| *mtu < NEEDED)?;
    let has_ipv6 = local.ipv6.as_ref().is_none_or(|ip| ip.enabled);
    has_ipv6.then(|| format!("MTU {mtu} of {} is below {NEEDED}, which IPv6 needs", local.name))
}

fn mac_address(settings: &ConnectionSettings) -> Option<String> {
    settings.text("802-3-ethernet", "assigned-mac-address").map(str::to_uppercase)
}
