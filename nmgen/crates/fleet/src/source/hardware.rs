//! Hosts' hardware as an inspection, an agent or the node itself has told it: facts that documents are compared with. Whatever is
//! missing or odd in it is passed over, since programs wrote it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nmgen_core::interface;
use nmgen_document::Node;
use nmgen_document::diagnostic::Place;
use nmgen_document::mac::Mac;
use nmgen_document::text::Source;
use serde::Deserialize;

use super::found::Found;
use super::hosts::{Hardware, HostCard};
use super::manifest::Manifest;

/// The most cards of a host: virtual functions are cards too.
const CARDS_OF_A_HOST: usize = 4096;

/// The key of a file of `dayone collect` by which it is known.
const CARDS: &str = "\"cards\"";

/// True for the beginning of a file of `dayone collect`, which may be larger than a document.
pub(super) fn is_collected(beginning: &[u8]) -> bool {
    beginning.first() == Some(&b'{')
        && beginning.windows(CARDS.len()).any(|window| window == CARDS.as_bytes())
}

/// metal3's inspection, in HardwareData's spec and in the status of a BareMetalHost.
pub(super) fn metal3(manifest: &Manifest<'_>, root: &Node<'_>, section: &str, found: &mut Found) {
    let Some(nics) = root.at(&[section, "hardware", "nics"]) else { return };
    let card = |nic: &Node<'_>| {
        let vlans = nic.items_at(&["vlans"]);
        HostCard {
            name: nic.text_at("name").unwrap_or_default().to_owned(),
            mac: nic.mac_at("mac"),
            speed: nic.number_at(&["speedGbps"]).and_then(|speed| speed.checked_mul(1000)),
            vlans: vlans.iter().filter_map(|vlan| vlan.get("id")?.number()).collect(),
            frame: None,
        }
    };
    let host = root.at(&["metadata", "name"]).and_then(Node::text);
    add(found, host, nics.items().iter().map(card), manifest.place(nics));
}

/// assisted-service's Agent.
pub(super) fn agent(manifest: &Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let Some(inventory) = root.at(&["status", "inventory"]) else { return };
    let Some(interfaces) = inventory.get("interfaces") else { return };
    let card = |interface: &Node<'_>| HostCard {
        name: interface.text_at("name").unwrap_or_default().to_owned(),
        mac: interface.mac_at("macAddress"),
        speed: interface.number_at(&["speedMbps"]),
        ..HostCard::default()
    };
    let wanted =
        root.at(&["spec", "hostname"]).and_then(Node::text).filter(|name| !name.is_empty());
    let host = wanted.or_else(|| inventory.text_at("hostname"));
    add(found, host, interfaces.items().iter().map(card), manifest.place(interfaces));
}

/// A node's state, as kubernetes-nmstate has it in a NodeNetworkState.
pub(super) fn state(host: Option<&str>, root: &Node<'_>, place: Place, found: &mut Found) {
    let interfaces = interface::all(root);
    let is_card = |node: &&Node<'_>| node.text_at("type") == Some("ethernet");
    let card = |interface: &Node<'_>| {
        let mut said = Said::default();
        if let Some(neighbours) = interface.at(&["lldp", "neighbors"]) {
            said.heard(neighbours);
        }
        HostCard {
            name: interface.text_at("name").unwrap_or_default().to_owned(),
            mac: interface
                .mac_at("permanent-mac-address")
                .or_else(|| interface.mac_at("mac-address")),
            speed: interface.number_at(&["ethernet", "speed"]),
            vlans: said.vlans,
            frame: said.frame,
        }
    };
    add(found, host, interfaces.iter().filter(is_card).map(card), place);
}

/// A card's port as its neighbours describe it.
#[derive(Clone, Default)]
struct Said {
    vlans: BTreeSet<u64>,
    frame: Option<u64>,
}

impl Said {
    /// Reads a neighbour's words, wherever they are: VLANs (802.1, subtype 3) and the largest frame (802.3, subtype 4).
    fn heard(&mut self, node: &Node<'_>) {
        for item in node.items() {
            self.heard(item);
        }
        let own = node.items_at(&["ieee-802-1-vlans"]);
        self.vlans.extend(own.iter().filter_map(|vlan| vlan.get("vid")?.number()));
        let frame = node.number_at(&["ieee-802-3-max-frame-size"]);
        self.frame = least(self.frame, frame);
    }
}

/// The smaller of two frames; zero is no statement.
fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    [one, other].into_iter().flatten().filter(|frame| *frame > 0).min()
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Collected {
    hostname: String,
    cards: Vec<CollectedCard>,
    facts: NodeFacts,
}

#[derive(Deserialize)]
struct CollectedCard {
    name: String,
    mac: Option<String>,
    speed: Option<u64>,
}

#[derive(Deserialize)]
struct NodeFacts {
    lldp: CollectedAnswer<Vec<Neighbour>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CollectedAnswer<T> {
    Value(T),
    Error(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Neighbour {
    link: String,
    vlans: Vec<u64>,
    #[serde(default)]
    frame: Option<u64>,
}

/// A file of `dayone collect`; false if it is none.
pub(super) fn collected(source: &Source, found: &mut Found) -> bool {
    if !is_collected(source.text.as_bytes()) {
        return false;
    }
    let Ok(node) = serde_json::from_str::<Collected>(&source.text) else { return false };
    let neighbours = match node.facts.lldp {
        CollectedAnswer::Value(neighbours) => neighbours,
        CollectedAnswer::Error(_) => Vec::new(),
    };
    let mut heard: BTreeMap<&str, Said> = BTreeMap::new();
    for neighbour in &neighbours {
        let said = heard.entry(&neighbour.link).or_default();
        said.vlans.extend(&neighbour.vlans);
        said.frame = least(said.frame, neighbour.frame);
    }
    let cards = node.cards.iter().map(|card| {
        let Said { vlans, frame } = heard.get(&*card.name).cloned().unwrap_or_default();
        let (name, mac) = (card.name.clone(), card.mac.as_deref().and_then(Mac::parse));
        HostCard { name, mac, speed: card.speed, vlans, frame }
    });
    add(found, Some(&node.hostname), cards, Place::file(source.name.clone()));
    true
}

fn add(found: &mut Found, host: Option<&str>, all: impl Iterator<Item = HostCard>, place: Place) {
    let (mut cards, mut known): (Vec<HostCard>, HashMap<_, usize>) = (Vec::new(), HashMap::new());
    // metal3 has an entry for each address of a card.
    for card in all.filter(|card| !card.name.is_empty() || card.mac.is_some()) {
        match known.get(&(card.name.clone(), card.mac)) {
            Some(index) => cards[*index].vlans.extend(card.vlans),
            None if cards.len() == CARDS_OF_A_HOST => break,
            None => {
                known.insert((card.name.clone(), card.mac), cards.len());
                cards.push(HostCard { speed: card.speed.filter(|speed| *speed > 0), ..card });
            }
        }
    }
    if !cards.is_empty() {
        found.hardware.push(Hardware { host: host.map(str::to_owned), cards, place });
    }
}
