//! The cards of a bond as one of Open vSwitch in mode balance-slb, as in OpenShift's documentation: in a bridge of its own, which
//! patch ports connect with br-ex.

use nmgen_core::check::bond_mode;
use nmgen_core::interface::{is_up, kind};
use nmgen_core::stack::{self, Relation};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::text::Span;
use nmgen_document::{Document, Entry, Node, Step, Value};

use super::bridge::{self, Replacements, mac_source, name_span};
use super::interfaces::{Index, Interfaces, has_addresses};
use super::new::{entry, list, mapping, name_node, named, up, word};
use super::references::TUNNELS;
use super::uplink::interface_place;
use super::verify::UPLINK_TYPE;
use super::wanted::{BalanceSlb, Wanted};

rules! {
    error UPLINK_NO_BOND = "uplink-no-bond";
    error UPLINK_ONE_PORT = "uplink-one-port";
    error UPLINK_WITH_AGGREGATE = "uplink-with-aggregate";
    error UPLINK_BOND_IN_USE = "uplink-bond-in-use";
}

pub(super) const MODE: &str = "balance-slb";
/// Open vSwitch's names of a bond's delays, and the kernel's.
const DELAYS: &[(&str, &str)] = &[("bond-updelay", "updelay"), ("bond-downdelay", "downdelay")];
const CARDS: &[&str] = &["ethernet", "veth", "unknown"];

/// The uplink's bond, which goes.
struct Bond<'a> {
    index: Index,
    node: &'a Node<'static>,
    name: &'a str,
    cards: Vec<&'a str>,
    /// The tag of the uplink, if that is a VLAN on the bond.
    tag: Option<&'a Node<'static>>,
}

/// The bridges, the patch ports and br-ex's interface in the place of the uplink.
pub(super) fn build(
    document: &Document<'_>,
    interfaces: &Interfaces<'_>,
    uplink: Index,
    wanted: &Wanted<'_>,
    names: &BalanceSlb,
) -> Result<Replacements, Diagnostics> {
    let Some(node) = interfaces.all.get(uplink) else { return Ok(Vec::new()) };
    let bond = bond(document, interfaces, uplink, wanted)?;
    unused(document, interfaces, uplink, &bond)?;
    let span = name_span(node);
    let mut stack = vec![node];
    stack.extend((bond.index != uplink).then_some(bond.node));
    let card =
        |name| (0..interfaces.all.len()).find(|index| interfaces.names(*index).contains(&name));
    let first = bond.cards.first().copied().unwrap_or_default();
    stack.extend(card(first).and_then(|index| interfaces.all.get(index)));
    let gone: Vec<&str> = [uplink, bond.index].map(|index| interfaces.names(index)).concat();
    let mac = mac_source(&stack, &gone, first, span);
    let mut new = vec![
        absent(node),
        br_ex(span, wanted, names),
        bridge::interface(interfaces, uplink, node, mac, wanted),
        br_phy(span, names, &bond),
        patch(&names.patch, &names.peer, span),
        patch(&names.peer, &names.patch, span),
    ];
    let mut replacements = Replacements::new();
    for name in &bond.cards {
        match card(name) {
            Some(index) => {
                let own = interfaces.all.get(index).map(|node| port(node, &bond, &gone));
                replacements.push((index, own.into_iter().collect()));
            }
            None => new.push(undeclared(name, span, &bond)),
        }
    }
    if bond.index != uplink {
        replacements.push((bond.index, vec![absent(bond.node)]));
    }
    replacements.push((uplink, new));
    Ok(replacements)
}

