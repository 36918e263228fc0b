//! The uplink: the interface that br-ex takes the addresses of.

use nmgen_core::source::Host;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::{Document, Node, Path};

use super::interfaces::{Index, Interfaces, addresses, is_automatic};
use crate::source::Cluster;

rules! {
    error UPLINK_UNKNOWN = "uplink-unknown";
    error UPLINK_AMBIGUOUS = "uplink-ambiguous";
    error UPLINK_UNDECLARED = "uplink-undeclared";
}

struct Candidate<'a> {
    name: &'a str,
    family: &'static str,
    metric: Option<u64>,
    place: Place,
}

/// The interface that the caller names.
pub(super) fn named(
    document: &Document<'_>,
    host: &Host,
    interfaces: &Interfaces<'_>,
    name: &str,
) -> Result<Index, Diagnostics> {
    interfaces.find(name).ok_or_else(|| {
        let known: Vec<&str> = interfaces.up().map(|(_, name, _)| name).collect();
        let help = match known.is_empty() {
            true => "the document has no interface that is up".to_owned(),
            false => format!("the document has {}", known.join(", ")),
        };
        let message = format!("{} has no interface {}", of(host), name.escape_debug());
        Diagnostic::new(UPLINK_UNDECLARED, message, place(document)).help(help).into()
    })
}

/// The interface with the default route, else the one with an address in the cluster's machine
/// network.
pub(super) fn found(
    document: &Document<'_>,
    host: &Host,
    interfaces: &Interfaces<'_>,
    cluster: &Cluster,
) -> Result<Index, Diagnostics> {
    let routed = routes(document);
    let (candidates, reason) = match routed.is_empty() {
        false => (routed, "has a default route"),
        true => (automatic(document, interfaces), "gets its default route from the network"),
    };
    let (candidates, reason) = match candidates.is_empty() {
        false => (candidates, reason),
        true => {
            (in_machine_network(document, interfaces, cluster), "has an address in machineNetwork")
        }
    };
    let mut best = preferred(candidates);
    let Some(first) = best.first() else {
        let message =
            format!("{} has no default route, so the uplink of br-ex is unknown", of(host));
        let help = "add the default route, or name the uplink: --uplink NAME, --uplink HOST=NAME for one host";
        return Err(Diagnostic::new(UPLINK_UNKNOWN, message, place(document)).help(help).into());
    };
    if let Some(other) = best.iter().find(|other| other.name != first.name) {
        let (name, own) = (first.name, other.name);
        let message = match first.family == other.family {
            true => format!("{own} {reason}, like {name} ({})", first.place.shown()),
            false => format!(
                "{own} {reason} of {}, {name} the one of {} ({})",
                other.family,
                first.family,
                first.place.shown()
            ),
        };
        let help = format!(
            "name the uplink of br-ex: --uplink {name} or --uplink {own}, --uplink HOST=NAME for one host"
        );
        return Err(Diagnostic::new(UPLINK_AMBIGUOUS, message, other.place.clone())
            .help(help)
            .into());
    }
    let first = best.swap_remove(0);
    interfaces.find(first.name).ok_or_else(|| {
        let message =
            format!("the default route is by {}, which the document does not declare", first.name);
        Diagnostic::new(UPLINK_UNDECLARED, message, first.place)
            .help("declare the interface with its addresses: br-ex takes them")
            .into()
    })
}

/// The candidates with the lowest metric of each family. An unknown metric is neither lower nor higher.
fn preferred(candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    let lowest = |family| {
        let of_family = || candidates.iter().filter(move |candidate| candidate.family == family);
        let is_known = of_family().all(|candidate| candidate.metric.is_some());
        of_family().map(|candidate| candidate.metric).min().flatten().filter(|_| is_known)
    };
    let lowest = [("IPv4", lowest("IPv4")), ("IPv6", lowest("IPv6"))];
    let is_lowest = |candidate: &Candidate<'_>| {
        lowest.iter().all(|(family, metric)| {
            *family != candidate.family || metric.is_none() || *metric == candidate.metric
        })
    };
    candidates.into_iter().filter(is_lowest).collect()
}

/// Default routes of the main table.
fn routes<'a>(document: &'a Document<'_>) -> Vec<Candidate<'a>> {
    let list = document.root.items_at(&["routes", "config"]);
    let candidate = |route: &'a Node<'_>| {
        let family = match route.text_at("destination")? {
            "0.0.0.0/0" => "IPv4",
            "::/0" => "IPv6",
            _ => return None,
        };
        let is_kept = !matches!(route.text_at("state"), Some("absent" | "ignore"));
        // 0 and 254 are the main table.
        let table = route.number_at(&["table-id"]).unwrap_or(0);
        let node = route.get("next-hop-interface")?;
        (is_kept && matches!(table, 0 | 254)).then_some(Candidate {
            name: node.text()?,
            family,
            metric: route.number_at(&["metric"]),
            place: document.place(node.span),
        })
    };
    list.iter().filter_map(candidate).collect()
}

/// Interfaces whose default route comes from DHCP or router advertisements.
fn automatic<'a>(document: &Document<'_>, interfaces: &Interfaces<'a>) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    for (key, family) in [("ipv4", "IPv4"), ("ipv6", "IPv6")] {
        for (index, name, node) in interfaces.up() {
            let is_off = |option| node.at(&[key, option]).and_then(Node::boolean) == Some(false);
            let has_table = node.number_at(&[key, "auto-route-table-id"]);
            let is_main = matches!(has_table.unwrap_or(0), 0 | 254);
            if is_automatic(node, key)
                && is_main
                && !is_off("auto-gateway")
                && !is_off("auto-routes")
            {
                let metric = node.number_at(&[key, "auto-route-metric"]);
                found.push(Candidate {
                    name,
                    family,
                    metric,
                    place: interface_place(document, index),
                });
            }
        }
    }
    // IPv6 of a second NIC is often on by default; DHCPv4 is a decision.
    let has_v4 = found.iter().any(|candidate| candidate.family == "IPv4");
    found.retain(|candidate| !has_v4 || candidate.family == "IPv4");
    found
}

fn in_machine_network<'a>(
    document: &Document<'_>,
    interfaces: &Interfaces<'a>,
    cluster: &Cluster,
) -> Vec<Candidate<'a>> {
    let is_in = |node: &Node<'_>| {
        let networks = &cluster.machine_networks;
        addresses(node).iter().any(|ip| networks.iter().any(|network| network.network.contains(ip)))
    };
    let candidates = interfaces.up().filter(|(_, _, node)| is_in(node));
    candidates
        .map(|(index, name, node)| {
            let family = if node.is_on(&["ipv4", "enabled"]) { "IPv4" } else { "IPv6" };
            Candidate { name, family, metric: None, place: interface_place(document, index) }
        })
        .collect()
}

/// The place of an interface's name.
pub(super) fn interface_place(document: &Document<'_>, index: Index) -> Place {
    document.place_at(&Path::default().key("interfaces").index(index).key("name"))
}

/// The place of the list of interfaces.
pub(super) fn place(document: &Document<'_>) -> Place {
    document.place_at(&Path::default().key("interfaces"))
}

fn of(host: &Host) -> &str {
    host.name.as_deref().unwrap_or("the document")
}
