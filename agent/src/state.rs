//! The only place that names the nmstate crate: what a document means, apply, retrieve.

mod compare;
mod copied_macs;

use std::net::IpAddr;

use nmstate::{
    DnsClientState, DnsState, Interface, InterfaceIdentifier, InterfaceState, InterfaceType,
    NetworkCaptureRules, NetworkPolicy, NetworkState, OvnConfiguration, RouteEntry, RouteRuleState,
    RouteState,
};
use thiserror::Error;

use self::compare::{keep_only_desired_addresses, route_holds};
pub(crate) use self::copied_macs::Macs;
use crate::wants::{Dynamic, Gateway, LinkRef, OnLink, Wants};

/// What nmstate said no to.
#[derive(Debug, Error)]
pub(crate) enum StateError {
    #[error("the document is not a network state")]
    ParseState { source: Box<nmstate::NmstateError> },
    #[error("the document is not a network policy")]
    ParsePolicy { source: serde_yaml::Error },
    #[error("the policy cannot be resolved against the current state")]
    Resolve { source: Box<nmstate::NmstateError> },
    #[error("the current state cannot be retrieved")]
    Retrieve { source: Box<nmstate::NmstateError> },
    #[error("nmstate could not apply the document")]
    Apply { source: Box<nmstate::NmstateError> },
    #[error("desired and current state cannot be compared")]
    Compare { source: Box<nmstate::NmstateError> },
    #[error("a state cannot be written as YAML")]
    Encode { source: serde_yaml::Error },
}

/// A parsed document.
#[derive(Clone, Debug)]
pub(crate) enum Parsed {
    /// A NetworkState.
    State(Box<State>),
    /// A NetworkPolicy: its captures need the current state.
    Policy(Box<NetworkPolicy>),
}

impl Parsed {
    /// As `nmstatectl service` takes it: a NetworkState, else a NetworkPolicy.
    pub(crate) fn new(text: &str) -> Result<Self, StateError> {
        let source = match NetworkState::new_from_yaml(text) {
            Ok(state) => return Ok(Self::State(Box::new(State(state)))),
            Err(source) => source,
        };
        let policy_keys = ["capture:", "desiredState:", "desired:"];
        let is_policy = text.lines().any(|l| policy_keys.iter().any(|k| l.starts_with(k)));
        match serde_yaml::from_str::<NetworkPolicy>(text) {
            Ok(policy) if !policy.is_empty() => Ok(Self::Policy(Box::new(policy))),
            Err(source) if is_policy => Err(StateError::ParsePolicy { source }),
            Ok(_) | Err(_) => Err(StateError::ParseState { source: Box::new(source) }),
        }
    }

    /// Whether `resolve` needs the current state.
    pub(crate) fn needs_current(&self) -> bool {
        matches!(self, Self::Policy(policy) if policy.capture != NetworkCaptureRules::default())
    }

    /// The desired state.
    pub(crate) fn resolve(&self, current: Option<&State>) -> Result<State, StateError> {
        match self {
            Self::State(state) => Ok(State::clone(state)),
            Self::Policy(policy) => {
                let mut policy = NetworkPolicy::clone(policy);
                // Never left to nmstate, which would start a runtime inside ours.
                policy.current = Some(current.map(|s| s.0.clone()).unwrap_or_default());
                NetworkState::try_from(policy)
                    .map(State)
                    .map_err(|e| StateError::Resolve { source: Box::new(e) })
            }
        }
    }

    /// What the document needs, as far as it says before it is resolved.
    pub(crate) fn wants(&self, text: &str) -> Wants {
        match self {
            Self::State(state) => state.wants(),
            Self::Policy(_) => Wants { ovs: text.contains("ovs-"), ..Wants::default() },
        }
    }
}

/// A desired or a current state.
#[derive(Clone, Debug, Default)]
pub(crate) struct State(NetworkState);

impl State {
    /// The current state, as nmstate sees it.
    pub(crate) async fn retrieve() -> Result<Self, StateError> {
        let mut state = NetworkState::new();
        state.retrieve_async().await.map_err(|e| StateError::Retrieve { source: Box::new(e) })?;
        Ok(Self(state))
    }