/// The bond that the uplink is, or is a VLAN on.
fn bond<'a>(
    document: &Document<'_>,
    interfaces: &Interfaces<'a>,
    uplink: Index,
    wanted: &Wanted<'_>,
) -> Result<Bond<'a>, Diagnostics> {
    let fault = |index, rule, message: String, help: &str| {
        Err(Diagnostic::new(rule, message, interface_place(document, index)).help(help).into())
    };
    let (all, bridge) = (interfaces.all, wanted.name);
    let node_at = |index: Index| all.get(index).filter(|node| kind(node) == "bond");
    let of =
        |index: Index| all.get(index).and_then(|node| node.text_at("name")).unwrap_or_default();
    let tag = all.get(uplink).filter(|node| kind(node) == "vlan").and_then(|node| node.get("vlan"));
    let index = tag.and_then(|_| interfaces.base(uplink)).unwrap_or(uplink);
    let name = of(uplink);
    let Some(node) = node_at(index) else {
        let what = match all.get(uplink).map_or("unknown", kind) {
            "vlan" => "is on no bond".to_owned(),
            kind => format!("is of type {kind}"),
        };
        let message =
            format!("{name}, the uplink of {bridge}, {what}: {MODE} takes the cards of a bond");
        let help =
            "make a bond of the host's cards in the early document, or leave --balance-slb out";
        return fault(uplink, UPLINK_NO_BOND, message, help);
    };
    if !tag.is_none_or(|vlan| {
        let has_id = vlan.number_at(&["id"]).is_some();
        has_id && vlan.text_at("protocol").is_none_or(|protocol| protocol == "802.1q")
    }) {
        let message =
            format!("{name} has no tag of 802.1q, which a port of Open vSwitch could add");
        let help = "give it an id, and no other protocol, or leave --balance-slb out";
        return fault(uplink, UPLINK_TYPE, message, help);
    }
    let below = stack::below(node);
    let cards: Vec<&str> = below
        .iter()
        .filter(|reference| reference.role == Relation::Port)
        .map(|reference| reference.name)
        .collect();
    let name = of(index);
    if cards.len() < 2 {
        let message = format!("bond {name} has fewer than two ports, and {MODE} needs two");
        let help = "list another card in link-aggregation.port, or leave --balance-slb out";
        return fault(index, UPLINK_ONE_PORT, message, help);
    }
    if let Some(mode) = aggregate(node) {
        let message = match mode {
            "802.3ad" => format!("bond {name} speaks LACP, and {MODE} does not"),
            mode => format!(
                "bond {name} in mode {mode} needs an aggregate at the switch, and {MODE} none"
            ),
        };
        let help = "where the switch's ports are no aggregate, give the early bond mode: active-backup; \
                    else leave --balance-slb out";
        return fault(index, UPLINK_WITH_AGGREGATE, message, help);
    }
    for (other, node) in all.iter().enumerate().filter(|(_, node)| !CARDS.contains(&kind(node))) {
        let names = interfaces.names(other);
        if let Some(card) = cards.iter().find(|card| names.contains(card)) {
            let message = format!("{card} is of type {}, no card that {MODE} can have", kind(node));
            let help = "the bond's ports have to be NICs; leave --balance-slb out otherwise";
            return fault(other, UPLINK_TYPE, message, help);
        }
    }
    Ok(Bond { index, node, name, cards, tag: tag.and_then(|vlan| vlan.get("id")) })
}

/// The bond's mode, if the switch's ports have to be an aggregate for it (bonding.rst, Switch Configuration); balance-xor
/// needs none with its own option balance-slb.
fn aggregate(bond: &Node<'static>) -> Option<&'static str> {
    let section = section(bond)?;
    let is_slb = || {
        let option = section.at(&["options", MODE]).and_then(Node::text);
        option.is_some_and(|option| matches!(option, "true" | "1" | "yes" | "on"))
    };
    match bond_mode(section.text_at("mode")?)? {
        "balance-xor" if is_slb() => None,
        mode @ ("802.3ad" | "balance-rr" | "balance-xor" | "broadcast") => Some(mode),
        _ => None,
    }
}

/// Nothing else may need the bond, nor a VLAN that is the uplink: they go. Tunnels follow the uplink's addresses.
fn unused(
    document: &Document<'_>,
    interfaces: &Interfaces<'_>,
    uplink: Index,
    bond: &Bond<'_>,
) -> Result<(), Diagnostics> {
    let name = bond.name;
    let fault = |index, message: String| {
        let help = "give it another card in the early document, or leave --balance-slb out";
        Err(Diagnostic::new(UPLINK_BOND_IN_USE, message, interface_place(document, index))
            .help(help)
            .into())
    };
    let is_vlan = bond.index != uplink;
    if is_vlan && has_addresses(bond.node) {
        return fault(
            bond.index,
            format!(
                "bond {name} has addresses of its own, and a node with {MODE} has no such bond"
            ),
        );
    }
    let (own, of_bond) = (interfaces.names(uplink), interfaces.names(bond.index));
    for (index, node) in interfaces.all.iter().enumerate() {
        if index == uplink || !is_up(node) {
            continue;
        }
        let follows = |steps: &[Step]| match steps.first() {
            Some(Step::Key(section)) => TUNNELS.contains(&&**section),
            _ => false,
        };
        let needs =
            stack::below(node).into_iter().find(|reference| match own.contains(&reference.name) {
                true => !follows(&reference.steps),
                false => of_bond.contains(&reference.name),
            });
        if let (Some(needed), Some(upper)) = (needs, node.text_at("name")) {
            let message =
                format!("{upper} is on {}, which a node with {MODE} does not have", needed.name);
            return fault(index, message);
        }
    }
    Ok(())
}

/// The section with a bond's ports and options.
fn section<'n>(node: &'n Node<'static>) -> Option<&'n Node<'static>> {
    node.get("link-aggregation").or_else(|| node.get("bond"))
}

