//! The only file that names the nmstate crate: what NMState means is decided there.

use nmstate::{Interface, InterfaceIdentifier, InterfaceState, NetworkState};
use serde::Deserialize;

use crate::document::Node;

/// A document as nmstate understands it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State(NetworkState);

/// nmstate's refusal, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) String);

/// A connection profile as nmstate writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Generated {
    /// `<id>.nmconnection`, unchecked.
    pub(crate) file_name: String,
    /// The keyfile, unescaped and unchecked.
    pub(crate) text: String,
}

/// An interface of the document, as far as later stages need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InterfaceSummary {
    pub(crate) name: String,
    /// NMState's name of the type; `unknown` where the document has none.
    pub(crate) kind: String,
    pub(crate) profile_name: Option<String>,
    pub(crate) mac_address: Option<String>,
    pub(crate) identified_by_mac: bool,
    pub(crate) copy_mac_from: Option<String>,
    /// False for interfaces that are to be removed or left alone.
    pub(crate) has_profile: bool,
    /// Those to be there; not those to be removed.
    pub(crate) alt_names: Vec<String>,
}

impl State {
    /// Reads a document, or what is left of one.
    pub(crate) fn parse(root: &Node<'_>) -> Result<Self, Refusal> {
        // An empty document is a state that asks for nothing; serde sees a null.
        Option::<NetworkState>::deserialize(root)
            .map(|state| Self(state.unwrap_or_default()))
            .map_err(|error| Refusal(error.to_string()))
    }

    /// True when it asks for nothing at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// nmstate's offline configuration for NetworkManager, in nmstate's order.
    pub(crate) fn generate(&self) -> Result<Vec<Generated>, Refusal> {
        let mut generated = self.0.gen_conf().map_err(|error| Refusal(error.msg().to_owned()))?;
        let files = generated.remove("NetworkManager").unwrap_or_default();
        Ok(files.into_iter().map(|(file_name, text)| Generated { file_name, text }).collect())
    }

    /// The static host name that the document asks for.
    pub(crate) fn hostname(&self) -> Option<&str> {
        self.0.hostname.as_ref()?.config.as_deref().filter(|name| !name.is_empty())
    }

    /// How many rules for routes are to be there, equal ones once.
    pub(crate) fn route_rule_count(&self) -> usize {
        let rules = self.0.rules.config.iter().flatten().filter(|rule| rule.state.is_none());
        rules.collect::<std::collections::HashSet<_>>().len()
    }

    pub(crate) fn interfaces(&self) -> Vec<InterfaceSummary> {
        self.0.interfaces.to_vec().into_iter().map(summary).collect()
    }

    /// Gives interface `name` of type `kind` this MAC address and drops its `copy-mac-from`.
    pub(crate) fn resolve_copy_mac_from(&mut self, name: &str, kind: &str, mac: Option<&str>) {
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
