//! Routing rules that exist already.

use std::net::IpAddr;

use ipnet::IpNet;
use nmstate::{NetworkState, RouteRuleEntry};
use serde_json::{Map, Value};

/// `RT_TABLE_MAIN`.
const MAIN_TABLE: u32 = 254;

/// Whether [`store_always`] has to see the current state.
pub(super) fn needs_current(desired: &NetworkState) -> bool {
    let mut rules = added(desired).peekable();
    rules.peek().is_some() && !rules.any(has_priority)
}

/// Makes nmstate store the document's rules. If they equal the current ones, nmstate stores none, and those of an interface that
/// becomes a port of br-ex are lost with its addresses. A rule that is given twice is stored once, and the lists differ.
///
/// A rule without a priority would be stored twice, with two of them: it is repeated with the one of `current` that it keeps. If
/// none is its like there, the lists differ anyway.
pub(super) fn store_always(desired: &mut NetworkState, current: Option<&NetworkState>) {
    let stated = added(desired).find(|rule| has_priority(rule)).cloned();
    let again = stated.or_else(|| {
        let current = current?.rules.config.as_ref()?;
        added(desired).find_map(|rule| {
            let kept = current.iter().find(|entry| has_priority(entry) && is_like(rule, entry))?;
            let mut again = rule.clone();
            again.priority = kept.priority;
            Some(again)
        })
    });
    if let (Some(rule), Some(rules)) = (again, &mut desired.rules.config) {
        rules.push(rule);
    }
}

fn added(desired: &NetworkState) -> impl Iterator<Item = &RouteRuleEntry> {
    desired.rules.config.iter().flatten().filter(|rule| rule.state.is_none())
}

fn has_priority(rule: &RouteRuleEntry) -> bool {
    rule.priority.is_some_and(|priority| priority != RouteRuleEntry::USE_DEFAULT_PRIORITY)
}

/// Whether nmstate takes `current` for `rule`: it has whatever the rule states.
fn is_like(rule: &RouteRuleEntry, current: &RouteRuleEntry) -> bool {
    let (rule, current) = (keys(rule), keys(current));
    rule.iter().all(|(key, value)| current.get(key) == Some(value))
}

/// Whether two rules of documents differ by their spelling alone: the length of a whole address, the family that an address tells,
/// and the main table, which a rule without an action has.
pub(super) fn is_same(one: &RouteRuleEntry, other: &RouteRuleEntry) -> bool {
    let priority = |rule: &RouteRuleEntry| rule.priority.filter(|_| has_priority(rule));
    let said = |rule: &RouteRuleEntry| {
        let mut keys = keys(rule);
        if rule.ip_from.is_some() || rule.ip_to.is_some() {
            keys.remove("family");
        }
        for key in ["ip-from", "ip-to"] {
            if let Some(Value::String(prefix)) = keys.get_mut(key) {
                *prefix = canonical(prefix);
            }
        }
        if rule.action.is_none() {
            keys.entry("route-table").or_insert_with(|| MAIN_TABLE.into());
        }
        keys
    };
    priority(one) == priority(other) && said(one) == said(other)
}

/// An address or a network in the one spelling of RFC 5952.
fn canonical(prefix: &str) -> String {
    let network = prefix.parse::<IpNet>().map(|network| network.to_string()).ok();
    let address = || prefix.parse::<IpAddr>().map(|address| address.to_string()).ok();
    network.or_else(address).unwrap_or_else(|| prefix.to_owned())
}

/// The selectors and the action: whole addresses have the length of their prefix in a current rule.
fn keys(rule: &RouteRuleEntry) -> Map<String, Value> {
    let mut keys = match serde_json::to_value(rule) {
        Ok(Value::Object(keys)) => keys,
        Ok(_) | Err(_) => Map::new(),
    };
    keys.remove("priority");
    if rule.table_id == Some(RouteRuleEntry::USE_DEFAULT_ROUTE_TABLE) {
        keys.remove("route-table");
    }
    for key in ["ip-from", "ip-to"] {
        if let Some(Value::String(prefix)) = keys.get_mut(key)
            && let Some(address) = without_length(prefix)
        {
            *prefix = address;
        }
    }
    keys
}

/// `192.0.2.1` of `192.0.2.1/32`.
fn without_length(prefix: &str) -> Option<String> {
    let (address, length) = prefix.split_once('/')?;
    let whole = if address.contains(':') { "128" } else { "32" };
    (length == whole).then(|| address.to_owned())
}
