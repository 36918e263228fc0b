//! Extraction of a desired state's prerequisites and promises.

use std::net::IpAddr;

use nmstate::{
    Interface, InterfaceIdentifier, InterfaceType, NetworkState, RouteEntry, RouteState,
};

use super::{State, names, parent};
use crate::model::{Dynamic, Family, Gateway, LinkRef, OnLink, OvsKey, OvsMap, Wants};

impl State {
    /// Prerequisites and promises of this desired state.
    pub(crate) fn wants(&self) -> Wants {
        let state = &self.0;
        let mut wants = Wants::default();
        let declared: Vec<&str> = state.interfaces.iter().flat_map(names::declared).collect();
        let peers: Vec<&str> = state.interfaces.iter().filter_map(peer).collect();
        // Ports of a bond or bridge have no addresses while they are its ports; those of a VRF have.
        let controllers = state.interfaces.iter().filter(|i| i.iface_type() != InterfaceType::Vrf);
        let ports: Vec<&str> = controllers.filter_map(Interface::ports).flatten().collect();
        for iface in state.interfaces.iter() {
            wants.links.push(iface.name().to_owned());
            if !iface.is_absent() && !iface.is_down() && !is_port(iface, &ports) {
                wants.addressable.extend(references(iface));
            }
            if iface.is_up() {
                of_interface(iface, state, &declared, &mut wants);
            }
        }
        // A bridge of Open vSwitch and its interface have one name.
        wants.addressable.dedup();
        for dynamic in &mut wants.dynamic {
            if is_empty_bridge(state, &dynamic.link) {
                dynamic.takes_gateway.clear();
            }
        }
        for route in state.routes.config.iter().flatten().filter(|r| is_main_default(r)) {
            of_default_route(state, route, &mut wants);
        }
        let servers = state.dns.iter().filter_map(|d| d.config.as_ref()?.server.as_ref());
        wants.name_servers.extend(servers.flatten().filter_map(|s| s.parse().ok()));
        wants.hostname = state.hostname.is_some();
        // The document makes these links itself, whatever type it gives them.
        wants
            .needed
            .retain(|link| !matches!(link, LinkRef::Name(name) if peers.contains(&&**name)));
        wants.needed.dedup();
        wants.ovs_settings = ovs_settings(state);
        wants.ovs = !wants.bridges.is_empty()
            || !wants.ovs_interfaces.is_empty()
            || !wants.ovs_settings.is_empty();
        wants.awaited.retain(|name| !peers.contains(&&**name));
        if wants.makes_links {
            wants.needed.clear();
            wants.awaited.clear();
        }
        wants
    }
}

/// The key of OVN's bridge mappings.
const BRIDGE_MAPPINGS: &str = "ovn-bridge-mappings";

/// The settings of Open vSwitch that the state sets or removes; an empty map removes all of it, and an empty `ovs-db` both.
fn ovs_settings(state: &NetworkState) -> Vec<OvsKey> {
    let mut settings = Vec::new();
    if let Some(ovsdb) = &state.ovsdb {
        let is_purge = ovsdb.external_ids.is_none() && ovsdb.other_config.is_none();
        let maps = [
            (OvsMap::ExternalIds, &ovsdb.external_ids),
            (OvsMap::OtherConfig, &ovsdb.other_config),
        ];
        for (map, keys) in maps {
            match keys {
                Some(keys) if !keys.is_empty() => {
                    settings.extend(keys.keys().map(|key| OvsKey { map, key: Some(key.clone()) }));
                }
                Some(_) => settings.push(OvsKey { map, key: None }),
                None if is_purge => settings.push(OvsKey { map, key: None }),
                None => {}
            }
        }
    }
    if state.ovn.bridge_mappings.is_some() {
        let key = Some(BRIDGE_MAPPINGS.to_owned());
        settings.push(OvsKey { map: OvsMap::ExternalIds, key });
    }
    settings
}

/// Numbers of the main table in nmstate and in the kernel.
const MAIN: [u32; 2] = [0, 254];

/// Whether an automatic default route is accepted, and leads out of the node: policy routing has it in a table of its own.
fn leads(auto_gateway: Option<bool>, auto_routes: Option<bool>, table: Option<u32>) -> bool {
    auto_gateway != Some(false) && auto_routes != Some(false) && is_main(table)
}

fn is_main(table: Option<u32>) -> bool {
    table.is_none_or(|table| MAIN.contains(&table))
}

/// Whether this is a default route of the node itself; other tables are for VRFs and rules.
fn is_main_default(route: &RouteEntry) -> bool {
    matches!(route.destination.as_deref(), Some("0.0.0.0/0" | "::/0"))
        && is_main(route.table_id)
        && route.vrf_name.is_none()
        && route.state != Some(RouteState::Absent)
}

