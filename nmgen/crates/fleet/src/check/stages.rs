//! Compares a host's early document with the one for the running node: both describe one machine.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use nmgen_core::interface;
use nmgen_core::source::{Host, Stage};
use nmgen_core::stack;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::format::counted;
use nmgen_document::{Document, Node};

use super::member::Member;
use crate::derive;
use crate::parallel::each;
use crate::source::Cluster;

rules! {
    warning STAGE_ADDRESS_DIFFERS = "stage-address-differs";
    warning STAGE_VLAN_DIFFERS = "stage-vlan-differs";
    warning STAGE_GATEWAY_DIFFERS = "stage-gateway-differs";
    warning STAGES_DIFFER = "stages-differ";
}

/// Real stacks are shallower; a cycle is not.
const MAX_DEPTH: usize = 12;

pub(super) fn check(members: &[Member<'_>], cluster: &Cluster, diagnostics: &mut Diagnostics) {
    let mut early: HashMap<&str, (&Host, &Document<'_>)> = HashMap::new();
    for member in members.iter().filter(|member| member.host.stage == Stage::Early) {
        if let (Some(name), Some(document)) = (member.name(), member.host.document()) {
            early.insert(name, (member.host, document));
        }
    }
    let later = members.iter().filter(|member| member.host.stage != Stage::Early);
    let pairs: Vec<_> = later
        .filter_map(|member| {
            let document = member.host.document()?;
            Some((*early.get(member.name()?)?, member.host, document))
        })
        .collect();
    let found = each(&pairs, |((early, before), host, document)| {
        let mut found = Diagnostics::default();
        compare(before, document, &mut found);
        // A contradiction has its own words and place.
        if found.is_empty() && host.policy.is_none() {
            found.extend(difference(early, host, document, cluster));
        }
        found
    });
    diagnostics.extend(found.into_iter().flatten());
}

/// Any other difference from what br-ex makes of the early document.
fn difference(
    early: &Host,
    host: &Host,
    document: &Document<'static>,
    cluster: &Cluster,
) -> Option<Diagnostic> {
    let changes = derive::differences(early, document, cluster)?;
    let first = changes.first()?;
    let others = match changes.len() - 1 {
        0 => String::new(),
        others => format!(", and {}", counted(others, "other difference")),
    };
    let message = format!(
        "the document for the running node is not what br-ex makes of the early one ({}): {first}{others}",
        early.place.shown()
    );
    let help = "`nmgen diff EARLY LATER` shows all; what only one of the two has comes or goes after the pivot";
    Some(Diagnostic::new(STAGES_DIFFER, message, host.place.clone()).help(help))
}

/// An interface with static addresses, identified by its NICs and VLAN.
struct Connection<'d> {
    nics: BTreeSet<&'d str>,
    vlan: Option<u64>,
    family: StageFamily,
    addresses: Vec<(IpAddr, &'d Node<'d>)>,
    /// The prefix length of each address, in the same order.
    prefixes: Vec<Option<(u64, &'d Node<'d>)>>,
    /// Gateways of its default routes.
    gateways: Vec<(IpAddr, &'d Node<'d>)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StageFamily {
    Ipv4,
    Ipv6,
}

fn compare(early: &Document<'_>, node: &Document<'_>, diagnostics: &mut Diagnostics) {
    let before = connections(&early.root);
    for later in connections(&node.root) {
        let mut on_same_nics =
            before.iter().filter(|c| c.family == later.family && !c.nics.is_disjoint(&later.nics));
        let same_vlan = before.iter().find(|c| {
            c.family == later.family && c.vlan == later.vlan && !c.nics.is_disjoint(&later.nics)
        });
        let mut report = |rule, node_at: &Node<'_>, text: String, at: &Node<'_>| {
            let other: Place = early.place(at.span);
            let message = format!("{text} ({})", other.shown());
            diagnostics.push(
                Diagnostic::new(rule, message, node.place(node_at.span))
                    .help("the node changes its address, gateway or VLAN between its two stages"),
            );
        };
        let moved = on_same_nics.find_map(|other| {
            let (ip, at) = other.addresses.iter().find(|(ip, _)| later.has(*ip))?;
            (other.vlan != later.vlan).then_some((other, ip, *at))
        });
        if let (Some((other, ip, at)), Some((_, own))) = (moved, later.addresses.first()) {
            let text = format!(
                "{ip} is {} here and {} in the early document",
                in_vlan(later.vlan),
                in_vlan(other.vlan)
            );
            report(STAGE_VLAN_DIFFERS, own, text, at);
        }
        let Some(other) = same_vlan else { continue };
        if let ((Some((ip, own)), Some((_, at))), false) = (
            (later.addresses.first(), other.addresses.first()),
            other.addresses.iter().any(|(ip, _)| later.has(*ip)),
        ) {
            report(
                STAGE_ADDRESS_DIFFERS,
                own,
                format!("{ip} is not an address of this NIC in the early document"),
                at,
            );
        }
        for (ip, own, length, (other_length, at)) in later.other_prefixes(other) {
            let text = format!(
                "{ip} has prefix length {length} here and {other_length} in the early document"
            );
            report(STAGE_ADDRESS_DIFFERS, own, text, at);
        }
        if let (Some((ip, own)), Some((other_ip, at))) =
            (later.gateways.first(), other.gateways.first())
            && !other
                .gateways
                .iter()
                .any(|(other, _)| later.gateways.iter().any(|(g, _)| g == other))
        {
            let text = format!("the gateway is {ip} here and {other_ip} in the early document");
            report(STAGE_GATEWAY_DIFFERS, own, text, at);
        }
    }
}

impl<'d> Connection<'d> {
    /// Addresses with different prefix lengths in the two documents.
    fn other_prefixes<'s>(
        &'s self,
        other: &'s Self,
    ) -> impl Iterator<Item = (IpAddr, &'d Node<'d>, u64, (u64, &'d Node<'d>))> + 's {
        let of = |connection: &'s Self| connection.addresses.iter().zip(&connection.prefixes);
        of(self).filter_map(move |((ip, _), prefix)| {
            let (length, own) = (*prefix)?;
            let (_, theirs) = of(other).find(|((their_ip, _), _)| their_ip == ip)?;
            let theirs = (*theirs)?;
            (theirs.0 != length).then_some((*ip, own, length, theirs))
        })
    }

    fn has(&self, ip: IpAddr) -> bool {
        self.addresses.iter().any(|(own, _)| *own == ip)
    }
}

