//! The documents of a node beside the state that somebody has read of it, and a policy beside the document that it is applied
//! after: field by field, by the keys that both have.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use nmgen_core::difference::Inline;
use nmgen_core::source::{Host, Stage};
use nmgen_document::diagnostic::{Diagnostics, Rule, rules};
use nmgen_document::format::counted;
use nmgen_document::mac::Mac;
use nmgen_document::spelling::is_among;
use nmgen_document::text::secret;
use nmgen_document::{Document, Node, Value};

use crate::derive;
use crate::source::Hosts;

rules! {
    warning NODE_STATE_DIFFERS = "node-state-differs";
    warning POLICY_DIFFERS = "policy-differs";
}

/// Differences of one document; the last one tells of more.
const SHOWN: usize = 20;

/// Keys that say how to apply, that nmstate's verification leaves out, or that the kernel answers in other words.
const NOT_COMPARED: &str = "name ip state type description profile-name identifier copy-mac-from \
    wait-ip alt-names dispatch 802.1x options ethernet ethtool controller allow-extra-ports \
    allow-extra-patch-ports";

/// Keys with two names.
const ALIASES: [(&str, &str); 2] = [("ports", "port"), ("bond", "link-aggregation")];

pub(super) fn check(sources: &Hosts, diagnostics: &mut Diagnostics) {
    let policies = by_name(sources.hosts.iter().filter(|host| host.policy.is_some()));
    if sources.states.is_empty() && policies.is_empty() {
        return;
    }
    let states = by_name(sources.states.iter());
    for host in &sources.hosts {
        let (Some(name), Some(own)) = (host.short_name(), host.document()) else { continue };
        let mut changed = HashSet::new();
        if host.policy.is_none() && host.stage != Stage::Early {
            // A policy is applied after the document, and wins.
            let whose =
                || format!("in the document of {} ({})", name.escape_debug(), host.place.shown());
            for policy in policies.get(name).into_iter().flatten() {
                let mut found = Comparison::of(&policy.root, &own.root, false);
                found.retain(|contradiction| !is_masquerade(contradiction.own));
                changed.extend(found.iter().map(|contradiction| contradiction.field.clone()));
                tell(POLICY_DIFFERS, &found, policy, own, &whose(), diagnostics);
            }
        }
        // Two nodes of one name are two clusters'.
        let Some([state]) = states.get(name).map(Vec::as_slice) else { continue };
        if host.policy.is_some() || is_of_running_node(host, own, state) {
            let mut found = Comparison::of(&own.root, &state.root, true);
            found.retain(|contradiction| !changed.contains(&contradiction.field));
            let whose = format!("on {}", name.escape_debug());
            tell(NODE_STATE_DIFFERS, &found, own, state, &whose, diagnostics);
        }
    }
}

type Documents<'h> = Vec<&'h Document<'static>>;

fn by_name<'h>(hosts: impl Iterator<Item = &'h Host>) -> HashMap<&'h str, Documents<'h>> {
    let mut found: HashMap<&str, Documents<'h>> = HashMap::new();
    for host in hosts {
        if let (Some(name), Some(document)) = (host.short_name(), host.document()) {
            found.entry(name).or_default().push(document);
        }
    }
    found
}

/// An early document is not what runs: OVN-Kubernetes's bridge takes the address from its uplink.
fn is_of_running_node(host: &Host, own: &Document<'_>, state: &Document<'_>) -> bool {
    match host.stage {
        Stage::Node => true,
        Stage::Early => false,
        Stage::Any => derive::has_bridge(&own.root) || !derive::has_bridge(&state.root),
    }
}

fn tell(
    rule: Rule,
    found: &[Contradiction<'_>],
    own: &Document<'_>,
    other: &Document<'_>,
    whose: &str,
    diagnostics: &mut Diagnostics,
) {
    let help = match rule == POLICY_DIFFERS {
        true => {
            "the policy is applied after the document, and the document again at the next boot: say it once"
        }
        false => {
            "the node has another one in force, or was changed by hand: `dayone diff` on it shows all"
        }
    };
    for (index, difference) in found.iter().take(SHOWN).enumerate() {
        let at = difference
            .other
            .map(|node| format!(" ({})", other.place(node.span).shown()))
            .unwrap_or_default();
        let mut message = match difference.other {
            Some(node) => {
                format!(
                    "{} is {} here, and {} {whose}{at}",
                    difference.field,
                    Inline(difference.own),
                    Inline(node)
                )
            }
            None => format!("{} is not {whose}", difference.field),
        };
        let more = found.len().saturating_sub(SHOWN);
        if more > 0 && index + 1 == SHOWN {
            message += &format!("; {}", counted(more, "more difference"));
        }
        diagnostics.add(rule, own.place(difference.own.span), message, help);
    }
}

/// A field with another value.
struct Contradiction<'d> {
    /// As in `interfaces[eno1].mtu`.
    field: String,
    own: &'d Node<'static>,
    /// `None` if the other side has nothing of it.
    other: Option<&'d Node<'static>>,
}

/// The comparison of a document with another one, or with a state, in which whatever is missing is not there.
struct Comparison<'d> {
    is_state: bool,
    found: Vec<Contradiction<'d>>,
}

