//! The only file that names the nmstate crate, which decides the meaning of NMState.

use nmgen_document::Node;
use nmstate::{Interface, InterfaceIdentifier, InterfaceState, NetworkState};
use serde::Deserialize;

/// A document as nmstate reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State(NetworkState);

/// nmstate's refusal, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub String);

/// A connection profile as nmstate writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// `<id>.nmconnection`, unchecked.
    pub file_name: String,
    /// The keyfile, unescaped and unchecked.
    pub text: String,
}

/// The fields of an interface that later stages use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceSummary {
    /// NMState's `name`.
    pub name: String,
    /// NMState's name of the type; `unknown` if missing.
    pub kind: String,
    /// NMState's `profile-name`.
    pub profile_name: Option<String>,
    /// NMState's `mac-address`.
    pub mac_address: Option<String>,
    /// True with `identifier: mac-address`.
    pub identified_by_mac: bool,
    /// NMState's `copy-mac-from`.
    pub copy_mac_from: Option<String>,
    /// False for absent and ignored interfaces.
    pub has_profile: bool,
    /// Alternative names to set, without those to remove.
    pub alt_names: Vec<String>,
}

impl State {
    /// Reads a document or a part of one.
    pub fn parse(root: &Node<'_>) -> Result<Self, Refusal> {
        // An empty document is a null to serde, and a state without requests.
        Option::<NetworkState>::deserialize(root)
            .map(|state| Self(state.unwrap_or_default()))
            .map_err(|error| Refusal(error.to_string()))
    }

    /// True without any request.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// nmstate's offline configuration for NetworkManager, in nmstate's order.
    pub fn generate(&self) -> Result<Vec<Generated>, Refusal> {
        let mut generated = self.0.gen_conf().map_err(|error| Refusal(error.msg().to_owned()))?;
        let files = generated.remove("NetworkManager").unwrap_or_default();
        Ok(files.into_iter().map(|(file_name, text)| Generated { file_name, text }).collect())
    }

    /// The document's static host name.
    pub fn hostname(&self) -> Option<&str> {
        self.0.hostname.as_ref()?.config.as_deref().filter(|name| !name.is_empty())
    }

    /// True with a password or a key that nmstate hides in output.
    pub fn has_secrets(&self) -> bool {
        let mut hidden = self.0.clone();
        hidden.hide_secrets();
        hidden != self.0
    }

    /// The number of route rules to add, counting equal ones once.
    pub fn route_rule_count(&self) -> usize {
        let rules = self.0.rules.config.iter().flatten().filter(|rule| rule.state.is_none());
        rules.collect::<std::collections::HashSet<_>>().len()
    }

    /// The interfaces, with the fields that later stages use.
    pub fn interfaces(&self) -> Vec<InterfaceSummary> {
        self.0.interfaces.to_vec().into_iter().map(summary).collect()
    }

    /// The state without `copy-mac-from`, which nmstate cannot resolve offline.
    pub fn without_copied_addresses(mut self) -> Self {
        for interface in self.0.interfaces.iter_mut() {
            interface.base_iface_mut().copy_mac_from = None;
        }
        self
    }

    /// Sets the MAC address of interface `name` of type `kind`, and drops its `copy-mac-from`.
    pub fn resolve_copy_mac_from(&mut self, name: &str, kind: &str, mac: Option<&str>) {
        for interface in self.0.interfaces.iter_mut() {
            if interface.name() != name || interface.iface_type().to_string() != kind {
                continue;
            }
            let base = interface.base_iface_mut();
            base.copy_mac_from = None;
            if let Some(mac) = mac {
                base.mac_address = Some(mac.to_owned());
            }
        }
    }
}

fn summary(interface: &Interface) -> InterfaceSummary {
    let base = interface.base_iface();
    InterfaceSummary {
        name: base.name.clone(),
        kind: interface.iface_type().to_string(),
        profile_name: base.profile_name.clone(),
        mac_address: base.mac_address.clone(),
        identified_by_mac: base.identifier == Some(InterfaceIdentifier::MacAddress),
        copy_mac_from: base.copy_mac_from.clone(),
        has_profile: matches!(base.state, InterfaceState::Up | InterfaceState::Down),
        alt_names: base
            .alt_names
            .iter()
            .flatten()
            .filter(|entry| !entry.is_absent())
            .map(|entry| entry.name.clone())
            .collect(),
    }
}
