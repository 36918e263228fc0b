//! Compares a host's early document with the one for the running node: both describe one machine.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use nmgen_core::source::{Host, Stage};
use nmgen_core::{interface, stack};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
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

/// An interface with static addresses of a family, identified by its NICs and VLAN.
struct Connection<'d> {
    nics: BTreeSet<&'d str>,
    vlan: Option<u64>,
    family: &'static str,
    addresses: Vec<Address<'d>>,
    /// Gateways of its default routes.
    gateways: Vec<(IpAddr, &'d Node<'d>)>,
}

struct Address<'d> {
    ip: IpAddr,
    node: &'d Node<'d>,
    prefix: Option<(u64, &'d Node<'d>)>,
}

impl<'d> Address<'d> {
    fn of(item: &'d Node<'d>) -> Option<Self> {
        let node = item.get("ip")?;
        let prefix = item.get("prefix-length").and_then(|node| Some((node.number()?, node)));
        Some(Self { ip: node.text()?.parse().ok()?, node, prefix })
    }
}

fn compare(early: &Document<'_>, node: &Document<'_>, diagnostics: &mut Diagnostics) {
    let before = connections(&early.root);
    for later in connections(&node.root) {
        let mut on_same_nics = before
            .iter()
            .filter(|other| other.family == later.family && !other.nics.is_disjoint(&later.nics));
        let same_vlan = on_same_nics.clone().find(|other| other.vlan == later.vlan);
        let mut report = |rule, own: &Node<'_>, text: String, at: &Node<'_>| {
            let message = format!("{text} ({})", early.place(at.span).shown());
            let help = "the node changes its address, gateway or VLAN between its two stages";
            diagnostics.add(rule, node.place(own.span), message, help);
        };
        let moved = on_same_nics.find_map(|other| {
            let address =
                other.addresses.iter().find(|address| later.address(address.ip).is_some());
            Some((other.vlan, address.filter(|_| other.vlan != later.vlan)?))
        });
        if let (Some((vlan, Address { ip, node: at, .. })), Some(own)) =
            (moved, later.addresses.first())
        {
            let (here, there) = (in_vlan(later.vlan), in_vlan(vlan));
            let text = format!("{ip} is {here} here and {there} in the early document");
            report(STAGE_VLAN_DIFFERS, own.node, text, at);
        }
        let Some(other) = same_vlan else { continue };
        if let (Some(own), Some(at)) = (later.addresses.first(), other.addresses.first())
            && other.addresses.iter().all(|address| later.address(address.ip).is_none())
        {
            let text = format!("{} is not an address of this NIC in the early document", own.ip);
            report(STAGE_ADDRESS_DIFFERS, own.node, text, at.node);
        }
        for Address { ip, prefix, .. } in &later.addresses {
            let theirs = other.address(*ip).and_then(|address| address.prefix);
            if let (Some((length, own)), Some((other_length, at))) = (prefix, theirs)
                && *length != other_length
            {
                let text = format!(
                    "{ip} has prefix length {length} here and {other_length} in the early document"
                );
                report(STAGE_ADDRESS_DIFFERS, own, text, at);
            }
        }
        let is_shared = |(ip, _): &(IpAddr, _)| later.gateways.iter().any(|(own, _)| own == ip);
        if let (Some((ip, own)), Some((other_ip, at))) =
            (later.gateways.first(), other.gateways.first())
            && !other.gateways.iter().any(is_shared)
        {
            let text = format!("the gateway is {ip} here and {other_ip} in the early document");
            report(STAGE_GATEWAY_DIFFERS, own, text, at);
        }
    }
}

impl<'d> Connection<'d> {
    fn address(&self, ip: IpAddr) -> Option<&Address<'d>> {
        self.addresses.iter().find(|address| address.ip == ip)
    }
}

fn in_vlan(vlan: Option<u64>) -> String {
    vlan.map_or("untagged".to_owned(), |id| format!("in VLAN {id}"))
}

fn connections<'d>(root: &'d Node<'d>) -> Vec<Connection<'d>> {
    let interfaces = interface::all(root);
    let mut found = Vec::new();
    for interface in interfaces {
        for (family, default) in [("ipv4", "0.0.0.0/0"), ("ipv6", "::/0")] {
            let items = interface.items_at(&[family, "address"]).iter();
            let addresses: Vec<Address<'_>> = items.filter_map(Address::of).collect();
            if addresses.is_empty() {
                continue;
            }
            let name = interface.text_at("name").unwrap_or_default();
            let gateways = gateways(root, name, default);
            let nics = BTreeSet::new();
            let mut connection = Connection { nics, vlan: None, family, addresses, gateways };
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
    if let Some(id) = interface.number_at(&["vlan", "id"]) {
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
        match interfaces.iter().find(|node| {
            node.text_at("name") == Some(port) && node.text_at("type") != Some("ovs-bridge")
        }) {
            Some(node) => descend(interfaces, node, connection, depth + 1),
            None => {
                connection.nics.insert(port);
            }
        }
    }
}

/// The gateways of the routes to a destination by an interface.
fn gateways<'d>(root: &'d Node<'d>, name: &str, to: &str) -> Vec<(IpAddr, &'d Node<'d>)> {
    root.items_at(&["routes", "config"])
        .iter()
        .filter(|route| route.text_at("destination") == Some(to))
        .filter(|route| route.text_at("next-hop-interface") == Some(name))
        .filter_map(|route| route.get("next-hop-address"))
        .filter_map(|node| Some((node.text()?.parse().ok()?, node)))
        .collect()
}