impl<'d> Comparison<'d> {
    fn of(
        own: &'d Node<'static>,
        other: &'d Node<'static>,
        is_state: bool,
    ) -> Vec<Contradiction<'d>> {
        let mut comparison = Self { is_state, found: Vec::new() };
        let others = items(other, &["interfaces"]);
        for interface in items(own, &["interfaces"]) {
            comparison.interface(interface, others);
        }
        for key in ["server", "search"] {
            let list = |root: &'d Node<'static>| root.at(&["dns-resolver", "config", key]);
            if let Some(own) = list(own) {
                let field = format!("dns-resolver.config.{key}");
                match list(other) {
                    Some(other) if own.means_the_same(other) => {}
                    Some(other) => comparison.tell(field, own, Some(other)),
                    None => comparison.missing(field, own),
                }
            }
        }
        let others = items(other, &["routes", "config"]);
        for route in items(own, &["routes", "config"]) {
            comparison.route(route, others);
        }
        comparison.found
    }

    fn tell(&mut self, field: String, own: &'d Node<'static>, other: Option<&'d Node<'static>>) {
        self.found.push(Contradiction { field, own, other });
    }

    /// Something that the other side does not have: a node lacks it, and a document just does not say it.
    fn missing(&mut self, field: String, own: &'d Node<'static>) {
        if self.is_state {
            self.tell(field, own, None);
        }
    }

    fn interface(&mut self, own: &'d Node<'static>, others: &'d [Node<'static>]) {
        let Some(name) = own.text_at("name") else { return };
        let field = format!("interfaces[{}]", name.escape_debug());
        let mac =
            own.mac_at("mac-address").filter(|_| own.text_at("identifier") == Some("mac-address"));
        let other = others.iter().find(|node| match mac {
            Some(mac) => {
                let permanent = node.mac_at("permanent-mac-address");
                permanent.or_else(|| node.mac_at("mac-address")) == Some(mac) && is_card(node)
            }
            None => node.text_at("name") == Some(name) && is_bridge(node) == is_bridge(own),
        });
        let state = |node: &Node<'_>| node.text_at("state").unwrap_or("up").to_owned();
        match (&*state(own), other) {
            ("ignore", _) | ("absent", None) => {}
            (_, None) => self.missing(field, own),
            ("absent", Some(other)) => {
                // A card cannot go.
                if state(other) == "up" && !is_card(other) {
                    let node = |node: &'d Node<'static>| node.get("state").unwrap_or(node);
                    self.tell(field + ".state", node(own), other.get("state"));
                }
            }
            (wanted, Some(other)) if wanted != state(other) => {
                self.tell(field + ".state", own.get("state").unwrap_or(own), other.get("state"));
            }
            ("up", Some(other)) => self.mapping(&field, own, other),
            (_, Some(_)) => {}
        }
    }

    fn mapping(&mut self, at: &str, own: &'d Node<'static>, other: &'d Node<'static>) {
        for entry in own.entries() {
            let key = &*entry.key;
            if is_among(key, NOT_COMPARED) || secret::is_key(key) || entry.node.is_null() {
                continue;
            }
            let is_family = matches!(key, "ipv4" | "ipv6");
            let field = format!("{at}.{}", secret::shown_key(key));
            match (get(other, key), is_family) {
                (Some(other), true) => self.family(&field, &entry.node, other),
                (Some(other), false) => self.value(&field, &entry.node, other),
                (None, _) if self.is_state && is_switch_on(key, &entry.node) => {
                    self.tell(field, &entry.node, None);
                }
                (None, _) => {}
            }
        }
    }

    /// A family that gets its addresses from the network has those that it got.
    fn family(&mut self, at: &str, own: &'d Node<'static>, other: &'d Node<'static>) {
        let is_on = |key| own.is_on(&[key]);
        let is_dynamic = is_on("dhcp") || is_on("autoconf");
        let has_address = own.get("address").is_some_and(|addresses| !addresses.items().is_empty());
        for entry in own.entries() {
            let is_told = match &*entry.key {
                "address" => !is_dynamic,
                // A kernel has no family on an interface without addresses.
                "enabled" => is_dynamic || has_address || !is_on("enabled"),
                _ => true,
            };
            let field = format!("{at}.{}", secret::shown_key(&entry.key));
            match get(other, &entry.key).filter(|_| is_told) {
                Some(other) => self.value(&field, &entry.node, other),
                None if is_told && self.is_state && is_switch_on(&entry.key, &entry.node) => {
                    self.tell(field, &entry.node, None);
                }
                None if is_told && entry.key == "address" => {
                    for item in entry.node.items().iter().filter(|item| !is_link_local(item)) {
                        self.missing(format!("{field}[{}]", shown(item)), item);
                    }
                }
                None => {}
            }
        }
    }

    fn value(&mut self, at: &str, own: &'d Node<'static>, other: &'d Node<'static>) {
        match (&own.value, &other.value) {
            (Value::Mapping(_), Value::Mapping(_)) => self.mapping(at, own, other),
            (Value::Sequence(_), Value::Sequence(_)) => self.list(at, own, other),
            (Value::Scalar { text, .. }, Value::Scalar { text: is, .. }) if !is_same(text, is) => {
                self.tell(at.to_owned(), own, Some(other));
            }
            // Other forms are other words: a bond's mode by its number, say.
            _ => {}
        }
    }

    fn list(&mut self, at: &str, own: &'d Node<'static>, other: &'d Node<'static>) {
        for item in own.items().iter().filter(|item| !is_link_local(item)) {
            let same = other.items().iter().find(|node| is_same(identity(node), identity(item)));
            let field = || format!("{at}[{}]", shown(item));
            match same {
                Some(same) => self.mapping(&field(), item, same),
                // A list of another document replaces this one.
                None if !identity(item).is_empty() => self.tell(field(), item, None),
                None => {}
            }
        }
    }

    fn route(&mut self, own: &'d Node<'static>, others: &'d [Node<'static>]) {
        let Some(destination) =
            own.text_at("destination").filter(|_| own.text_at("state") != Some("absent"))
        else {
            return;
        };
        let has = |other: &Node<'_>, key: &str| {
            own.get(key).is_none_or(|own| other.get(key).is_some_and(|node| same(own, node)))
        };
        let table = |other: &Node<'_>| {
            other.number_at(&["table-id"]).filter(|number| *number != MAIN && *number != 0)
        };
        let alike = others.iter().filter(|other| {
            other.text_at("destination").is_some_and(|text| is_same(text, destination))
                && has(other, "next-hop-interface")
                && table(other) == table(own)
        });
        let alike: Vec<&'d Node<'static>> = alike.collect();
        if alike.iter().any(|other| has(other, "next-hop-address")) {
            return;
        }
        let field = format!("routes.config[{}]", destination.escape_debug());
        match (
            alike.first().and_then(|alike| alike.get("next-hop-address")),
            own.get("next-hop-address"),
        ) {
            (Some(other), Some(own)) => self.tell(field + ".next-hop-address", own, Some(other)),
            _ => self.missing(field, own),
        }
    }
}