    /// Applies without nmstate's verification. On success its checkpoint is left open and rolls
    /// back by itself after `timeout` seconds; nmstate does not tell which checkpoint that is.
    pub(crate) async fn apply_uncommitted(&self, timeout: u32) -> Result<(), StateError> {
        let mut desired = self.0.clone();
        desired.set_verify_change(false).set_commit(false).set_timeout(timeout);
        desired.apply_async().await.map_err(|e| StateError::Apply { source: Box::new(e) })
    }

    /// What the kernel and Open vSwitch have now, without a word from NetworkManager.
    pub(crate) async fn retrieve_kernel() -> Result<Self, StateError> {
        let mut state = NetworkState::new();
        state.set_kernel_only(true);
        state.retrieve_async().await.map_err(|e| StateError::Retrieve { source: Box::new(e) })?;
        Ok(Self(state))
    }

    /// This current state with what a newer look at the kernel and Open vSwitch shows; `None`
    /// where an interface of `desired` is gone since.
    pub(crate) fn with_newer(mut self, kernel: &Self, desired: &Self) -> Option<Self> {
        compare::take_newer(&mut self.0, &kernel.0, &desired.0).then_some(self)
    }

    /// YAML, for people and for the copy of a resolved policy.
    pub(crate) fn to_yaml(&self) -> Result<String, StateError> {
        serde_yaml::to_string(&self.0).map_err(|source| StateError::Encode { source })
    }

    /// What `current` lacks of this desired state, `None` when it has all of it. Addresses,
    /// routes and anything else that others added is no difference.
    pub(crate) fn missing_in(&self, current: &Self) -> Result<Option<Self>, StateError> {
        let mut desired = self.0.clone();
        let mut current = current.0.clone();
        keep_only_desired_addresses(&desired, &mut current);
        let missing_routes: Vec<RouteEntry> = desired
            .routes
            .config
            .take()
            .unwrap_or_default()
            .into_iter()
            .filter(|route| !route_holds(route, &current))
            .collect();
        let mut diff =
            desired.gen_diff(&current).map_err(|e| StateError::Compare { source: Box::new(e) })?;
        diff.description.clear();
        diff.routes.config = (!missing_routes.is_empty()).then_some(missing_routes);
        Ok((!diff.is_empty()).then_some(Self(diff)))
    }

    /// Names in a difference, for a message: interfaces, `routes`, `dns-resolver`, …
    pub(crate) fn subjects(&self) -> Vec<String> {
        let mut subjects: Vec<String> = self.0.interfaces.iter().map(subject).collect();
        subjects.extend(
            self.0
                .routes
                .config
                .iter()
                .flatten()
                .map(|r| format!("route to {}", r.destination.as_deref().unwrap_or("(any)"))),
        );
        let rest = [
            (self.0.dns.is_some(), "dns-resolver"),
            (!self.0.rules.is_empty(), "route-rules"),
            (self.0.hostname.is_some(), "hostname"),
            (self.0.ovsdb.is_some(), "ovs-db"),
            (self.0.ovn != OvnConfiguration::default(), "ovn"),
        ];
        subjects.extend(rest.iter().filter(|(has, _)| *has).map(|(_, name)| (*name).to_owned()));
        subjects
    }

    /// Interfaces of `wants` that still wait for an address from the network. Where both
    /// families are dynamic one of them is enough: the other may not exist on this network.
    pub(crate) fn without_address(&self, dynamic: &[Dynamic]) -> Vec<String> {
        let waits = |d: &&Dynamic| {
            let base = self
                .0
                .interfaces
                .get_iface(&d.link, InterfaceType::Unknown)
                .map(Interface::base_iface);
            let v4 = base.and_then(|b| b.ipv4.as_ref()?.addresses.as_ref());
            let v6 = base.and_then(|b| b.ipv6.as_ref()?.addresses.as_ref());
            let has_v4 = v4.is_some_and(|a| !a.is_empty());
            let has_v6 = v6.is_some_and(|list| {
                list.iter().any(|a| !matches!(a.ip, IpAddr::V6(ip) if ip.is_unicast_link_local()))
            });
            !((d.v4 && has_v4) || (d.v6 && has_v6))
        };
        dynamic.iter().filter(waits).map(|d| d.link.clone()).collect()
    }