/// A gateway to ask, or nobody: `0.0.0.0` and `::` are NMState's words for no gateway, and the kernel takes an IPv4 gateway that
/// is an address of its own for none.
fn of_default_route(state: &NetworkState, route: &RouteEntry, wants: &mut Wants) {
    let family =
        if route.destination.as_deref() == Some("::/0") { Family::Ipv6 } else { Family::Ipv4 };
    let ip = route.next_hop_addr.as_deref().and_then(|ip| ip.parse::<IpAddr>().ok());
    match ip.filter(|ip| !ip.is_unspecified() && !wants.addresses.iter().any(|own| own.ip == *ip)) {
        Some(ip) => {
            let link = route.next_hop_iface.as_deref().map(|name| kernel_name(state, name));
            wants.gateways.push(Gateway { link, ip });
        }
        None => wants.without_gateway.push(family),
    }
}

/// Whether this is a Linux bridge without a port: nobody is there to answer it.
fn is_empty_bridge(state: &NetworkState, name: &str) -> bool {
    let is_port =
        |interface: &Interface| interface.base_iface().controller.as_deref() == Some(name);
    state.interfaces.iter().any(|interface| {
        interface.name() == name
            && interface.iface_type() == InterfaceType::LinuxBridge
            && interface.ports().is_none_or(|ports| ports.is_empty())
    }) && !state.interfaces.iter().any(is_port)
}

/// Whether a bridge gives packets of its ports a VLAN.
#[allow(clippy::wildcard_enum_match_arm, reason = "non-exhaustive upstream")]
fn has_vlan_ports(iface: &Interface) -> bool {
    match iface {
        Interface::OvsBridge(bridge) => {
            let ports = bridge.bridge.iter().flat_map(|config| &config.ports).flatten();
            ports.into_iter().any(|port| port.vlan.is_some())
        }
        Interface::LinuxBridge(bridge) => {
            let ports = bridge.bridge.iter().flat_map(|config| &config.port).flatten();
            ports.into_iter().any(|port| port.vlan.is_some())
        }
        _ => false,
    }
}

/// Whether this is one of `ports`. An interface of Open vSwitch is a port of its bridge and has the bridge's addresses.
fn is_port(iface: &Interface, ports: &[&str]) -> bool {
    iface.iface_type() != InterfaceType::OvsInterface
        && names::declared(iface).any(|name| ports.contains(&name))
}

/// The references to an interface: its name, and its MAC or PCI address where the document knows it by that.
fn references(iface: &Interface) -> Vec<LinkRef> {
    let name = LinkRef::Name(iface.name().to_owned());
    std::iter::once(name).chain(names::identity(iface)).collect()
}

/// The other end of a virtual Ethernet cable.
fn peer(iface: &Interface) -> Option<&str> {
    let Interface::Ethernet(cable) = iface else { return None };
    Some(cable.veth.as_ref().filter(|_| iface.is_up())?.peer.as_str())
}

/// The kernel name of an interface that the document may call by another one of its names.
fn kernel_name(state: &NetworkState, name: &str) -> String {
    let is_kernel = state.interfaces.iter().any(|iface| iface.name() == name);
    let by_other = state.interfaces.iter().find(|i| names::declared(i).any(|other| other == name));
    match by_other {
        Some(iface) if !is_kernel => iface.name().to_owned(),
        Some(_) | None => name.to_owned(),
    }
}

