//! The source's map of network cards against the document: the installers find a card by the map, and give it the map's name.

use std::collections::{BTreeMap, HashMap, HashSet};

use nmgen_core::check::name::is_predictable;
use nmgen_core::source::{Host, Nic};
use nmgen_core::stack::{self, Relation};
use nmgen_core::{Mac, interface};
use nmgen_document::diagnostic::{Diagnostics, rules};
use nmgen_document::{Document, Node};

use crate::source::Cluster;

rules! {
    warning NIC_MAP_DIFFERS = "nic-map-differs";
    warning NIC_MAP_INCOMPLETE = "nic-map-incomplete";
    error NIC_MAP_TWICE = "nic-map-twice";
    warning BOOT_MAC_UNKNOWN = "boot-mac-unknown";
}

pub(super) fn check(host: &Host, cluster: &Cluster, diagnostics: &mut Diagnostics) {
    let Some(document) = host.document() else { return };
    let interfaces = interface::all(&document.root);
    let map: Vec<(&Nic, &str)> =
        host.nics.iter().filter_map(|nic| Some((nic, nic.name.as_deref()?))).collect();
    let cards: Vec<&Node<'_>> = interfaces.iter().filter(|node| is_card(node)).collect();
    if !cluster.has_provisioning_network {
        boot_card(host, interfaces, &cards, diagnostics);
    }
    twice(&map, diagnostics);
    let differing = differing(document, &map, &cards, diagnostics);
    // A host without any entry is told by its source.
    if host.needs_map && !map.is_empty() {
        incomplete(document, &map, &differing, diagnostics);
    }
}

/// Tells of entries that the document contradicts, and returns the names of the cards that they are about.
fn differing<'d>(
    document: &'d Document<'_>,
    map: &[(&Nic, &str)],
    cards: &[&'d Node<'_>],
    diagnostics: &mut Diagnostics,
) -> HashSet<&'d str> {
    let interfaces = interface::all(&document.root);
    let mut differing = HashSet::new();
    let known: HashSet<&str> = map.iter().map(|(_, name)| *name).collect();
    let mentioned = mentioned(interfaces);
    // A card that neither the map nor its own address identifies.
    let unknown = cards.iter().find(|card| {
        let name = card.text_at("name").unwrap_or_default();
        card.mac_at("mac-address").is_none() && !known.contains(name)
    });
    for (nic, name) in map {
        let own = cards.iter().find(|card| card.text_at("name") == Some(name));
        let by_address =
            cards.iter().find(|card| card.mac_at("mac-address") == Some(nic.mac_address));
        let address =
            own.and_then(|own| Some((own.mac_at("mac-address")?, own.get("mac-address")?)));
        let found = match (address, by_address) {
            // The card has another address, which may be another card's.
            (Some((mac, node)), _) if mac != nic.mac_address => {
                let message =
                    format!("{name} has {mac} here and {} in the map of cards", nic.mac_address);
                Some((message, document.place(node.span)))
            }
            (None, Some(other)) if !mentioned.contains(name) => {
                let other_name = other.text_at("name").unwrap_or_default();
                differing.insert(other_name);
                let message = format!(
                    "{} is {other_name} here and {name} in the map of cards",
                    nic.mac_address
                );
                Some((message, place_of_name(document, other)))
            }
            (None, None) if own.is_none() && !mentioned.contains(name) => unknown.map(|card| {
                let card_name = card.text_at("name").unwrap_or_default();
                differing.insert(card_name);
                let message = format!(
                    "the map of cards has {name}, which this document does not; it has {card_name}"
                );
                (message, place_of_name(document, card))
            }),
            _ => None,
        };
        if let Some((message, place)) = found {
            let message = format!("{message} ({})", nic.place.shown());
            let help = "a card gets the name that the map has for its MAC address";
            diagnostics.add(NIC_MAP_DIFFERS, place, message, help);
        }
    }
    differing
}