    /// What this desired state needs and promises.
    pub(crate) fn wants(&self) -> Wants {
        let mut wants = Wants::default();
        let declared: Vec<&str> = self.0.interfaces.iter().map(Interface::name).collect();
        for iface in self.0.interfaces.iter() {
            wants.links.push(iface.name().to_owned());
            if !iface.is_up() {
                continue;
            }
            interface_wants(iface, &declared, &mut wants);
        }
        for route in self.0.routes.config.iter().flatten() {
            let default = matches!(route.destination.as_deref(), Some("0.0.0.0/0" | "::/0"));
            let ip = route.next_hop_addr.as_deref().and_then(|a| a.parse().ok());
            if let (true, false, Some(ip)) = (default, is_absent(route), ip) {
                wants.gateways.push(Gateway { link: route.next_hop_iface.clone(), ip });
            }
        }
        let servers = self.0.dns.iter().filter_map(|d| d.config.as_ref()?.server.as_ref());
        wants.name_servers.extend(servers.flatten().filter_map(|s| s.parse::<IpAddr>().ok()));
        wants.hostname = self.0.hostname.is_some();
        wants.needed.dedup();
        wants.ovs |= !wants.bridges.is_empty();
        if wants.makes_links {
            wants.needed.clear();
        }
        wants
    }

    /// This desired state with addresses in the place of its `copy-mac-from`, as far as `macs_of` knows the links.
    pub(crate) fn with_copied_macs(mut self, macs_of: impl Fn(&str) -> Option<Macs>) -> Self {
        copied_macs::settle(&mut self.0, macs_of);
        self
    }

    /// The same, as `settled` has them: this document's state when it was put in force.
    pub(crate) fn with_macs_of(mut self, settled: &Self) -> Self {
        copied_macs::as_in(&mut self.0, &settled.0);
        self
    }

    /// This desired state, with what `previous` declared and this one does not taken away:
    /// nmstate merges, so a route or bridge that is no longer mentioned would stay for good.
    pub(crate) fn replacing(&self, previous: &Self) -> Self {
        let mut desired = self.0.clone();
        let used: Vec<String> = desired
            .interfaces
            .iter()
            .flat_map(|i| std::iter::once(i.name()).chain(i.ports().unwrap_or_default()))
            .map(str::to_owned)
            .chain(desired.interfaces.iter().filter_map(|i| parent(i).map(str::to_owned)))
            .collect();
        let gone: Vec<Interface> = previous
            .0
            .interfaces
            .iter()
            .filter(|old| old.is_up())
            .filter(|old| {
                !desired
                    .interfaces
                    .iter()
                    .any(|new| new.name() == old.name() && new.iface_type() == old.iface_type())
            })
            .filter(|old| old.is_virtual() || !used.iter().any(|u| u == old.name()))
            .cloned()
            .collect();
        for old in &gone {
            let mut absent = Interface::default();
            let base = absent.base_iface_mut();
            base.name = old.name().to_owned();
            base.iface_type = old.iface_type();
            base.state = InterfaceState::Absent;
            // Through text: each type has a struct of its own.
            if let Ok(typed) = serde_json::to_value(&absent).and_then(serde_json::from_value) {
                desired.append_interface_data(typed);
            }
        }
        let lost = |name: &Option<String>| {
            name.as_ref().is_some_and(|n| gone.iter().any(|g| g.name() == n))
        };
        let mut routes = desired.routes.config.take().unwrap_or_default();
        let mut absent: Vec<RouteEntry> = Vec::new();
        for old in previous.0.routes.config.iter().flatten().filter(|r| !is_absent(r)) {
            if !routes.contains(old) && !lost(&old.next_hop_iface) {
                let mut old = old.clone();
                old.state = Some(RouteState::Absent);
                absent.push(old);
            }
        }
        absent.append(&mut routes);
        desired.routes.config = (!absent.is_empty()).then_some(absent);
        let mut rules = desired.rules.config.take().unwrap_or_default();
        for old in previous.0.rules.config.iter().flatten().filter(|r| r.state.is_none()) {
            if !rules.contains(old) {
                let mut old = old.clone();
                old.state = Some(RouteRuleState::Absent);
                rules.push(old);
            }
        }
        desired.rules.config = (!rules.is_empty()).then_some(rules);
        if desired.dns.is_none() && previous.0.dns.is_some() {
            let mut dns = DnsState::new();
            dns.config = Some(DnsClientState::new());
            desired.dns = Some(dns);
        }
        Self(desired)
    }
}

