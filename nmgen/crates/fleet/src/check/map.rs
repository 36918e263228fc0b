//! The source's map of network cards against the document: the installers find a card by the map, and give it the map's name.

use nmgen_core::source::{Host, Nic};
use nmgen_core::stack;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::{Document, Node};

rules! {
    warning NIC_MAP_DIFFERS = "nic-map-differs";
}

pub(super) fn check(host: &Host, diagnostics: &mut Diagnostics) {
    let Some(document) = host.document() else { return };
    let interfaces = document.root.get("interfaces").map(Node::items).unwrap_or_default();
    let map: Vec<(&Nic, &str)> =
        host.nics.iter().filter_map(|nic| Some((nic, nic.name.as_deref()?))).collect();
    if map.is_empty() {
        return;
    }
    let cards: Vec<&Node<'_>> = interfaces.iter().filter(|node| is_card(node)).collect();
    // A card that neither the map nor its own address identifies.
    let unknown = cards.iter().find(|card| {
        let name = card.text_at("name").unwrap_or_default();
        card.get("mac-address").is_none() && !map.iter().any(|(_, known)| *known == name)
    });
    for (nic, name) in &map {
        let own = cards.iter().find(|card| card.text_at("name") == Some(name));
        let by_address =
            cards.iter().find(|card| card.mac_at("mac-address") == Some(nic.mac_address));
        let address =
            own.and_then(|own| Some((own.mac_at("mac-address")?, own.get("mac-address")?)));
        let found = match (address, by_address) {
            // The card has another address, which may be another card's.
            (Some((mac, node)), _) if mac != nic.mac_address => {
                let message = format!("{name} has {mac} here and {} in the map of cards", nic.mac_address);
                Some((message, document.place(node.span)))
            }
            (None, Some(other)) if !is_mentioned(interfaces, name) => {
                let other_name = other.text_at("name").unwrap_or_default();
                let message = format!(
                    "{} is {other_name} here and {name} in the map of cards",
                    nic.mac_address
                );
                Some((message, place_of_name(document, other)))
            }
            (None, None) if own.is_none() && !is_mentioned(interfaces, name) => {
                unknown.map(|card| {
                    let card_name = card.text_at("name").unwrap_or_default();
                    let message =
                        format!("the map of cards has {name}, which this document does not; it has {card_name}");
                    (message, place_of_name(document, card))
                })
            }
            _ => None,
        };
        if let Some((message, place)) = found {
            let message = format!("{message} ({})", nic.place.shown());
            diagnostics.push(
                Diagnostic::new(NIC_MAP_DIFFERS, message, place)
                    .help("a card gets the name that the map has for its MAC address"),
            );
        }
    }
}

fn is_card(node: &Node<'_>) -> bool {
    matches!(node.text_at("type"), None | Some("ethernet" | "infiniband"))
        && matches!(node.text_at("state"), None | Some("up"))
}

/// True if an interface of any kind has the name or stands on it.
fn is_mentioned(interfaces: &[Node<'_>], name: &str) -> bool {
    interfaces.iter().any(|node| {
        node.text_at("name") == Some(name)
            || stack::below(node).iter().any(|reference| reference.name == name)
    })
}

fn place_of_name(document: &Document<'_>, node: &Node<'_>) -> nmgen_document::diagnostic::Place {
    document.place(node.get("name").unwrap_or(node).span)
}
