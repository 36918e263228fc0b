//! Routes and rules compared as nmstate's verification does: by the keys in the document, without
//! the metric of a route.

use nmstate::{NetworkState, RouteEntry, RouteRuleEntry, RouteRuleState, RouteState};

/// Missing routes, and absent ones that exist. `sanitized` has the desired routes in the kernel's
/// notation.
pub(super) fn missing_routes(
    desired: &NetworkState,
    sanitized: &NetworkState,
    current: &NetworkState,
) -> Vec<RouteEntry> {
    let wanted: Vec<&RouteEntry> = sanitized.routes.config.iter().flatten().collect();
    let current: Vec<&RouteEntry> = current.routes.config.iter().flatten().collect();
    let is_there = |route: &RouteEntry| current.iter().any(|have| is_route(route, have));
    let lacking = wanted.iter().filter(|route| !is_there(route)).map(|route| (*route).clone());
    let remains = desired
        .routes
        .config
        .iter()
        .flatten()
        .filter(|route| route.state == Some(RouteState::Absent))
        .filter(|absent| !wanted.iter().any(|wanted| is_route(absent, wanted)))
        .filter(|absent| is_there(absent))
        .cloned();
    lacking.chain(remains).collect()
}

pub(super) fn missing_rules(
    desired: &NetworkState,
    sanitized: &NetworkState,
    current: &NetworkState,
) -> Vec<RouteRuleEntry> {
    let is_absent = |rule: &&RouteRuleEntry| rule.state == Some(RouteRuleState::Absent);
    let declared = || desired.rules.config.iter().flatten();
    // nmstate assigns priorities to rules without one, in document order.
    let priorities = declared().filter(|rule| !is_absent(rule)).map(|rule| rule.priority);
    let wanted: Vec<RouteRuleEntry> = sanitized
        .rules
        .config
        .iter()
        .flatten()
        .zip(priorities)
        .map(|(rule, priority)| {
            let mut rule = rule.clone();
            rule.priority = priority;
            rule
        })
        .collect();
    let current: Vec<&RouteRuleEntry> = current.rules.config.iter().flatten().collect();
    let lacking =
        wanted.iter().filter(|rule| !current.iter().any(|have| is_rule(rule, have))).cloned();
    let remains = declared()
        .filter(is_absent)
        .filter(|absent| {
            current
                .iter()
                .any(|have| is_rule(absent, have) && !wanted.iter().any(|w| is_rule(have, w)))
        })
        .cloned();
    lacking.chain(remains).collect()
}

fn is_route(want: &RouteEntry, have: &RouteEntry) -> bool {
    // IPv4 routes of a special type have no interface in the kernel, even if the document sets one.
    let is_special = want.route_type.is_some()
        && !want.destination.as_ref().is_some_and(|destination| destination.contains(':'));
    let any = |text: &Option<String>| text.as_ref().is_none_or(String::is_empty);
    (any(&want.destination) || want.destination == have.destination)
        && (is_special || any(&want.next_hop_iface) || want.next_hop_iface == have.next_hop_iface)
        && same(&want.next_hop_addr, &have.next_hop_addr)
        && same(&want.table_id.filter(|table| *table != 0), &have.table_id)
        && same(&want.weight, &have.weight)
        && same(&want.route_type, &have.route_type)
        && same(&want.cwnd, &have.cwnd)
        && same(&want.source, &have.source)
        && same(&want.initcwnd, &have.initcwnd)
        && same(&want.initrwnd, &have.initrwnd)
        && same(&want.mtu, &have.mtu)
        && same(&want.quickack, &have.quickack.or(Some(false)))
        && same(&want.advmss, &have.advmss)
        && same(&want.lock_mtu, &have.lock_mtu)
        && same(&want.vrf_name, &have.vrf_name)
}

fn is_rule(want: &RouteRuleEntry, have: &RouteRuleEntry) -> bool {
    let prefix = |want: &Option<String>, have: &Option<String>| match want.as_deref() {
        None => true,
        Some("") => have.as_ref().is_none_or(String::is_empty),
        Some(want) => have.as_ref().is_some_and(|have| *have == with_length(want)),
    };
    let has_any_family = want.family.is_none() || have.family.is_none();
    prefix(&want.ip_from, &have.ip_from)
        && prefix(&want.ip_to, &have.ip_to)
        && (has_any_family || want.family == have.family)
        && want.priority.filter(|p| *p >= 0).is_none_or(|p| p == have.priority.unwrap_or(0))
        && same(&want.table_id.filter(|table| *table != 0), &have.table_id)
        && want.fwmark.is_none_or(|mark| mark == have.fwmark.unwrap_or(0))
        && want.fwmask.is_none_or(|mask| mask == have.fwmask.unwrap_or(0))
        && same(&want.iif, &have.iif)
        && same(&want.action, &have.action)
        && same(&want.suppress_prefix_length, &have.suppress_prefix_length)
}

fn same<T: PartialEq>(want: &Option<T>, have: &Option<T>) -> bool {
    want.is_none() || want == have
}

/// An address in the kernel's notation: with its prefix length.
fn with_length(prefix: &str) -> String {
    match (prefix.contains('/'), prefix.contains(':')) {
        (true, _) => prefix.to_owned(),
        (false, true) => format!("{prefix}/128"),
        (false, false) => format!("{prefix}/32"),
    }
}
