//! Parsing, applying and retrieving through the nmstate crate, which no other room uses, but for the form of a PCI address.

mod compare;
mod copied_macs;
mod names;
mod newer;
mod refusal;
mod replacing;
mod rules;
mod saved;
mod sides;
mod types;
mod wants;

use std::net::IpAddr;

use nmgen::{diagnostic::Diagnostics, source::Source};
use nmstate::{
    Interface, InterfaceType, NetworkCaptureRules, NetworkPolicy, NetworkState, OvnConfiguration,
};
use thiserror::Error;

use self::refusal::Refusal;
pub(crate) use self::{copied_macs::Macs, saved::Saved};
use crate::model::{Dynamic, LinkRef, Wants};

/// A failed operation of nmstate.
#[derive(Debug, Error)]
pub(crate) enum StateError {
    #[error("the document is not a network state: {0}")]
    ReadState(String),
    #[error("the document is not a network policy: {0}")]
    ReadPolicy(String),
    #[error("the policy cannot be resolved against the current state")]
    Resolve { source: Refusal },
    #[error("the current state cannot be retrieved")]
    Retrieve { source: Refusal },
    #[error("nmstate could not apply the document")]
    Apply { source: Refusal },
    #[error("desired and current state cannot be compared")]
    Compare { source: Refusal },
    #[error("a collected state cannot be written or read")]
    Collected { source: serde_json::Error },
    #[error("a state cannot be written as YAML")]
    Encode { source: serde_yaml::Error },
}

/// What a question to nmstate comes to.
pub(crate) type Result<T = (), E = StateError> = std::result::Result<T, E>;

#[derive(Clone, Debug)]
pub(crate) enum Parsed {
    /// A NetworkState.
    State(Box<State>),
    /// A NetworkPolicy: its captures need the current state.
    Policy(Box<NetworkPolicy>),
}

impl Parsed {
    /// Parses the tree that nmgen checks, so that the checked document is the applied one.
    pub(crate) fn read(reading: &nmgen::Reading<'_>) -> Result<Self> {
        if reading.is_policy() {
            let policy = reading.deserialize::<NetworkPolicy>().map_err(StateError::ReadPolicy)?;
            return Ok(Self::Policy(Box::new(policy)));
        }
        // An empty document is null and desires nothing.
        let state = reading.deserialize::<Option<NetworkState>>().map_err(StateError::ReadState)?;
        Ok(Self::State(Box::new(State(state.unwrap_or_default()))))
    }

    /// Parses a text that is no document of this run: of a record, or of a file that another tool applies. It may be a stranger's,
    /// and is read within bounds before nmstate sees it.
    pub(crate) fn new(text: &str) -> Result<Self> {
        let text = text.trim_start_matches('\u{feff}');
        let source = Source { name: "document".into(), text: text.into() };
        Self::read(&nmgen::Reading::parse(&source).map_err(unreadable)?)
    }

    pub(crate) fn needs_current(&self) -> bool {
        matches!(self, Self::Policy(policy) if policy.capture != NetworkCaptureRules::default())
    }

    pub(crate) fn resolve(&self, current: Option<&State>) -> Result<State> {
        match self {
            Self::State(state) => Ok(State::clone(state)),
            Self::Policy(policy) => {
                let mut policy = NetworkPolicy::clone(policy);
                // Always set: otherwise nmstate would start a runtime inside the agent's.
                policy.current = Some(current.map(|s| s.0.clone()).unwrap_or_default());
                NetworkState::try_from(policy)
                    .map(State)
                    .map_err(|e| StateError::Resolve { source: e.into() })
            }
        }
    }

    /// Prerequisites known before the document is resolved; captures need the current state.
    pub(crate) fn first_wants(&self) -> Wants {
        self.first_wants_with(|state| state)
    }

    /// The same, of a state whose links are resolved by `resolved`.
    pub(crate) fn first_wants_with(&self, resolved: impl FnOnce(State) -> State) -> Wants {
        let state = if self.needs_current() { None } else { self.resolve(None).ok() };
        state.map_or_else(
            || Wants { ovs: self.names_open_vswitch(), ..Wants::default() },
            |state| resolved(state).wants(),
        )
    }

    /// Whether a policy desires or captures anything of Open vSwitch, whose state is read before the
    /// captures are. A policy that cannot be written is taken for one: the wait costs time alone.
    fn names_open_vswitch(&self) -> bool {
        let Self::Policy(policy) = self else { return false };
        serde_json::to_value(policy).as_ref().map_or(true, |value| mentions(value, "ovs-"))
    }

