//! An interface of the document: the keys of nmstate's that its profile sets.

use nmgen::check::{bond_has_option, bond_mode};
use serde_json::{Map, Value};

use super::{
    configured::{Configured, OVS_BRIDGE},
    left_out::LeftOut,
};
use crate::{
    bridge::ip,
    model::{
        Profile,
        connection::{self, ConnectionSettings},
    },
};

/// Keys that tell what is, and cannot be wanted, or that the other end has: a controller lists its ports.
const OBSERVED: &str = "/controller /driver /min-mtu /max-mtu /permanent-mac-address /pci-address /alt-names \
    /bridge/options/gc-timer /bridge/options/hello-timer";

/// Keys that stand in a document where the profile sets one of these properties, and their sections. NetworkManager tells only
/// properties that differ from its default.
const OF_PROFILE: [(&str, &[(&str, &str)]); 27] = [
    ("/mtu", &[(WIRED, "mtu"), ("infiniband", "mtu")]),
    ("/accept-all-mac-addresses", &[(WIRED, "accept-all-mac-addresses")]),
    ("/lldp", &[("connection", "lldp")]),
    ("/mptcp", &[("connection", "mptcp-flags")]),
    ("/ethernet/auto-negotiation", &[(WIRED, "auto-negotiate"), (WIRED, "speed")]),
    ("/ethernet/speed", &[(WIRED, "speed")]),
    ("/ethernet/duplex", &[(WIRED, "duplex")]),
    ("/ethernet/sr-iov", &[("sriov", "total-vfs")]),
    ("/vlan/protocol", &[("vlan", "protocol")]),
    ("/vlan/registration-protocol", &[("vlan", "flags")]),
    ("/vlan/reorder-headers", &[("vlan", "flags")]),
    ("/vlan/loose-binding", &[("vlan", "flags")]),
    // Bridges of Open vSwitch.
    ("/bridge/options/datapath", &[(OVS_BRIDGE, "datapath-type")]),
    ("/bridge/options/fail-mode", &[(OVS_BRIDGE, "fail-mode")]),
    ("/bridge/options/mcast-snooping-enable", &[(OVS_BRIDGE, "mcast-snooping-enable")]),
    ("/bridge/options/rstp", &[(OVS_BRIDGE, "rstp-enable")]),
    // Bridges of the kernel's.
    ("/bridge/options/stp/forward-delay", &[("bridge", "forward-delay")]),
    ("/bridge/options/stp/hello-time", &[("bridge", "hello-time")]),
    ("/bridge/options/stp/max-age", &[("bridge", "max-age")]),
    ("/bridge/options/stp/priority", &[("bridge", "priority")]),
    ("/bridge/options/group-addr", &[("bridge", "group-address")]),
    ("/bridge/options/group-forward-mask", &[("bridge", "group-forward-mask")]),
    ("/bridge/options/group-fwd-mask", &[("bridge", "group-forward-mask")]),
    ("/bridge/options/hash-max", &[("bridge", "multicast-hash-max")]),
    ("/bridge/options/mac-ageing-time", &[("bridge", "ageing-time")]),
    ("/ovs-db/external_ids", &[("ovs-external-ids", "data")]),
    ("/ovs-db/other_config", &[("ovs-other-config", "data")]),
];

/// Options of a kernel's bridge that its profile has by the same name.
const OF_BRIDGE: &str = "multicast-last-member-count multicast-last-member-interval multicast-membership-interval \
    multicast-querier multicast-querier-interval multicast-query-interval \
    multicast-query-response-interval multicast-query-use-ifaddr multicast-router \
    multicast-snooping multicast-startup-query-count multicast-startup-query-interval \
    vlan-protocol vlan-default-pvid";
/// NetworkManager's name of the section `[ethernet]` of keyfiles.
const WIRED: &str = "802-3-ethernet";

/// The interface as its profile configures it.
pub(super) fn exported(
    interface: &Value,
    profile: &Profile,
    configured: &Configured<'_>,
    left_out: &mut LeftOut,
) -> Value {
    let settings = &profile.settings;
    let name = interface["name"].as_str().unwrap_or_default();
    let mut own = interface.clone();
    for path in OBSERVED.split(' ') {
        remove(&mut own, path);
    }
    for (path, properties) in OF_PROFILE {
        if !properties.iter().any(|(section, property)| is_set(settings, section, property)) {
            remove(&mut own, path);
        }
    }
    for option in OF_BRIDGE.split(' ').filter(|option| !is_set(settings, "bridge", option)) {
        remove(&mut own, &format!("/bridge/options/{option}"));
    }
    // A bridge of the kernel's says which, since its spanning tree is on by NetworkManager's default.
    if own["type"] == OVS_BRIDGE && !is_set(settings, OVS_BRIDGE, "stp-enable") {
        remove(&mut own, "/bridge/options/stp");
    }
    identity(&mut own, settings);
    if let Some(lldp) = own.get_mut("lldp").and_then(Value::as_object_mut) {
        lldp.remove("neighbors");
    }
    ethtool(&mut own, settings);
    options_of_bond(&mut own, settings, left_out);
    ovs_db(&mut own, interface, settings, left_out);
    bridge_ports(&mut own, configured, left_out);
    addresses(&mut own, interface, settings, left_out);
    // The other end of a cable into another namespace.
    if own["type"] == "veth" {
        own["type"] = "ethernet".into();
        remove(&mut own, "/veth");
    }
    let has_secret = ["/802.1x", "/macsec/mka-cak", "/libreswan/psk"]
        .iter()
        .any(|path| own.pointer(path).is_some());
    let secrets = has_secret.then(|| format!("secrets of {name}"));
    left_out.add(secrets, "no output has them; NetworkManager keeps those that it has");
    own
}