/// `absent`: the early profile may still be there, and would keep the cards, and the addresses.
fn absent(node: &Node<'static>) -> Node<'static> {
    let kept = node.entries().iter().filter(|entry| matches!(&*entry.key, "name" | "type"));
    let state = entry("state", word("absent", name_span(node)));
    mapping(kept.cloned().chain([state]).collect(), node.span)
}

/// OVN-Kubernetes takes a card for the uplink by itself, but no patch port.
fn br_ex(span: Span, wanted: &Wanted<'_>, names: &BalanceSlb) -> Node<'static> {
    let mut node = bridge::bridge(named(&names.patch, span), span, wanted);
    let uplink = entry("bridge-uplink", name_node(&names.patch, span));
    let ids = mapping(vec![entry("external_ids", mapping(vec![uplink], span))], span);
    if let Value::Mapping(entries) = &mut node.value {
        entries.push(entry("ovs-db", ids));
    }
    with_extra_ports(node, span)
}

/// The bridge with the bond; a tag is that of the patch port, so that br-ex has none.
fn br_phy(span: Span, names: &BalanceSlb, bond: &Bond<'_>) -> Node<'static> {
    let mut patch = vec![entry("name", name_node(&names.peer, span))];
    patch.extend(bond.tag.map(|tag| {
        let access = vec![entry("mode", word("access", span)), entry("tag", tag.clone())];
        entry("vlan", mapping(access, span))
    }));
    let mut aggregation = vec![entry("mode", word(MODE, span))];
    let options = section(bond.node).and_then(|section| section.get("options"));
    aggregation.extend(DELAYS.iter().filter_map(|(name, option)| {
        let value = options?.get(option).filter(|value| value.number() != Some(0))?;
        Some(entry(name, value.clone()))
    }));
    let cards = bond.cards.iter().map(|card| named(card, span)).collect();
    aggregation.push(entry("port", list(cards, span)));
    let aggregated = vec![
        entry("name", name_node(&names.bond, span)),
        entry("link-aggregation", mapping(aggregation, span)),
    ];
    let ports = list(vec![mapping(patch, span), mapping(aggregated, span)], span);
    let options = entry("bridge", mapping(vec![entry("port", ports)], span));
    with_extra_ports(up(&names.bridge, "ovs-bridge", span, [options]), span)
}

/// OVN adds patch ports to both bridges, for the networks of virtual machines.
fn with_extra_ports(mut node: Node<'static>, span: Span) -> Node<'static> {
    let path = nmgen_document::Path::default().key("bridge");
    if let Some(Node { value: Value::Mapping(entries), .. }) = node.find_mut(&path) {
        entries.insert(0, entry("allow-extra-patch-ports", word("true", span)));
    }
    node
}

fn patch(name: &str, peer: &str, span: Span) -> Node<'static> {
    let patch = entry("patch", mapping(vec![entry("peer", name_node(peer, span))], span));
    up(name, "ovs-interface", span, [patch])
}

/// A card with the MTU of its bond, which the kernel gives to a bond's ports.
fn port(node: &Node<'static>, bond: &Bond<'_>, gone: &[&str]) -> Node<'static> {
    let mtu = bond.node.entry("mtu").filter(|mtu| !mtu.node.is_null());
    let is_kept = |entry: &&Entry<'_>| match &*entry.key {
        "mtu" => mtu.is_none(),
        "controller" => !entry.node.text().is_some_and(|name| gone.contains(&name)),
        _ => true,
    };
    let kept = node.entries().iter().filter(is_kept).chain(mtu);
    mapping(kept.cloned().collect(), node.span)
}

/// A card that only the list of the bond's ports names.
fn undeclared(name: &str, span: Span, bond: &Bond<'_>) -> Node<'static> {
    let mtu = bond.node.entry("mtu").filter(|mtu| !mtu.node.is_null());
    up(name, "ethernet", span, mtu.cloned())
}