fn of_interface(iface: &Interface, state: &NetworkState, declared: &[&str], wants: &mut Wants) {
    let base = iface.base_iface();
    let name = iface.name().to_owned();
    if let Interface::Ethernet(eth) = iface {
        wants.makes_links |= eth.ethernet.as_ref().is_some_and(|e| e.sr_iov.is_some());
    }
    if matches!(iface.iface_type(), InterfaceType::Ethernet | InterfaceType::InfiniBand) {
        match (&base.identifier, &base.mac_address) {
            (Some(InterfaceIdentifier::MacAddress), Some(mac)) => {
                // nmstate judges an address that is none; nothing has it.
                let by_mac = names::identity(iface);
                wants.needed.push(by_mac.unwrap_or_else(|| LinkRef::Name(mac.clone())));
            }
            (Some(InterfaceIdentifier::PciAddress), _) => {
                wants.needed.extend(names::identity(iface));
            }
            (_, _) => wants.needed.push(LinkRef::Name(name.clone())),
        }
    }
    if matches!(iface.iface_type(), InterfaceType::OvsBridge) {
        wants.bridges.push(name.clone());
        let ports = iface.ports().unwrap_or_default();
        wants.bridge_ports.extend(ports.into_iter().map(|port| kernel_name(state, port)));
    }
    if let Interface::OvsInterface(port) = iface {
        wants.ovs_interfaces.push(name.clone());
        // The cards of another bridge, as below OVS's own bonds in the field.
        let peer = port.patch.as_ref().map(|patch| (name.clone(), patch.peer.clone()));
        wants.below.extend(peer);
    }
    for lower in iface.ports().unwrap_or_default().into_iter().chain(parent(iface)) {
        let lower = kernel_name(state, lower);
        if matches!(iface.iface_type(), InterfaceType::OvsBridge) {
            wants.below.push((lower.clone(), name.clone()));
        }
        wants.below.push((name.clone(), lower));
    }
    if parent(iface).is_some() || has_vlan_ports(iface) {
        wants.tagged.push(name.clone());
    }
    let lower = iface.ports().unwrap_or_default().into_iter().chain(parent(iface));
    let undeclared = lower.filter(|p| !declared.contains(p)).map(str::to_owned);
    match iface.iface_type() == InterfaceType::OvsBridge {
        true => wants.awaited.extend(undeclared),
        false => wants.needed.extend(undeclared.map(LinkRef::Name)),
    }
    let v4 = base.ipv4.as_ref().filter(|ip| ip.enabled);
    let v6 = base.ipv6.as_ref().filter(|ip| ip.enabled);
    let v4_static = v4.filter(|ip| ip.dhcp != Some(true)).and_then(|ip| ip.addresses.as_ref());
    let v6_auto = v6.is_some_and(|ip| ip.dhcp == Some(true) || ip.autoconf == Some(true));
    // Beside those of the network too. A captured one with a lifetime is the network's.
    let v6_static = v6.and_then(|ip| ip.addresses.as_ref());
    // The kernel makes link-local IPv6 addresses, and nmstate drops those of a document.
    let is_made = |ip: IpAddr| matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
    let stated = v4_static.into_iter().chain(v6_static).flatten();
    for address in stated.filter(|addr| !is_made(addr.ip) && addr.valid_life_time.is_none()) {
        let (ip, prefix) = (address.ip, address.prefix_length);
        wants.addresses.push(OnLink { link: name.clone(), ip, prefix });
    }
    let v4_dynamic = v4.is_some_and(|ip| ip.dhcp == Some(true));
    if v4_dynamic || v6_auto {
        let v4_gateway =
            v4.filter(|ip| v4_dynamic && leads(ip.auto_gateway, ip.auto_routes, ip.auto_table_id));
        let v6_gateway =
            v6.filter(|ip| v6_auto && leads(ip.auto_gateway, ip.auto_routes, ip.auto_table_id));
        let takes_gateway = [v4_gateway.map(|_| Family::Ipv4), v6_gateway.map(|_| Family::Ipv6)];
        wants.dynamic.push(Dynamic {
            link: name,
            v4: v4_dynamic,
            v6: v6_auto,
            takes_gateway: takes_gateway.into_iter().flatten().collect(),
            is_optional: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_bonds_and_bridges_have_no_addresses() -> Result<(), Box<dyn std::error::Error>> {
        let state = "interfaces:
- {name: eno1, type: ethernet, state: up, identifier: mac-address, mac-address: 52:54:00:00:00:01}
- {name: eno2, type: ethernet, state: up}
- {name: eno3, type: ethernet, state: absent}
- {name: eno4, type: ethernet, state: up, identifier: mac-address, mac-address: 52:54:00:00:00:04}
- name: bond0
  type: bond
  state: up
  link-aggregation: {mode: active-backup, port: [eno2]}
- {name: bond0.100, type: vlan, state: up, vlan: {base-iface: bond0, id: 100}}
- {name: storage, type: vrf, state: up, vrf: {port: [bond0.100], route-table-id: 7}}
- {name: br-ex, type: ovs-bridge, state: up, bridge: {port: [{name: eno1}, {name: br-ex}]}}
- {name: br-ex, type: ovs-interface, state: up}
";
        let wants = State(NetworkState::new_from_yaml(state)?).wants();
        let mut names: Vec<String> = wants.addressable.iter().map(ToString::to_string).collect();
        names.sort_unstable();
        let expected =
            ["bond0", "bond0.100", "br-ex", "eno4", "storage", "with MAC 52:54:00:00:00:04"];
        assert_eq!(names, expected);
        // All of them are the document's.
        assert!(wants.links.iter().any(|name| name == "eno1"));
        Ok(())
    }
}