/// Whether the profile sets a property. -1 is NetworkManager's word for its default, and no card has 0 bytes or Mbit/s.
fn is_set(settings: &ConnectionSettings, section: &str, property: &str) -> bool {
    let Some(value) = settings.get(section, property) else { return false };
    match (property, value.number()) {
        (_, Some(-1)) | ("mtu" | "speed", Some(0)) => false,
        // Off means here that nobody says.
        ("auto-negotiate", None) => settings.flag(section, property) == Some(true),
        (_, _) => !value.is_empty(),
    }
}

/// Removes the key at a JSON pointer.
fn remove(value: &mut Value, path: &str) -> Option<Value> {
    let (parent, key) = path.rsplit_once('/')?;
    value.pointer_mut(parent)?.as_object_mut()?.remove(key)
}

/// The MAC address where the profile gives one, or finds its card by it. nmstate keeps the names of profiles.
fn identity(own: &mut Value, settings: &ConnectionSettings) {
    let is_by_name = own["identifier"].as_str().is_none_or(|identifier| identifier == "name");
    if !is_by_name {
        return;
    }
    remove(own, "/identifier");
    remove(own, "/profile-name");
    let assigned =
        settings.text(WIRED, "assigned-mac-address").is_some_and(|text| text.contains(':'));
    if !assigned && !is_set(settings, "bridge", "mac-address") {
        remove(own, "/mac-address");
    }
}

/// The features, rings, … of a card that the profile has: `feature-…`, `ring-…`, `coalesce-…`, `pause-…`, `fec-…`.
fn ethtool(own: &mut Value, settings: &ConnectionSettings) {
    let Some(groups) = own.get_mut("ethtool").and_then(Value::as_object_mut) else { return };
    for (group, values) in groups.iter_mut() {
        if let Some(values) = values.as_object_mut() {
            values.retain(|key, _| settings.get("ethtool", &format!("{group}-{key}")).is_some());
        }
    }
}

/// The kernel tells all of a bond's options, and nmstate writes them into the profile of a bond that it changes, those of
/// other modes too, with which a document would be refused.
fn options_of_bond(own: &mut Value, settings: &ConnectionSettings, left_out: &mut LeftOut) {
    let name = own["name"].as_str().unwrap_or_default().to_owned();
    let mode = own.pointer("/link-aggregation/mode").and_then(Value::as_str).and_then(bond_mode);
    let options = own.pointer_mut("/link-aggregation/options").and_then(Value::as_object_mut);
    let Some(options) = options else { return };
    let set = match settings.get("bond", "options") {
        Some(connection::Value::TextMap(set)) => set.clone(),
        _ => Default::default(),
    };
    let is_set =
        |option: &str| set.contains_key(option) || set.contains_key(&option.replace('-', "_"));
    options.retain(|option, _| is_set(option));
    // On is the kernel's default, and no bond that is up takes it.
    options.retain(|option, value| option != "lacp_active" || *value != true);
    let is_of_mode = |option: &str| mode.is_none_or(|mode| bond_has_option(mode, option));
    let others: Vec<String> =
        options.keys().filter(|option| !is_of_mode(option)).cloned().collect();
    options.retain(|option, _| is_of_mode(option));
    left_out.add(
        others.iter().map(|option| format!("{option} of {name}")),
        "no option of the bond's mode",
    );
    remove(own, "/link-aggregation/ports-config");
}

/// The ids and settings of the profile; others write there too.
fn ovs_db(own: &mut Value, seen: &Value, settings: &ConnectionSettings, left_out: &mut LeftOut) {
    for (map, section) in
        [("external_ids", "ovs-external-ids"), ("other_config", "ovs-other-config")]
    {
        let Some(have) = own["ovs-db"].get_mut(map).and_then(Value::as_object_mut) else {
            continue;
        };
        if let Some(connection::Value::TextMap(set)) = settings.get(section, "data") {
            have.retain(|key, _| set.contains_key(key));
        }
    }
    let kept = keys(&own["ovs-db"]);
    let name = seen["name"].as_str().unwrap_or_default();
    let others = keys(&seen["ovs-db"]).into_iter().filter(|key| !kept.contains(key));
    left_out.add(
        others.map(|key| format!("{key} of {name}")),
        "in Open vSwitch's database, and of no profile",
    );
}

