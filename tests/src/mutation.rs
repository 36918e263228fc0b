//! Mutations: other plausible values for a field.

use std::collections::{BTreeMap, BTreeSet};

use serde_yaml::Value;

use crate::documents::Document;
use crate::yaml::{self, Step};

/// Values for fields of these names, in addition to those in documents.
const VALUES: &[(&str, &[&str])] = &[
    ("state", &["up", "down", "present", "absent", "ignore"]),
    ("type", &["ethernet", "dummy", "linux-bridge", "bond", "tunnel", "transport"]),
    ("identifier", &["name", "mac-address"]),
    ("wait-ip", &["any", "ipv4", "ipv6", "ipv4+ipv6"]),
    ("dhcp-client-id", &["ll", "iaid+duid"]),
    ("dhcp-duid", &["ll", "llt"]),
    ("addr-gen-mode", &["eui64", "stable-privacy"]),
    ("protocol", &["802.1q", "802.1ad", "hsr", "hsr-2012", "prp", "lo", "ra"]),
    ("vlan-proto", &["802.1q", "802.1ad"]),
    ("vlan-protocol", &["802.1q", "802.1ad"]),
    ("registration-protocol", &["gvrp", "mvrp", "none"]),
    (
        "mode",
        &[
            "balance-rr",
            "active-backup",
            "balance-xor",
            "802.3ad",
            "trunk",
            "access",
            "vepa",
            "bridge",
            "private",
            "passthru",
            "datagram",
            "connected",
            "l2",
            "l3",
            "ipip",
            "sit",
            "ip6ip6",
            "ipip6",
            "balance-slb",
            "balance-tcp",
            "lacp",
            "off",
            "rs",
            "baser",
        ],
    ),
    ("ad_select", &["stable", "bandwidth", "count"]),
    ("lacp_rate", &["slow", "fast"]),
    ("all_slaves_active", &["dropped", "delivered"]),
    ("arp_all_targets", &["any", "all"]),
    ("arp_validate", &["none", "active", "backup", "all", "filter"]),
    ("fail_over_mac", &["none", "active", "follow"]),
    ("primary_reselect", &["always", "better", "failure"]),
    ("xmit_hash_policy", &["layer2", "layer3+4", "layer2+3", "encap2+3"]),
    ("multicast-router", &["auto", "disabled", "enabled"]),
    ("fail-mode", &["secure", "standalone"]),
    ("datapath", &["system", "netdev"]),
    ("duplex", &["full", "half"]),
    ("validation", &["disabled", "check", "strict"]),
    ("offload", &["off", "phy", "mac"]),
    ("route-type", &["blackhole", "unreachable", "prohibit"]),
    ("action", &["blackhole", "unreachable", "prohibit"]),
    ("family", &["ipv4", "ipv6"]),
    ("hostaddrfamily", &["ipv4", "ipv6"]),
    ("clientaddrfamily", &["ipv4", "ipv6"]),
    ("address-flags", &["signal", "subflow", "backup", "fullmesh"]),
    ("mptcp-flags", &["signal", "subflow", "backup", "fullmesh"]),
    ("ip6tun-flags", &["ign-encap-limit", "mip6-dev", "use-orig-flowlabel"]),
    ("eap-methods", &["tls", "peap", "ttls"]),
    ("ip", &["192.0.2.77", "2001:db8:77::1"]),
    ("destination", &["198.51.100.128/25", "2001:db8:77::/64"]),
    ("next-hop-address", &["192.0.2.254", "2001:db8:1::fe"]),
    ("source", &["192.0.2.111"]),
    ("ip-from", &["198.51.100.128/25"]),
    ("ip-to", &["192.0.2.192/26"]),
    ("server", &["192.0.2.54", "2001:db8::54"]),
    ("local", &["192.0.2.222", "2001:db8:77::2"]),
    ("remote", &["192.0.2.223", "2001:db8:77::3"]),
    ("token", &["::77"]),
    ("pci-address", &["0000:01:00.0"]),
    ("group-addr", &["01:80:C2:00:00:05"]),
    ("valid-life-time", &["3600sec"]),
    ("preferred-life-time", &["1800sec"]),
    ("options", &["debug", "ndots:4"]),
];

/// The values of fields in some documents, by name.
pub struct Seen(BTreeMap<String, BTreeSet<String>>);

impl Seen {
    /// Collects them.
    pub fn gather(documents: &[Document]) -> Self {
        let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for document in documents {
            let Ok(value) = serde_yaml::from_str::<Value>(&document.text) else { continue };
            for (path, value) in yaml::leaves(&value) {
                if let Value::String(text) = value {
                    seen.entry(yaml::last_key(&path).to_owned()).or_default().insert(text);
                }
            }
        }
        Self(seen)
    }

    /// Other values for the leaf, the likeliest first; nmstate may refuse some.
    pub fn others(&self, document: &Value, path: &[Step], value: &Value) -> Vec<Value> {
        let mut found: Vec<Value> = match value {
            Value::Bool(boolean) => vec![(!boolean).into()],
            Value::Number(number) => numbers(number.as_i64().unwrap_or_default()),
            Value::String(text) => self.strings(document, yaml::last_key(path), text),
            Value::Null | Value::Sequence(_) | Value::Mapping(_) | Value::Tagged(_) => Vec::new(),
        };
        found.retain(|other| other != value);
        found
    }

    fn strings(&self, document: &Value, key: &str, text: &str) -> Vec<Value> {
        let mut found: Vec<String> = names_instead_of(document, text);
        match text {
            "true" => found.push("false".to_owned()),
            "false" => found.push("true".to_owned()),
            _ => {}
        }
        let values = VALUES.iter().filter(|(name, _)| *name == key).flat_map(|(_, values)| *values);
        found.extend(values.map(|value| (*value).to_owned()));
        if let Some(mac) = other_mac(text) {
            found.push(mac);
        }
        if let Ok(number) = text.parse::<i64>() {
            found.extend([number + 1, number - 1].map(|number| number.to_string()));
        }
        if let Some(number) = hexadecimal(text) {
            found.extend([number ^ 1, number ^ 0x8000].map(|number| format!("0x{number:x}")));
        }
        if text.ends_with(|last: char| last.is_ascii_hexdigit()) {
            let last = if text.ends_with('7') { '8' } else { '7' };
            found.push(format!("{}{last}", &text[..text.len() - 1]));
        }
        found.extend([format!("{text}7"), format!("7{text}"), "eth77".to_owned()]);
        found.extend(self.0.get(key).into_iter().flatten().take(20).cloned());
        found.into_iter().map(Value::from).collect()
    }
}

fn numbers(number: i64) -> Vec<Value> {
    let near = [number + 1, number - 1, number * 2, number / 2, 4096, 1, 0, 2];
    near.into_iter().filter(|other| *other >= 0 && *other != number).map(Value::from).collect()
}

fn other_mac(text: &str) -> Option<String> {
    let is_mac =
        text.len() == 17 && text.split(':').all(|byte| u8::from_str_radix(byte, 16).is_ok());
    is_mac.then(|| format!("{}{}", &text[..15], if text.ends_with("0e") { "0d" } else { "0e" }))
}

fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// The document's other interfaces, if the value is the name of one.
fn names_instead_of(document: &Value, text: &str) -> Vec<String> {
    let interfaces = document.get("interfaces").and_then(Value::as_sequence);
    let names =
        interfaces.into_iter().flatten().filter_map(|interface| interface.get("name")?.as_str());
    let names: Vec<String> = names.map(str::to_owned).collect();
    if names.iter().any(|name| name == text) { names } else { Vec::new() }
}