fn in_vlan(vlan: Option<u64>) -> String {
    vlan.map_or("untagged".to_owned(), |id| format!("in VLAN {id}"))
}

fn connections<'d>(root: &'d Node<'d>) -> Vec<Connection<'d>> {
    let interfaces = interface::all(root);
    let mut found = Vec::new();
    for interface in interfaces {
        for (section, family) in [("ipv4", StageFamily::Ipv4), ("ipv6", StageFamily::Ipv6)] {
            let list = interface.at(&[section, "address"]).map(Node::items).unwrap_or_default();
            let prefix = |item: &'d Node<'d>| {
                let node = item.get("prefix-length")?;
                Some((node.number()?, node))
            };
            let (addresses, prefixes): (Vec<_>, Vec<_>) = list
                .iter()
                .filter_map(|item| Some((item.get("ip")?, prefix(item))))
                .filter_map(|(node, prefix)| Some(((node.text()?.parse().ok()?, node), prefix)))
                .unzip();
            if addresses.is_empty() {
                continue;
            }
            let name = interface.text_at("name").unwrap_or_default();
            let mut connection = Connection {
                nics: BTreeSet::new(),
                vlan: None,
                family,
                addresses,
                prefixes,
                gateways: gateways(root, name, family),
            };
            descend(interfaces, interface, &mut connection, 0);
            found.push(connection);
        }
    }
    found
}

/// Collects the NICs and the VLAN below an interface.
fn descend<'d>(
    interfaces: &'d [Node<'d>],
    interface: &'d Node<'d>,
    connection: &mut Connection<'d>,
    depth: usize,
) {
    if let Some(id) = interface.at(&["vlan", "id"]).and_then(Node::number) {
        connection.vlan = Some(id);
    }
    let Some(name) = interface.text_at("name") else { return };
    // An ovs-interface belongs to the bridge that lists it.
    let is_port = |bridge: &&Node<'_>| {
        bridge.text_at("type") == Some("ovs-bridge")
            && stack::bridge_port_names(bridge).contains(&name)
    };
    let below: Vec<&str> = match interface.text_at("type") {
        Some("ovs-interface") => {
            let bridge = interfaces.iter().find(is_port);
            let ports = bridge.map(stack::below).unwrap_or_default();
            ports.into_iter().map(|port| port.name).filter(|port| *port != name).collect()
        }
        _ => stack::below(interface).into_iter().map(|port| port.name).collect(),
    };
    if below.is_empty() || depth >= MAX_DEPTH {
        connection.nics.insert(name);
        return;
    }
    for port in below {
        let is_it = |node: &&Node<'_>| {
            node.text_at("name") == Some(port) && node.text_at("type") != Some("ovs-bridge")
        };
        match interfaces.iter().find(is_it) {
            Some(node) => descend(interfaces, node, connection, depth + 1),
            None => {
                connection.nics.insert(port);
            }
        }
    }
}

fn gateways<'d>(
    root: &'d Node<'d>,
    name: &str,
    family: StageFamily,
) -> Vec<(IpAddr, &'d Node<'d>)> {
    let destination = match family {
        StageFamily::Ipv4 => "0.0.0.0/0",
        StageFamily::Ipv6 => "::/0",
    };
    let routes = root.at(&["routes", "config"]).map(Node::items).unwrap_or_default();
    routes
        .iter()
        .filter(|route| route.text_at("destination") == Some(destination))
        .filter(|route| route.text_at("next-hop-interface") == Some(name))
        .filter_map(|route| route.get("next-hop-address"))
        .filter_map(|node| Some((node.text()?.parse().ok()?, node)))
        .collect()
}