/// The ports that profiles give a bridge. OVN's patch ports are no one's to write, as its numbers of ports (ofport) are not.
fn bridge_ports(own: &mut Value, configured: &Configured<'_>, left_out: &mut LeftOut) {
    let is_ovs = own["type"] == OVS_BRIDGE;
    let name = own["name"].as_str().unwrap_or_default().to_owned();
    let Some(bridge) = own.get_mut("bridge").and_then(Value::as_object_mut) else { return };
    let Some(ports) = bridge.get_mut("port").and_then(Value::as_array_mut) else { return };
    let is_own = |port: &Value| {
        let name = port["name"].as_str().unwrap_or_default();
        // A bond of Open vSwitch's is a port alone, without a device.
        configured.named(name).is_some() || port.get("link-aggregation").is_some()
    };
    let others: Vec<String> = ports
        .extract_if(.., |port| !is_own(port))
        .filter_map(|port| Some(format!("{} on {name}", port["name"].as_str()?)))
        .collect();
    for port in ports {
        port_settings(port, is_ovs, configured);
    }
    if !others.is_empty() {
        let key = if is_ovs { "allow-extra-patch-ports" } else { "allow-extra-ports" };
        bridge.insert(key.to_owned(), true.into());
    }
    left_out.add(others, "ports that no profile has, as OVN adds them, with their ofports");
}

fn port_settings(port: &mut Value, is_ovs: bool, configured: &Configured<'_>) {
    if is_ovs {
        return;
    }
    let profile = port["name"].as_str().and_then(|name| configured.named(name));
    let is_set = |property| {
        profile.is_some_and(|profile| is_set(&profile.settings, "bridge-port", property))
    };
    for (key, property) in [
        ("/stp-hairpin-mode", "hairpin-mode"),
        ("/stp-path-cost", "path-cost"),
        ("/stp-priority", "priority"),
    ] {
        if !is_set(property) {
            remove(port, key);
        }
    }
}

/// The addresses of the profile, and how it gets others. nmstate's own account is that of a generated profile where the interface
/// is one of the userspace datapath.
fn addresses(own: &mut Value, seen: &Value, settings: &ConnectionSettings, left_out: &mut LeftOut) {
    let name = seen["name"].as_str().unwrap_or_default();
    let families = [("ipv4", ip::ipv4(settings)), ("ipv6", ip::ipv6(settings))];
    remove(own, "/wait-ip");
    for (family, ip) in &families {
        remove(own, &format!("/{family}"));
        // A bridge of Open vSwitch has its addresses on the interface of its name.
        if own["type"] == OVS_BRIDGE {
            continue;
        }
        let Some(ip) = ip else {
            let method = settings
                .text(family, "method")
                .map(|method| format!("{family}.method={method} of {name}"));
            left_out.add(method, "NMState has no word for it");
            continue;
        };
        own[*family] = ip.clone();
        others(name, &seen[*family], &own[*family], left_out);
    }
    let needs = |family| settings.flag(family, "may-fail") == Some(false);
    if let Some(wait) = ip::wait_ip(needs("ipv4"), needs("ipv6"))
        && own["type"] != OVS_BRIDGE
    {
        own["wait-ip"] = wait.into();
    }
}

/// Addresses that the interface has, and its profile has not.
fn others(name: &str, seen: &Value, own: &Value, left_out: &mut LeftOut) {
    let place = |address: &Value| (address["ip"].clone(), address["prefix-length"].clone());
    let list = |ip: &Value| ip["address"].as_array().cloned().unwrap_or_default();
    let wanted: Vec<_> = list(own).iter().map(place).collect();
    let (mut learned, mut foreign) = (Vec::new(), Vec::new());
    for address in list(seen).iter().filter(|value| !wanted.contains(&place(value))) {
        let ip = address["ip"].as_str().unwrap_or_default();
        // The kernel makes one for each interface with IPv6, and NMState drops them.
        if ip.starts_with("fe80:") {
            continue;
        }
        let has_end = address.get("valid-life-time").is_some();
        let list = if has_end { &mut learned } else { &mut foreign };
        list.push(format!("{ip}/{} on {name}", address["prefix-length"]));
    }
    left_out.add(learned, "learned by DHCP or router advertisements");
    left_out.add(foreign, "of no profile, as another program's address is");
}

/// The keys of both maps that a row of Open vSwitch's has.
pub(super) fn keys(row: &Value) -> Vec<String> {
    let maps = ["external_ids", "other_config"].into_iter().filter_map(|map| row[map].as_object());
    maps.flat_map(Map::keys).cloned().collect()
}
