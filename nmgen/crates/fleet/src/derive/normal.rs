//! A document without differences that mean nothing: defaults, aliases, spellings of booleans.

use std::borrow::Cow;

use nmgen_core::interface::kind;
use nmgen_document::mac::Mac;
use nmgen_document::{Entry, Node, Value};

/// Keys with another name, in any interface.
const ALIASES: &[(&str, &str)] = &[("ports", "port"), ("bond", "link-aggregation")];
/// Values that nmstate assumes.
const DEFAULTS: &[(&str, &str)] = &[("state", "up"), ("dhcp", "false"), ("autoconf", "false")];

/// A copy to compare with another one.
pub(crate) fn normal(root: &Node<'static>) -> Node<'static> {
    let mut root = root.clone();
    spellings(&mut root, &mut Vec::new());
    let interfaces = root.items_mut_at(&["interfaces"]);
    copied_macs(interfaces);
    interfaces.iter_mut().for_each(interface);
    root
}

fn spellings(node: &mut Node<'static>, keys: &mut Vec<Cow<'static, str>>) {
    match &mut node.value {
        Value::Scalar { text, plain } => {
            if *plain && matches!(&*text.to_ascii_lowercase(), "true" | "yes" | "on" | "y") {
                *text = Cow::Borrowed("true");
            } else if *plain && matches!(&*text.to_ascii_lowercase(), "false" | "no" | "off" | "n")
            {
                *text = Cow::Borrowed("false");
            } else if keys.last().is_some_and(|key| key == "mac-address")
                && let Some(mac) = Mac::parse(text)
            {
                *text = Cow::Owned(mac.to_string());
            }
        }
        Value::Sequence(items) => items.iter_mut().for_each(|item| spellings(item, keys)),
        Value::Mapping(entries) => {
            for entry in entries.iter_mut() {
                if let Some((_, usual)) = ALIASES.iter().find(|(alias, _)| entry.key == *alias) {
                    entry.key = Cow::Borrowed(usual);
                }
                keys.push(entry.key.clone());
                spellings(&mut entry.node, keys);
                keys.pop();
            }
            entries.retain(|entry| !is_default(entry));
        }
    }
}

fn is_default(entry: &Entry<'_>) -> bool {
    let is = |(key, value): &(&str, &str)| entry.key == *key && entry.node.text() == Some(value);
    let is_empty = entry.key == "address"
        && matches!(&entry.node.value, Value::Sequence(items) if items.is_empty());
    entry.node.is_null() || is_empty || DEFAULTS.iter().any(is)
}

/// Disabled families are as good as none; an ovs-bridge has none.
fn interface(node: &mut Node<'static>) {
    let is_bridge = kind(node) == "ovs-bridge";
    let Value::Mapping(entries) = &mut node.value else { return };
    entries.retain(|entry| {
        let is_family = matches!(&*entry.key, "ipv4" | "ipv6");
        !is_family || (!is_bridge && entry.node.text_at("enabled") == Some("true"))
    });
}

/// `copy-mac-from` becomes the MAC address if the document has it; on an ovs-bridge it is meant for the
/// interface of the same name.
fn copied_macs(interfaces: &mut [Node<'static>]) {
    let known: Vec<(String, String)> = interfaces
        .iter()
        .filter(|node| kind(node) != "ovs-bridge")
        .filter_map(|node| {
            Some((node.text_at("name")?.to_owned(), node.text_at("mac-address")?.to_owned()))
        })
        .collect();
    let on_bridges: Vec<(String, Entry<'static>)> = interfaces
        .iter_mut()
        .filter(|node| kind(node) == "ovs-bridge")
        .filter_map(|node| Some((node.text_at("name")?.to_owned(), take(node, "copy-mac-from")?)))
        .collect();
    for node in interfaces.iter_mut().filter(|node| kind(node) == "ovs-interface") {
        let name = node.text_at("name").unwrap_or_default().to_owned();
        let of_bridge = on_bridges.iter().find(|(bridge, _)| *bridge == name);
        let from =
            take(node, "copy-mac-from").or_else(|| of_bridge.map(|(_, entry)| entry.clone()));
        let Some(mut from) = from else { continue };
        let mac = known.iter().find(|(name, _)| from.node.text() == Some(name));
        if let (Some((_, mac)), Value::Scalar { text, .. }) = (mac, &mut from.node.value) {
            from.key = Cow::Borrowed("mac-address");
            *text = Cow::Owned(mac.clone());
        }
        if let Value::Mapping(entries) = &mut node.value
            && !entries.iter().any(|entry| entry.key == from.key)
        {
            entries.push(from);
        }
    }
}

fn take(node: &mut Node<'static>, key: &str) -> Option<Entry<'static>> {
    let Value::Mapping(entries) = &mut node.value else { return None };
    let index = entries.iter().position(|entry| entry.key == key)?;
    Some(entries.remove(index))
}