    /// Whether a policy finds links by alternative names, which other programs give them.
    pub(crate) fn captures_alternative_names(&self) -> bool {
        let Self::Policy(policy) = self else { return false };
        serde_json::to_value(&policy.capture).is_ok_and(|value| mentions(&value, "alt-names"))
    }
}

/// Whether a key or a text in `value` contains `word`.
fn mentions(value: &serde_json::Value, word: &str) -> bool {
    use serde_json::Value;
    match value {
        Value::String(text) => text.contains(word),
        Value::Array(items) => items.iter().any(|item| mentions(item, word)),
        Value::Object(map) => {
            map.iter().any(|(key, value)| key.contains(word) || mentions(value, word))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A desired or a current state.
#[derive(Clone, Debug, Default)]
pub(crate) struct State(NetworkState);

impl State {
    /// The current state, as nmstate sees it.
    pub(crate) async fn retrieve() -> Result<Self> {
        let mut state = NetworkState::new();
        // Hidden secrets cannot be compared.
        state.set_include_secrets(true);
        retrieve(&mut state).await?;
        Ok(Self(state))
    }

    pub(crate) fn collected(value: serde_json::Value) -> Result<Self> {
        serde_json::from_value(value).map(Self).map_err(|source| StateError::Collected { source })
    }

    /// This state as it is collected, secrets included.
    pub(crate) fn to_value(&self) -> Result<serde_json::Value> {
        serde_json::to_value(&self.0).map_err(|source| StateError::Collected { source })
    }

    /// Applies without nmstate's verification. On success its checkpoint is left open and rolls
    /// back by itself after `timeout` seconds; nmstate does not return the checkpoint's path.
    pub(crate) async fn apply_uncommitted(&self, timeout: u32) -> Result {
        let mut desired = self.0.clone();
        let current = match rules::needs_current(&desired) {
            true => Some(Self::retrieve_kernel().await?),
            false => None,
        };
        rules::store_always(&mut desired, current.as_ref().map(|current| &current.0));
        desired.set_verify_change(false).set_commit(false).set_timeout(timeout);
        Box::pin(desired.apply_async()).await.map_err(|e| StateError::Apply { source: e.into() })
    }

    /// Returns the number of virtual functions that cards are to have.
    pub(crate) fn virtual_functions(&self) -> u32 {
        let all = self.0.interfaces.iter().filter_map(|iface| {
            let Interface::Ethernet(card) = iface else { return None };
            card.ethernet.as_ref()?.sr_iov.as_ref()?.total_vfs
        });
        all.fold(0, u32::saturating_add)
    }

    /// The current state of the kernel and Open vSwitch, without NetworkManager.
    pub(crate) async fn retrieve_kernel() -> Result<Self> {
        let mut state = NetworkState::new();
        state.set_kernel_only(true);
        retrieve(&mut state).await?;
        Ok(Self(state))
    }

    /// YAML for display, without secrets.
    pub(crate) fn to_shown_yaml(&self) -> Result<String> {
        let mut shown = self.clone();
        shown.0.hide_secrets();
        shown.to_yaml()
    }

    /// YAML for the copy of a resolved document, secrets included.
    pub(crate) fn to_yaml(&self) -> Result<String> {
        serde_yaml::to_string(&self.0).map_err(|source| StateError::Encode { source })
    }

    /// This current state without an MTU that somebody has set for a while: `bridges` and what carries their packets have that of
    /// `desired` again.
    pub(crate) fn without_mtu(mut self, mtu: u32, bridges: &[&str], desired: &Self) -> Self {
        let wants = desired.wants();
        for iface in self.0.interfaces.iter_mut() {
            let (name, kind) = (iface.name(), iface.iface_type());
            let is_below = |bridge: &&str| wants.carriers(bridge).any(|carrier| carrier == name);
            let is_one = bridges.iter().any(|bridge| *bridge == name || is_below(bridge));
            let wanted = desired.0.interfaces.get_iface(name, kind).map(Interface::base_iface);
            let wanted = wanted.and_then(|wanted| wanted.mtu);
            let base = iface.base_iface_mut();
            if is_one && base.mtu == Some(mtu.into()) {
                base.mtu = wanted.or(base.mtu);
            }
        }
        self
    }

    /// The part of this desired state that `current` lacks, `None` if nothing, by the rules of
    /// nmstate's own verification: additions of other programs are no difference.
    pub(crate) fn missing_in(&self, current: &Self) -> Result<Option<Self>> {
        let diff = compare::missing(&self.0, &current.0)
            .map_err(|e| StateError::Compare { source: e.into() })?;
        Ok((!diff.is_empty()).then_some(Self(diff)))
    }

    /// The part of this desired state that the kernel and Open vSwitch show. NetworkManager's part is
    /// in the profiles: with the userspace datapath nmstate reads it from the generated profile of
    /// the tun device that has the name of the bridge.
    pub(crate) fn visible(mut self) -> Self {
        for iface in self.0.interfaces.iter_mut() {
            let base = iface.base_iface_mut();
            (base.wait_ip, base.lldp) = (None, None);
            if let Some(ip) = &mut base.ipv4 {
                (ip.dhcp_client_id, ip.auto_dns, ip.auto_routes) = (None, None, None);
                (ip.auto_gateway, ip.auto_table_id) = (None, None);
                (ip.auto_route_metric, ip.prefix_route_metric) = (None, None);
            }
            if let Some(ip) = &mut base.ipv6 {
                (ip.dhcp_duid, ip.auto_dns, ip.auto_routes) = (None, None, None);
                (ip.auto_gateway, ip.auto_table_id, ip.auto_route_metric) = (None, None, None);
                (ip.addr_gen_mode, ip.token) = (None, None);
            }
        }
        self
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

    /// Interfaces of `dynamic` that still lack an address from the network. With both families
    /// dynamic, one is enough: the other may not exist on this network.
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

    /// This desired state with references to the node's links resolved, once: kernel names for
    /// interfaces identified by MAC or PCI address or alternative name (`name_of`), addresses for `copy-mac-from` (`macs_of`).
    /// Unknown links are left to nmstate.
    pub(crate) fn with_links(
        mut self,
        name_of: impl Fn(&LinkRef) -> Option<String>,
        macs_of: impl Fn(&str) -> Option<Macs>,
    ) -> Self {
        names::resolve(&mut self.0, name_of);
        copied_macs::resolve(&mut self.0, macs_of);
        self
    }

    /// Interfaces with `copy-mac-from` one that this state makes, and that one.
    pub(crate) fn copies_from_made(&self) -> Vec<(String, String)> {
        copied_macs::from_made(&self.0)
    }

    /// This state of a document in force, with the names that cards have by now which it knows by their addresses.
    pub(crate) fn with_names_of_now(
        mut self,
        name_of: impl Fn(&LinkRef) -> Option<String>,
    ) -> Self {
        names::follow(&mut self.0, name_of);
        self
    }

    /// This desired state with the names, addresses and types of `resolved`, its state when it was put in force.
    pub(crate) fn with_links_of(mut self, resolved: &Self) -> Self {
        self = self.with_types_of(resolved);
        names::resolve(&mut self.0, |wanted| names::in_resolved(&resolved.0, wanted));
        copied_macs::as_in(&mut self.0, &resolved.0);
        self
    }
}

/// Returns the error of a text with these faults.
fn unreadable(faults: Diagnostics) -> StateError {
    let lines: Vec<String> = faults.into_iter().map(|fault| fault.one_line()).collect();
    StateError::ReadState(lines.join("; "))
}

/// nmstate's futures have tens of kilobytes, and several would lie in one another on the stack: they are on the heap.
async fn retrieve(state: &mut NetworkState) -> Result {
    let retrieved = Box::pin(state.retrieve_async()).await;
    retrieved.map(drop).map_err(|e| StateError::Retrieve { source: e.into() })
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

/// The interface below a VLAN and the like.
#[allow(clippy::wildcard_enum_match_arm, reason = "non-exhaustive upstream")]
fn parent(iface: &Interface) -> Option<&str> {
    let base = match iface {
        Interface::Vlan(link) => link.vlan.as_ref()?.base_iface.as_deref(),
        Interface::Vxlan(link) => link.vxlan.as_ref().map(|vxlan| vxlan.base_iface.as_str()),
        Interface::MacVlan(link) => link.mac_vlan.as_ref().map(|vlan| vlan.base_iface.as_str()),
        Interface::MacVtap(link) => link.mac_vtap.as_ref().map(|vtap| vtap.base_iface.as_str()),
        Interface::MacSec(link) => link.macsec.as_ref().map(|macsec| macsec.base_iface.as_str()),
        Interface::IpVlan(link) => link.ipvlan.as_ref()?.base_iface.as_deref(),
        Interface::InfiniBand(link) => link.ib.as_ref()?.base_iface.as_deref(),
        Interface::IpTunnel(link) => link.ip_tunnel.as_ref()?.base_iface.as_deref(),
        _ => None,
    };
    base.filter(|b| !b.is_empty())
}

#[cfg(test)]
mod tests;
