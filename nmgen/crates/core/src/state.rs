//! The only file that names the nmstate crate, which decides the meaning of NMState.

use nmgen_document::{Error, Node};
use nmstate::{
    EthernetInterface, Interface, InterfaceIdentifier, InterfaceIpv4, InterfaceIpv6,
    InterfaceState, NetworkState,
};
use serde::Deserialize;
use serde::de::Error as _;

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

    /// The state as nmstate writes it: no key but those that nmstate reads, and not all of these. The tree has no places.
    #[cfg(feature = "hints")]
    pub fn written(&self) -> Result<Node<'static>, Refusal> {
        let json = serde_json::to_value(&self.0).map_err(|error| Refusal(error.to_string()))?;
        Ok(json.into())
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

    /// A state with nothing but these route rules, each of which has an interface that can hold it: nmstate itself tells by it
    /// which rules are equal. `None` without rules.
    pub fn route_rules_alone(&self) -> Option<Self> {
        let mut rules = self.0.rules.clone();
        let mut interfaces: Vec<String> = Vec::new();
        for rule in rules.config.iter_mut().flatten().filter(|rule| rule.state.is_none()) {
            // Apart for each `iif`, by which nmstate tells no rules of one interface apart.
            let iif = rule.iif.clone().unwrap_or_default();
            let index =
                interfaces.iter().position(|interface| *interface == iif).unwrap_or_else(|| {
                    interfaces.push(iif);
                    interfaces.len() - 1
                });
            rule.iif = Some(format!("card{index}"));
        }
        let mut state = NetworkState::new();
        state.rules = rules;
        for index in 0..interfaces.len() {
            state.append_interface_data(Interface::Ethernet(Box::new(with_addresses(index))));
        }
        (!interfaces.is_empty()).then_some(Self(state))
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

/// A state as nmstate writes it, a policy as it was read; without secrets.
pub fn shown(root: &Node<'_>, is_policy: bool) -> Result<String, Error> {
    let hidden = root.clone().without_secrets(false, false);
    let unread = |error: serde::de::value::Error| serde_yaml::Error::custom(error);
    let text = if is_policy {
        let policy = serde_yaml::Value::deserialize(&hidden).map_err(unread);
        policy.and_then(|policy| serde_yaml::to_string(&policy))
    } else {
        let state = Option::<NetworkState>::deserialize(&hidden).map_err(unread);
        state.and_then(|state| serde_yaml::to_string(&state.unwrap_or_default()))
    };
    text.map_err(|source| Error::RenderYaml { source })
}

/// A card that can hold rules of both families.
fn with_addresses(index: usize) -> EthernetInterface {
    let mut interface = EthernetInterface::new();
    interface.base.name = format!("card{index}");
    interface.base.state = InterfaceState::Up;
    let (mut ipv4, mut ipv6) = (InterfaceIpv4::new(), InterfaceIpv6::new());
    (ipv4.enabled, ipv6.enabled) = (true, true);
    interface.base.ipv4 = Some(ipv4);
    interface.base.ipv6 = Some(ipv6);
    interface
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

#[cfg(test)]
mod tests {
    use nmgen_document::text::secret::{FIELDS, is_harmless, is_key, is_secret, is_section};
    use serde_yaml::Value;

    use super::*;

    /// Every text of the sections that have secrets.
    const SECTIONS: &str = "interfaces:
- name: eth0
  type: ethernet
  description: t1
  802.1x: {identity: t2, eap-methods: [t3], private-key: t4, client-cert: t5, ca-cert: t6, private-key-password: t7,
    phase2-auth: t8, password: t9}
- name: macsec0
  type: macsec
  macsec: {encrypt: true, base-iface: eth0, mka-cak: t10, mka-ckn: t11, port: 1, validation: strict, send-sci: true}
- name: vpn0
  type: ipsec
  libreswan: {right: t12, rightid: t13, rightrsasigkey: t14, rightcert: t15, left: t16, leftid: t17, leftrsasigkey: t18,
    leftcert: t19, ikev2: t20, psk: t21, ikelifetime: t22, salifetime: t23, ike: t24, esp: t25, dpdaction: t26,
    authby: t27, leftsubnet: t28, rightsubnet: t29, type: tunnel, rightca: t30, hostaddrfamily: ipv4, clientaddrfamily: ipv4}
";

    /// The values that differ, by their last two keys.
    fn differences(before: &Value, after: &Value, way: &[&str], found: &mut Vec<[String; 2]>) {
        match (before, after) {
            (Value::Mapping(before), Value::Mapping(after)) => {
                for (key, value) in before {
                    let way = [way, &[key.as_str().unwrap_or_default()]].concat();
                    differences(value, &after[key], &way, found);
                }
            }
            (Value::Sequence(before), Value::Sequence(after)) => {
                let pairs = before.iter().zip(after);
                pairs.for_each(|(before, after)| differences(before, after, way, found));
            }
            _ if before != after => {
                let [.., section, key] = way else { unreachable!("{way:?}") };
                found.push([(*section).to_owned(), (*key).to_owned()]);
            }
            _ => {}
        }
    }

    /// The sections of the interfaces that have secrets, and their keys.
    fn state_sections(state: &Value) -> Vec<(String, Vec<String>)> {
        let names = FIELDS.iter().map(|[section, _]| *section);
        let interfaces = state["interfaces"].as_sequence().into_iter().flatten();
        let sections =
            interfaces.flat_map(|interface| names.clone().map(|name| (name, &interface[name])));
        let keys = |section: &Value| -> Vec<String> {
            let keys = section.as_mapping().into_iter().flat_map(|section| section.keys());
            keys.filter_map(|key| key.as_str().map(str::to_owned)).collect()
        };
        sections.map(|(name, section)| (name.to_owned(), keys(section))).collect()
    }

    #[test]
    fn the_fields_of_secrets_are_those_that_the_crate_hides() {
        let state: NetworkState =
            serde_yaml::from_str(SECTIONS).unwrap_or_else(|error| unreachable!("{error}"));
        let mut hidden = state.clone();
        hidden.hide_secrets();
        let json = |state: &NetworkState| serde_yaml::to_value(state).unwrap_or_default();
        let mut found = Vec::new();
        differences(&json(&state), &json(&hidden), &[], &mut found);
        found.sort();
        assert_eq!(found, FIELDS);
        for (section, fields) in state_sections(&json(&state)) {
            assert!(is_section(&section), "{section}");
            for field in fields {
                assert!(is_harmless(&field) || is_key(&field), "{section}.{field}");
            }
        }
        for key in [
            "identity",
            "private-key",
            "mka-ckn",
            "rightrsasigkey",
            "port",
            "pci-address",
            "state",
            "esp",
        ] {
            assert!(!is_secret(key, "/etc/key"), "{key}");
        }
        for key in [
            "mka_cak",
            "PSK",
            "pasword",
            "private-key-pass-word",
            "private_key_password",
            "bmcPassword",
        ] {
            assert!(is_key(key), "{key}");
        }
    }
}
