//! The labels in the tree.

use std::collections::HashMap;

use nmgen_document::Node;
use nmgen_document::diagnostic::Style;
use nmgen_document::format::printable;

const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

pub(super) fn bold(text: &str, style: Style) -> String {
    match style {
        Style::Plain => printable(text),
        Style::Coloured => format!("{BOLD}{}{RESET}", printable(text)),
    }
}

/// Name, type and main property, e.g. `bond0.100  vlan 100`.
pub(super) fn interface(node: &Node<'_>, style: Style) -> String {
    let name = bold(node.text_at("name").unwrap_or("?"), style);
    format!("{name}  {}", properties(node).join("  "))
}

/// Type with main property, MAC address, MTU and state.
pub fn properties(node: &Node<'_>) -> Vec<String> {
    let kind = node.text_at("type").unwrap_or("ethernet");
    let special = match kind {
        "vlan" => node.at(&["vlan", "id"]),
        "vxlan" => node.at(&["vxlan", "id"]),
        "bond" => node.at(&["link-aggregation", "mode"]),
        "vrf" => node.at(&["vrf", "route-table-id"]),
        _ => None,
    };
    let mut text = kind.to_owned();
    if let Some(special) = special.and_then(Node::text) {
        text = format!("{text} {special}");
    }
    let mut all = vec![text];
    for (key, word) in [("mac-address", ""), ("copy-mac-from", "MAC of "), ("mtu", "MTU ")] {
        if let Some(value) = node.text_at(key) {
            all.push(format!("{word}{value}"));
        }
    }
    if let Some(state) = node.text_at("state").filter(|state| *state != "up") {
        all.push(format!("({state})"));
    }
    all.iter().map(|text| printable(text)).collect()
}

/// The routes of a document by their interface, in the document's order.
pub struct Routes<'a>(HashMap<Option<&'a str>, Vec<&'a Node<'a>>>);

impl<'a> Routes<'a> {
    /// Gathers them.
    pub fn of(root: &'a Node<'_>) -> Self {
        let mut routes: HashMap<_, Vec<_>> = HashMap::new();
        for entry in self::routes(root) {
            routes.entry(entry.text_at("next-hop-interface")).or_default().push(entry);
        }
        Self(routes)
    }
}

/// Addresses and routes of an interface, one per line.
pub fn details(node: &Node<'_>, routes: &Routes<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (family, word) in [("ipv4", "IPv4"), ("ipv6", "IPv6")] {
        let Some(ip) = node.get(family) else { continue };
        let is = |key: &str, value: bool| ip.get(key).and_then(Node::boolean) == Some(value);
        if is("enabled", false) {
            continue;
        }
        let automatic: Vec<&str> = [("dhcp", "DHCP"), ("autoconf", "autoconf")]
            .iter()
            .filter(|(key, _)| is(key, true))
            .map(|(_, word)| *word)
            .collect();
        if !automatic.is_empty() {
            lines.push(format!("{word} by {}", automatic.join(" and ")));
        }
        for address in ip.items_at(&["address"]) {
            let (ip, prefix) = (address.text_at("ip"), address.text_at("prefix-length"));
            lines.push(format!("{}/{}", ip.unwrap_or("?"), prefix.unwrap_or("?")));
        }
    }
    // A bridge's routes belong to the interface of the same name.
    if node.text_at("type") != Some("ovs-bridge") {
        let name = node.text_at("name");
        let own = routes.0.get(&name).into_iter().flatten();
        lines.extend(own.map(|entry| route(entry)));
    }
    lines.iter().map(|line| printable(line)).collect()
}

/// Routes through undeclared interfaces, or without an interface.
pub fn other_routes(root: &Node<'_>, named: impl Fn(&str) -> bool) -> Vec<String> {
    let is_other = |entry: &&Node<'_>| !entry.text_at("next-hop-interface").is_some_and(&named);
    let line = |entry: &Node<'_>| {
        let through = entry.text_at("next-hop-interface").map(|name| format!(" dev {name}"));
        printable(&format!("route  {}{}", route(entry), through.unwrap_or_default()))
    };
    routes(root).iter().filter(is_other).map(line).collect()
}

fn routes<'a, 't>(root: &'a Node<'t>) -> &'a [Node<'t>] {
    root.items_at(&["routes", "config"])
}

fn route(entry: &Node<'_>) -> String {
    let mut text = match entry.text_at("destination") {
        Some("0.0.0.0/0" | "::/0") => "default".to_owned(),
        destination => destination.unwrap_or("all routes").to_owned(),
    };
    for (key, word) in [
        ("route-type", " "),
        ("next-hop-address", " via "),
        ("metric", " metric "),
        ("table-id", " table "),
    ] {
        if let Some(value) = entry.text_at(key) {
            text = text + word + value;
        }
    }
    if let Some(state) = entry.text_at("state") {
        text = format!("{text} ({state})");
    }
    text
}

/// Host name and DNS.
pub fn host(root: &Node<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(name) = root.at(&["hostname", "config"]).and_then(Node::text) {
        lines.push(format!("hostname  {name}"));
    }
    for (key, word) in [("server", "DNS"), ("search", "DNS search"), ("options", "DNS options")] {
        let list = root.items_at(&["dns-resolver", "config", key]);
        let values: Vec<&str> = list.iter().filter_map(Node::text).collect();
        if !values.is_empty() {
            lines.push(format!("{word}  {}", values.join(", ")));
        }
    }
    lines.iter().map(|line| printable(line)).collect()
}

/// Cuts to `width` columns; escape sequences take none.
pub fn fit(text: &str, width: usize) -> String {
    let visible = text.replace(BOLD, "").replace(RESET, "");
    if visible.chars().count() <= width {
        return text.to_owned();
    }
    // A cut within an escape sequence would leave the terminal bold.
    visible.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}