/// `RT_TABLE_MAIN`.
const MAIN: u64 = 254;

fn items<'d>(root: &'d Node<'static>, keys: &[&str]) -> &'d [Node<'static>] {
    root.items_at(keys)
}

/// By either name of a key.
fn get<'d>(node: &'d Node<'static>, key: &str) -> Option<&'d Node<'static>> {
    let other = |(alias, usual): &(&'static str, &'static str)| match key {
        _ if key == *alias => Some(*usual),
        _ if key == *usual => Some(*alias),
        _ => None,
    };
    node.get(key).or_else(|| node.get(ALIASES.iter().find_map(other)?))
}

fn is_bridge(interface: &Node<'_>) -> bool {
    interface.text_at("type") == Some("ovs-bridge")
}

fn is_card(interface: &Node<'_>) -> bool {
    matches!(interface.text_at("type"), Some("ethernet" | "infiniband"))
}

/// A switch that is off where a state says nothing.
fn is_switch_on(key: &str, node: &Node<'_>) -> bool {
    matches!(key, "dhcp" | "autoconf") && node.boolean() == Some(true)
}

/// The name by which two items of a list are the same one; empty without one.
fn identity<'n>(item: &'n Node<'_>) -> &'n str {
    item.text_at("name").or_else(|| item.text_at("ip")).or_else(|| item.text()).unwrap_or_default()
}

fn shown(item: &Node<'_>) -> String {
    identity(item).escape_debug().to_string()
}

/// The kernel makes them.
fn is_link_local(item: &Node<'_>) -> bool {
    let ip = item.text_at("ip").and_then(|text| text.parse::<std::net::Ipv6Addr>().ok());
    ip.is_some_and(|ip| ip.is_unicast_link_local())
}

/// An address that OVN-Kubernetes gives br-ex for its own use: a policy has to name it, since nmstate removes all others.
fn is_masquerade(item: &Node<'_>) -> bool {
    let ip = item.text_at("ip").and_then(|text| text.parse().ok());
    ip.is_some_and(|ip: IpAddr| nmgen_core::check::is_of_each_host(&ip))
}

fn same(own: &Node<'_>, other: &Node<'_>) -> bool {
    own.text().zip(other.text()).is_some_and(|(own, other)| is_same(own, other))
}

/// Whether two scalars mean the same, in either spelling of a switch, an address or a name of the kernel's.
fn is_same(own: &str, other: &str) -> bool {
    fn read(text: &str) -> Option<(Option<IpAddr>, Option<Mac>)> {
        let (ip, mac) = (text.parse().ok(), Mac::parse(text));
        (ip.is_some() || mac.is_some()).then_some((ip, mac))
    }
    let switch = |text: &str| match &*text.to_ascii_lowercase() {
        "true" | "yes" | "on" | "y" => Some(true),
        "false" | "no" | "off" | "n" => Some(false),
        _ => None,
    };
    own.eq_ignore_ascii_case(other)
        || (read(own).is_some() && read(own) == read(other))
        || (switch(own).is_some() && switch(own) == switch(other))
}
