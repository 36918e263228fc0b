//! A current state after the next activation of its interfaces: with the addresses, routes, name servers and MTU of the saved
//! profiles, which somebody may have edited since they were activated.

use std::net::IpAddr;

use nmgen::profile::Keyfile;
use nmstate::{
    InterfaceIpAddr, InterfaceIpv4, InterfaceIpv6, InterfaceType, NetworkState, RouteEntry,
};

use super::State;

/// `RT_TABLE_MAIN`.
const MAIN_TABLE: u32 = 254;

/// The saved profile of a device.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    pub(crate) device: String,
    /// `connection.type`.
    pub(crate) kind: String,
    /// `None`: no profile of this device is saved any more.
    pub(crate) keyfile: Option<Keyfile>,
}

impl State {
    /// This current state after the next activation of the saved profiles. An interface without a profile goes; what comes from the
    /// network stays as it is.
    pub(crate) fn after_activation(mut self, profiles: &[Saved]) -> Self {
        let state = &mut self.0;
        let mut servers = Vec::new();
        for Saved { device, kind, keyfile } in profiles {
            let Some(kind) = kind_of(kind) else { continue };
            let Some(keyfile) = keyfile else {
                state.interfaces.remove_iface(device, kind);
                continue;
            };
            // Addresses and routes of a name are those of the OVS interface, not of its bridge.
            if kind == InterfaceType::OvsBridge {
                continue;
            }
            let is_it = |interface: &&mut nmstate::Interface| {
                interface.name() == *device && interface.iface_type() == kind
            };
            let base = match state.interfaces.iter_mut().find(is_it) {
                Some(interface) => interface.base_iface_mut(),
                None => continue,
            };
            if let (Some(ip), Some(saved)) = (&mut base.ipv4, Ip::of(keyfile, "ipv4")) {
                ipv4(ip, &saved);
            }
            if let (Some(ip), Some(saved)) = (&mut base.ipv6, Ip::of(keyfile, "ipv6")) {
                ipv6(ip, &saved);
            }
            let mtu = keyfile.get("ethernet", "mtu").and_then(|mtu| mtu.parse::<u64>().ok());
            if let Some(mtu) = mtu.filter(|mtu| *mtu != 0) {
                base.mtu = Some(mtu);
            }
            let saved = [Ip::of(keyfile, "ipv4"), Ip::of(keyfile, "ipv6")].into_iter().flatten();
            for ip in saved {
                routes(state, device, &ip);
                servers.extend(ip.dns);
            }
        }
        // Without any, NetworkManager has them from elsewhere, such as nmstate's global ones.
        if let Some(config) = state.dns.as_mut().and_then(|dns| dns.config.as_mut())
            && !servers.is_empty()
        {
            config.server = Some(servers);
        }
        self
    }
}

/// NMState's type for a type of NetworkManager that may have IP.
fn kind_of(kind: &str) -> Option<InterfaceType> {
    Some(match kind {
        "ethernet" | "802-3-ethernet" => InterfaceType::Ethernet,
        "bond" => InterfaceType::Bond,
        "vlan" => InterfaceType::Vlan,
        "bridge" => InterfaceType::LinuxBridge,
        "dummy" => InterfaceType::Dummy,
        "ovs-interface" => InterfaceType::OvsInterface,
        "ovs-bridge" => InterfaceType::OvsBridge,
        _ => return None,
    })
}

/// A family of a profile.
struct Ip {
    method: String,
    is_v4: bool,
    addresses: Vec<InterfaceIpAddr>,
    /// Destination, gateway, table.
    routes: Vec<(String, Option<String>, Option<u32>)>,
    dns: Vec<String>,
}

impl Ip {
    fn of(keyfile: &Keyfile, section: &str) -> Option<Self> {
        let (section, is_v4) = (keyfile.section(section)?, section == "ipv4");
        let any = if is_v4 { "0.0.0.0/0" } else { "::/0" };
        let method = section.get("method")?.to_owned();
        let mut ip =
            Self { method, is_v4, addresses: Vec::new(), routes: Vec::new(), dns: Vec::new() };
        for (key, value) in &section.entries {
            let numbered = |names: [&str; 2]| {
                let number = |name: &str| key.strip_prefix(name).map(str::to_owned);
                let number = names.into_iter().find_map(number);
                number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
            };
            let mut parts = value.split(',').map(str::trim);
            if numbered(["addresses", "address"]) {
                ip.addresses.extend(parts.next().and_then(address));
                ip.default_route(any, parts.next());
            } else if key == "gateway" {
                ip.default_route(any, Some(value));
            } else if numbered(["routes", "route"]) {
                let destination = parts.next().unwrap_or_default().to_owned();
                let gateway = parts.next().filter(|gateway| !gateway.is_empty());
                let options = section.get(&format!("{key}_options")).unwrap_or_default();
                let mut options = options.split(',').filter_map(|part| part.split_once('='));
                let table = options.find(|(name, _)| *name == "table");
                let table = table.and_then(|(_, table)| table.parse().ok());
                ip.routes.push((destination, gateway.map(str::to_owned), table));
            } else if key == "dns" {
                let servers =
                    value.split([';', ',']).map(str::trim).filter(|server| !server.is_empty());
                ip.dns.extend(servers.map(str::to_owned));
            }
        }
        Some(ip)
    }

    fn default_route(&mut self, destination: &str, gateway: Option<&str>) {
        if let Some(gateway) = gateway.filter(|gateway| !gateway.is_empty()) {
            self.routes.push((destination.to_owned(), Some(gateway.to_owned()), None));
        }
    }

    fn is_manual(&self) -> bool {
        self.method == "manual"
    }

    fn is_disabled(&self) -> bool {
        matches!(&*self.method, "disabled" | "ignore")
    }
}

