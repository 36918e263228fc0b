//! Values that name the uplink for its addresses: routes, rules, name servers and tunnels.

use nmgen_document::{Node, Path, Value};

use super::new::{entry, name_node, word};
use super::wanted::Wanted;

/// Sections of tunnels, whose packets go out by the interface with the address.
pub(super) const TUNNELS: &[&str] = &["vxlan", "ip-tunnel"];

/// Makes all of them name the bridge. `names`: those of the uplink.
pub(super) fn follow(root: &mut Node<'static>, names: &[String], wanted: &Wanted<'_>) {
    for route in root.items_mut_at(&["routes", "config"]) {
        let is_kept = !matches!(route.text_at("state"), Some("absent" | "ignore"));
        if is_kept && rename(route, "next-hop-interface", names, wanted) {
            metric(route, wanted);
        }
    }
    for rule in root.items_mut_at(&["route-rules", "config"]) {
        rename(rule, "iif", names, wanted);
    }
    for server in root.items_mut_at(&["dns-resolver", "config", "server"]) {
        zone(server, names, wanted);
    }
    for interface in root.items_mut_at(&["interfaces"]) {
        for section in TUNNELS {
            if let Some(section) = interface.find_mut(&Path::default().key(section)) {
                rename(section, "base-iface", names, wanted);
            }
        }
    }
}

/// True if the value under the key named the uplink.
fn rename(node: &mut Node<'static>, key: &str, names: &[String], wanted: &Wanted<'_>) -> bool {
    let Some(value) = node.find_mut(&Path::default().key(key)) else { return false };
    let is_uplink = value.text().is_some_and(|name| names.iter().any(|known| known == name));
    if is_uplink {
        *value = name_node(wanted.name, value.span);
    }
    is_uplink
}

/// A route without a metric gets the bridge's, as from configure-ovs.
fn metric(route: &mut Node<'static>, wanted: &Wanted<'_>) {
    let span = route.span;
    if route.get("metric").is_none()
        && let Value::Mapping(entries) = &mut route.value
    {
        entries.retain(|entry| entry.key != "metric");
        entries.push(entry("metric", word(wanted.metric.to_string(), span)));
    }
}

/// A link-local name server has its interface behind a percent sign.
fn zone(server: &mut Node<'static>, names: &[String], wanted: &Wanted<'_>) {
    let Value::Scalar { text, .. } = &mut server.value else { return };
    if let Some((address, interface)) = text.split_once('%')
        && names.iter().any(|name| name == interface)
    {
        *text = format!("{address}%{}", wanted.name).into();
    }
}
