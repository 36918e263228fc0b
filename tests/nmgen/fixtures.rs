//! The fixtures together have every field of NMState.

use std::collections::{BTreeMap, BTreeSet};

use serde_yaml::{Mapping, Value};
use tests::documents;

/// Fields of an interface of any type. nmstate lists no candidates here: it collects unknown fields of an interface instead of
/// refusing them.
const INTERFACE: &str = "name profile-name description type driver state identifier mac-address \
    permanent-mac-address pci-address mtu min-mtu max-mtu wait-ip ipv4 ipv6 mptcp controller \
    accept-all-mac-addresses copy-mac-from ovs-db 802.1x lldp ethtool alt-names \
    link-aggregation ethernet veth hsr bridge patch dpdk vlan vxlan mac-vlan mac-vtap vrf infiniband macsec \
    libreswan ipvlan ip-tunnel";

/// Other spellings of fields that the fixtures have under their usual names.
const ALIASES: &[&str] = &[
    "ports",
    "bond",
    "accept-all-mac",
    "n_rxq",
    "dpdk-lsc-interrupt",
    "balance-slb",
    "bridge-mappings",
    "suppress_prefixlength",
    "valid-left",
    "valid-lft",
    "preferred-left",
    "preferred-lft",
    "slaves",
    "hsr-2010",
];

/// Fields that no fixture can have.
const IMPOSSIBLE: &[(&str, &str)] = &[
    ("interfaces[].dispatch", "nmstate refuses it offline"),
    ("interfaces[].ipv4.autoconf", "nmstate refuses it"),
    ("interfaces[].ipv6.forwarding", "nmstate refuses it"),
    ("interfaces[].ipv6.prefix-route-metric", "nmstate refuses it"),
    ("routes.running", "a report of the node; that one field of it has no effect is enough"),
    ("dns-resolver.running", "a report of the node; that one field of it has no effect is enough"),
];

#[tests::case]
fn every_field_occurs() {
    let mut present: BTreeSet<String> = BTreeSet::new();
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for document in documents::fixtures() {
        let value: Value = serde_yaml::from_str(&document.text).unwrap();
        for path in mappings(&value) {
            let here = find(&value, &path).unwrap();
            let name = normal(&path);
            for key in here.keys() {
                present.insert(format!("{name}.{}", key.as_str().unwrap()));
            }
            for field in fields(&value, &path) {
                known.insert(format!("{name}.{field}"), document.name.clone());
            }
        }
    }
    known.extend(
        INTERFACE.split_whitespace().map(|f| (format!("interfaces[].{f}"), "-".to_owned())),
    );
    assert!(known.len() > 300, "the schema could not be asked for: {}", known.len());
    let missing: Vec<&String> = known
        .keys()
        .filter(|field| !present.contains(*field))
        .filter(|field| !ALIASES.contains(&field.rsplit('.').next().unwrap()))
        .filter(|field| IMPOSSIBLE.iter().all(|(path, _)| !field.starts_with(path)))
        .collect();
    assert!(missing.is_empty(), "no fixture has {missing:#?}");
}

/// The fields that nmstate accepts at this place, from its refusal of an unknown one.
fn fields(document: &Value, path: &[String]) -> Vec<String> {
    let mut changed = document.clone();
    let Some(mapping) = find_mut(&mut changed, path) else { return Vec::new() };
    mapping.insert("no-such-field".into(), Value::Null);
    let Err(error) = serde_yaml::from_value::<nmstate::NetworkState>(changed) else {
        return Vec::new();
    };
    let text = error.to_string();
    let Some((_, expected)) = text.split_once("expected ") else { return Vec::new() };
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn mappings(value: &Value) -> Vec<Vec<String>> {
    fn walk(value: &Value, path: &[String], found: &mut Vec<Vec<String>>) {
        let below = |step: String| [path, &[step]].concat();
        if let Value::Mapping(mapping) = value {
            found.push(path.to_vec());
            for (key, value) in mapping {
                walk(value, &below(key.as_str().unwrap().to_owned()), found);
            }
        } else if let Value::Sequence(items) = value {
            for (index, item) in items.iter().enumerate() {
                walk(item, &below(format!("[{index}]")), found);
            }
        }
    }
    let mut found = Vec::new();
    walk(value, &[], &mut found);
    found
}

fn find<'v>(value: &'v Value, path: &[String]) -> Option<&'v Mapping> {
    path.iter()
        .try_fold(value, |value, step| match index(step) {
            Some(index) => value.get(index),
            None => value.get(step.as_str()),
        })?
        .as_mapping()
}

fn find_mut<'v>(value: &'v mut Value, path: &[String]) -> Option<&'v mut Mapping> {
    path.iter()
        .try_fold(value, |value, step| match index(step) {
            Some(index) => value.get_mut(index),
            None => value.get_mut(step.as_str()),
        })?
        .as_mapping_mut()
}

fn index(step: &str) -> Option<usize> {
    step.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

/// `interfaces[].ipv4`: list positions left out.
fn normal(path: &[String]) -> String {
    let mut text = String::new();
    for step in path {
        match index(step) {
            Some(_) => text.push_str("[]"),
            None if text.is_empty() => text.push_str(step),
            None => {
                text.push('.');
                text.push_str(step);
            }
        }
    }
    text
}