/// Tells of cards that assisted-service asks an entry for: those that get a profile by a name that no card has of itself. One that
/// an entry has under another name is told already.
fn incomplete(
    document: &Document<'_>,
    map: &[(&Nic, &str)],
    differing: &HashSet<&str>,
    diagnostics: &mut Diagnostics,
) {
    let interfaces = interface::all(&document.root);
    let known: HashSet<&str> = map.iter().map(|(_, name)| *name).collect();
    let references = interfaces.iter().flat_map(stack::below);
    let references = references.filter(|reference| reference.role == Relation::Port);
    let ports: HashSet<&str> = references.map(|reference| reference.name).collect();
    let declared = interfaces.iter().filter(|node| {
        node.text_at("type") == Some("ethernet")
            && interface::is_up(node)
            && node.get("veth").is_none()
            && node.text_at("identifier") != Some("mac-address")
    });
    let undeclared = stack::undeclared(&document.root).into_iter();
    let undeclared = undeclared.filter(|node| node.text().is_some_and(|name| ports.contains(name)));
    for node in declared.filter_map(|node| node.get("name")).chain(undeclared) {
        let Some(name) = node.text() else { continue };
        if is_predictable(name) || known.contains(name) || differing.contains(name) {
            continue;
        }
        let message = format!("{name} has no entry in the map of cards");
        let help = "assisted-service refuses the host: give the map its MAC address";
        diagnostics.add(NIC_MAP_INCOMPLETE, document.place(node.span), message, help);
    }
}

/// Tells of names and addresses that several entries have.
fn twice(map: &[(&Nic, &str)], diagnostics: &mut Diagnostics) {
    let mut names: HashMap<&str, &Nic> = HashMap::new();
    let mut addresses: BTreeMap<Mac, (&Nic, &str)> = BTreeMap::new();
    for (nic, name) in map {
        let by_name = names.get(name);
        let by_address = addresses.get(&nic.mac_address);
        let message = match (by_name, by_address) {
            (Some(other), _) => {
                format!("the map of cards has {name} already ({})", other.place.shown())
            }
            (None, Some((other, known))) => {
                format!(
                    "the map of cards has {} already, as {known} ({})",
                    nic.mac_address,
                    other.place.shown()
                )
            }
            (None, None) => {
                names.insert(name, nic);
                addresses.insert(nic.mac_address, (nic, name));
                continue;
            }
        };
        let help = "each card has one name and one address: the installers refuse the map";
        diagnostics.add(NIC_MAP_TWICE, nic.place.clone(), message, help);
    }
}

/// The card that the machine boots by, among those whose addresses are known: all of the map's, or all of the document's.
fn boot_card(
    host: &Host,
    interfaces: &[Node<'_>],
    cards: &[&Node<'_>],
    diagnostics: &mut Diagnostics,
) {
    let Some(boot) = host.nics.iter().find(|nic| nic.name.is_none()) else { return };
    let has_map = host.nics.iter().any(|nic| nic.name.is_some());
    let has_addresses = || cards.iter().all(|card| card.mac_at("mac-address").is_some());
    let is_complete = has_map || (!cards.is_empty() && has_addresses());
    let is_mapped =
        || host.nics.iter().any(|nic| nic.name.is_some() && nic.mac_address == boot.mac_address);
    let is_declared =
        || interfaces.iter().any(|node| node.mac_at("mac-address") == Some(boot.mac_address));
    if is_complete && !is_mapped() && !is_declared() {
        let message = format!("{} is the address of none of this host's cards", boot.mac_address);
        let help =
            "the machine is found by the card that it boots by: correct it, or add that card";
        diagnostics.add(BOOT_MAC_UNKNOWN, boot.place.clone(), message, help);
    }
}

pub(super) fn is_card(node: &Node<'_>) -> bool {
    matches!(node.text_at("type"), None | Some("ethernet" | "infiniband")) && interface::is_up(node)
}

/// The names of interfaces of any kind, and of those that they stand on.
fn mentioned<'n>(interfaces: &'n [Node<'_>]) -> HashSet<&'n str> {
    let own = interfaces.iter().filter_map(|node| node.text_at("name"));
    own.chain(interfaces.iter().flat_map(stack::below).map(|reference| reference.name)).collect()
}

fn place_of_name(document: &Document<'_>, node: &Node<'_>) -> nmgen_document::diagnostic::Place {
    document.place(node.get("name").unwrap_or(node).span)
}