/// `br-ex (ovs-interface): ipv4`: an interface with the keys in which it differs.
fn subject(iface: &Interface) -> String {
    let name = format!("{} ({})", iface.name(), iface.iface_type());
    let value = serde_json::to_value(iface).unwrap_or_default();
    let keys: Vec<&str> = value
        .as_object()
        .into_iter()
        .flat_map(|map| map.keys())
        .map(String::as_str)
        .filter(|key| !["name", "type", "state"].contains(key))
        .collect();
    if keys.is_empty() { name } else { format!("{name}: {}", keys.join(", ")) }
}

fn interface_wants(iface: &Interface, declared: &[&str], wants: &mut Wants) {
    let base = iface.base_iface();
    let name = iface.name().to_owned();
    if let Interface::Ethernet(eth) = iface {
        wants.makes_links |= eth.ethernet.as_ref().is_some_and(|e| e.sr_iov.is_some());
    }
    if matches!(iface.iface_type(), InterfaceType::Ethernet | InterfaceType::InfiniBand) {
        match (&base.identifier, &base.mac_address) {
            (Some(InterfaceIdentifier::MacAddress), Some(mac)) => {
                wants.needed.push(LinkRef::Mac(mac.clone()));
            }
            (Some(InterfaceIdentifier::PciAddress), _) => {}
            (_, _) => wants.needed.push(LinkRef::Name(name.clone())),
        }
    }
    if matches!(iface.iface_type(), InterfaceType::OvsBridge) {
        wants.bridges.push(name.clone());
        let ports = iface.ports().unwrap_or_default();
        wants.bridge_ports.extend(ports.into_iter().map(str::to_owned));
    }
    wants.ovs |= matches!(iface.iface_type(), InterfaceType::OvsInterface);
    let lower = iface.ports().unwrap_or_default().into_iter().chain(parent(iface));
    for port in lower.filter(|p| !declared.contains(p)) {
        wants.needed.push(LinkRef::Name(port.to_owned()));
    }
    let v4 = base.ipv4.as_ref().filter(|ip| ip.enabled);
    let v6 = base.ipv6.as_ref().filter(|ip| ip.enabled);
    let v4_static = v4.filter(|ip| ip.dhcp != Some(true)).and_then(|ip| ip.addresses.as_ref());
    let v6_auto = v6.is_some_and(|ip| ip.dhcp == Some(true) || ip.autoconf == Some(true));
    let v6_static = v6.filter(|_| !v6_auto).and_then(|ip| ip.addresses.as_ref());
    for address in v4_static.into_iter().chain(v6_static).flatten() {
        let (ip, prefix) = (address.ip, address.prefix_length);
        wants.addresses.push(OnLink { link: name.clone(), ip, prefix });
    }
    let v4_dynamic = v4.is_some_and(|ip| ip.dhcp == Some(true));
    if v4_dynamic || v6_auto {
        wants.dynamic.push(Dynamic { link: name, v4: v4_dynamic, v6: v6_auto });
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "non-exhaustive upstream")]
fn parent(iface: &Interface) -> Option<&str> {
    let base = match iface {
        Interface::Vlan(vlan) => vlan.vlan.as_ref()?.base_iface.as_deref(),
        Interface::Vxlan(vxlan) => vxlan.vxlan.as_ref().map(|v| v.base_iface.as_str()),
        Interface::MacVlan(mac) => mac.mac_vlan.as_ref().map(|v| v.base_iface.as_str()),
        Interface::MacVtap(mac) => mac.mac_vtap.as_ref().map(|v| v.base_iface.as_str()),
        _ => None,
    };
    base.filter(|b| !b.is_empty())
}

fn is_absent(route: &RouteEntry) -> bool {
    matches!(route.state, Some(RouteState::Absent))
}

#[cfg(test)]
mod tests;