fn address(text: &str) -> Option<InterfaceIpAddr> {
    let (ip, prefix) = text.split_once('/')?;
    let mut address = InterfaceIpAddr::default();
    address.ip = ip.parse().ok()?;
    address.prefix_length = prefix.parse().ok()?;
    Some(address)
}

fn ipv4(now: &mut InterfaceIpv4, saved: &Ip) {
    now.enabled = !saved.is_disabled();
    if saved.is_manual() || saved.is_disabled() {
        now.dhcp = Some(false);
        now.addresses = Some(saved.addresses.clone());
    } else {
        now.dhcp = Some(true);
    }
}

fn ipv6(now: &mut InterfaceIpv6, saved: &Ip) {
    now.enabled = !saved.is_disabled();
    let is_dynamic = !saved.is_manual() && !saved.is_disabled() && saved.method != "link-local";
    if is_dynamic {
        // The keys of a profile do not tell the two apart.
        if now.dhcp != Some(true) && now.autoconf != Some(true) {
            (now.dhcp, now.autoconf) = (Some(true), Some(true));
        }
        return;
    }
    (now.dhcp, now.autoconf) = (Some(false), Some(false));
    let is_link_local =
        |own: &&InterfaceIpAddr| matches!(own.ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
    let own = now.addresses.iter().flatten().filter(is_link_local).cloned();
    now.addresses = Some(saved.addresses.iter().cloned().chain(own).collect());
}

/// Replaces the static routes of a device of one family.
fn routes(state: &mut NetworkState, device: &str, saved: &Ip) {
    let is_replaced = |route: &RouteEntry| {
        let is_v6 = route.destination.as_ref().is_some_and(|destination| destination.contains(':'));
        route.next_hop_iface.as_deref() == Some(device) && is_v6 != saved.is_v4
    };
    let config = state.routes.config.get_or_insert_default();
    let now: Vec<RouteEntry> = config.extract_if(.., |route| is_replaced(route)).collect();
    for (destination, gateway, table) in &saved.routes {
        let is_it = |route: &&RouteEntry| {
            route.destination.as_ref() == Some(destination)
                && (gateway.is_none() || route.next_hop_addr == *gateway)
                && table.is_none_or(|table| route.table_id == Some(table))
        };
        // The kernel knows more of a route that stays, such as the table of a VRF.
        let stays = now.iter().find(is_it).cloned();
        config.push(stays.unwrap_or_else(|| {
            let mut route = RouteEntry::default();
            route.destination = Some(destination.clone());
            route.next_hop_iface = Some(device.to_owned());
            route.next_hop_addr.clone_from(gateway);
            route.table_id = Some(table.unwrap_or(MAIN_TABLE));
            route
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::{Keyfile, Saved};
    use crate::state::State;

    const CURRENT: &str = "
interfaces:
- name: br-ex
  type: ovs-interface
  state: up
  mtu: 1500
  ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.10, prefix-length: 24}]}
  ipv6: {enabled: false}
dns-resolver: {config: {server: [192.0.2.1]}}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-interface: br-ex, next-hop-address: 192.0.2.1, table-id: 254}
";
    const PROFILE: &str = "
[connection]
type=ovs-interface

[ethernet]
mtu=1500

[ipv4]
address1=192.0.2.10/24
dns=192.0.2.1;
method=manual
route1=0.0.0.0/0,192.0.2.1
route1_options=table=254

[ipv6]
method=disabled
";

    fn lacking(profile: Option<&str>) -> Result<Vec<String>, Box<dyn std::error::Error>> {
        let current = State(nmstate::NetworkState::new_from_yaml(CURRENT)?);
        let saved = |kind: &str, profile: Option<&str>| Saved {
            device: "br-ex".to_owned(),
            kind: kind.to_owned(),
            keyfile: profile.map(Keyfile::parse_leniently),
        };
        let bridge = "[ipv4]\nmethod=disabled\n[ipv6]\nmethod=disabled\n";
        let profiles = [saved("ovs-interface", profile), saved("ovs-bridge", Some(bridge))];
        let after = current.clone().after_activation(&profiles);
        let lacking = current.missing_in(&after)?;
        Ok(lacking.map(|lacking| lacking.subjects()).unwrap_or_default())
    }

    #[test]
    fn an_edited_profile_takes_parts_away_and_additions_do_not()
    -> Result<(), Box<dyn std::error::Error>> {
        let kept: &[&str] = &[];
        for (from, to, expected) in [
            ("", "", kept),
            ("route1=0", "address2=192.0.2.77/24\nroute2=203.0.113.0/24,192.0.2.2\nroute1=0", kept),
            ("address1=192.0.2.10/24", "address1=192.0.2.10/24,192.0.2.1", kept),
            ("192.0.2.10/24", "192.0.2.11/24", &["br-ex (ovs-interface): ipv4"]),
            ("0,192.0.2.1", "0,192.0.2.1,0", kept),
            ("mtu=1500", "mtu=9000", &["br-ex (ovs-interface): mtu"]),
            ("0,192.0.2.1", "0,192.0.2.254", &["route to 0.0.0.0/0"]),
            ("dns=192.0.2.1;", "dns=192.0.2.53;", &["dns-resolver"]),
            ("method=manual", "method=auto", &["br-ex (ovs-interface): ipv4"]),
            ("method=manual", "method=disabled", &["br-ex (ovs-interface): ipv4"]),
        ] {
            assert!(PROFILE.contains(from));
            let found = lacking(Some(&PROFILE.replacen(from, to, 1)))?;
            assert_eq!(found, expected, "{from} -> {to}");
        }
        let gone = lacking(None)?;
        assert!(gone[0].starts_with("br-ex (ovs-interface)"), "{gone:?}");
        Ok(())
    }
}
