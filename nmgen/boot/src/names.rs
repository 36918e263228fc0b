//! Maps a document's interface names to the machine's.

pub(crate) mod conversion;
pub(crate) mod fields;
pub(crate) mod identified;
pub(crate) mod virtual_functions;

use std::collections::BTreeMap;
use std::fmt;

use nmgen_core::interface;
use nmgen_core::node::Card;
use nmgen_core::source::Nic;
use nmgen_core::stack::{self, Relation};
use nmgen_document::format::cut;
use nmgen_document::mac::Mac;
use nmgen_document::{Entry, Node, Value};

use crate::fault::Twice;
use crate::wait::cards::Cards;
use crate::wait::pci;

/// The kernel's IFNAMSIZ is 16, including the NUL.
const MAX_LENGTH: usize = 15;
/// Hexadecimal digits of a [`digest`].
const DIGITS: usize = 4;

/// A network card of the document that the machine lacks so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    name: String,
    mac: Option<Mac>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.mac {
            Some(mac) => write!(f, "{} ({mac})", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The document's interface names and the machine's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// From the document's name to the machine's, where they differ.
    renamed: BTreeMap<String, String>,
    /// In the document's order.
    pub(crate) missing: Vec<Missing>,
    /// The document's cards that the machine has.
    pub(crate) present: Vec<Card>,
    /// Present cards that the document gives by address.
    pub(crate) by_mac: Vec<Card>,
    /// The machine's names of the cards that the document gives by PCI address.
    by_place: Vec<String>,
    /// The name that stands for the card of the document's file. Its own card may be about to come.
    pub(crate) stand_in: Option<String>,
}

impl Names {
    /// Finds the document's cards among the machine's. `stand_in`: the cards that the document's file
    /// is named after; one name without a MAC address stands for one of them.
    pub(crate) fn find(root: &Node<'_>, cards: &Cards, stand_in: &[Card]) -> Self {
        let mut names = Self::default();
        let mut by_name = Vec::new();
        let functions = virtual_functions::cards(root);
        for (name, mac, place, is_up) in wanted(root) {
            // Its profile matches the address, whatever name the card has and whenever it comes.
            if let Some(place) = place {
                match cards.at_pci(place, &name) {
                    Some(card) => {
                        names.by_place.push(card.name.clone());
                        names.is_card(name, card);
                    }
                    None if is_up => {
                        if name.len() > MAX_LENGTH {
                            names.rename_missing(&name, &name);
                        }
                        names.missing.push(Missing { name, mac: None });
                    }
                    None => {}
                }
                continue;
            }
            // A function's address is one to set.
            let is_function = virtual_functions::is_one(&functions, &name);
            match mac.filter(|_| !is_function) {
                Some(mac) => match cards.with_mac(&mac, &name) {
                    Some(card) => {
                        names.by_mac.push(card.clone());
                        names.is_card(name, card);
                    }
                    None if is_up => names.is_missing(name, mac, cards),
                    None => {}
                },
                None if cards.has(&name) => {
                    names.present.extend(cards.named(&name).cloned());
                }
                // It comes after NetworkManager has made it.
                None if is_function => {}
                None if is_up => match cards.also_named(&name) {
                    Some(card) => names.is_card(name, card),
                    None => by_name.push(name),
                },
                None => {}
            }
        }
        let is_free = |card: &&Card| !names.present.contains(card);
        let free: Vec<Card> = stand_in.iter().filter(is_free).cloned().collect();
        match (by_name.as_slice(), free.as_slice()) {
            ([name], [card]) => {
                names.is_card(name.clone(), card);
                names.stand_in = Some(name.clone());
            }
            _ => {
                names.missing.extend(by_name.into_iter().map(|name| Missing { name, mac: None }));
            }
        }
        names.follow(root);
        let here = |name: &str| names.renamed.get(name).cloned();
        let renamed = virtual_functions::renamed(root, &functions, here);
        names.renamed.extend(renamed);
        // Interfaces on a function follow it.
        names.follow(root);
        names
    }

    /// The names of cards that only a source's map names.
    pub(crate) fn of(nics: &[Nic], cards: &Cards) -> Self {
        let mut names = Self::default();
        for nic in nics {
            let Some(name) = nic.name.clone() else { continue };
            match cards.with_mac(&nic.mac_address, &name) {
                Some(card) => names.is_card(name, card),
                None => names.is_missing(name, nic.mac_address, cards),
            }
        }
        names
    }

    fn is_card(&mut self, name: String, card: &Card) {
        self.present.push(card.clone());
        if name != card.name {
            self.renamed.insert(name, card.name.clone());
        }
    }

    /// If another card has this name, or it is too long for the kernel, rename the missing one: its profile has no name, and
    /// what refers to the card does.
    fn is_missing(&mut self, name: String, mac: Mac, cards: &Cards) {
        if cards.has(&name) || name.len() > MAX_LENGTH {
            self.rename_missing(&name, &mac.to_string());
        }
        self.missing.push(Missing { name, mac: Some(mac) });
    }

    /// Gives a missing card a name with digits of what identifies it.
    fn rename_missing(&mut self, name: &str, identifier: &str) {
        let digits = digest(identifier);
        let other = format!("{}-{digits:04x}", cut(name, MAX_LENGTH - DIGITS - 1));
        self.renamed.insert(name.to_owned(), other);
    }

    /// Renames VLANs and others that are named after a renamed base interface.
    fn follow(&mut self, root: &Node<'_>) {
        self.follow_all(|| {
            interface::all(root).iter().filter_map(|interface| {
                let name = interface.text_at("name")?;
                let base = stack::below(interface)
                    .into_iter()
                    .find(|reference| reference.role == Relation::Base)?;
                Some((name, base.name))
            })
        });
    }

    /// Renames interfaces that are named after a renamed base, from pairs of an interface and its base.
    pub(crate) fn follow_all<'n, P: Iterator<Item = (&'n str, &'n str)>>(
        &mut self,
        pairs: impl Fn() -> P,
    ) {
        loop {
            let before = self.renamed.len();
            for (name, base) in pairs() {
                if !self.renamed.contains_key(name)
                    && let Some(renamed) = self.renamed.get(base)
                    && let Some(following) = following(name, base, renamed)
                {
                    self.renamed.insert(name.to_owned(), following);
                }
            }
            if self.renamed.len() == before {
                return;
            }
        }
    }

    /// The machine's name for a name of the document.
    pub(crate) fn here<'n>(&'n self, name: &'n str) -> &'n str {
        self.renamed.get(name).map_or(name, String::as_str)
    }

    /// The first two interfaces of the document that would get the same name.
    pub(crate) fn twice(&self, root: &Node<'_>) -> Option<Twice> {
        let mut seen: BTreeMap<&str, (&str, Option<Mac>)> = BTreeMap::new();
        for node in interface::all(root).iter().filter(|node| {
            !matches!(node.text_at("type"), Some("ovs-bridge" | "ipsec"))
                && node.text_at("state") != Some("absent")
        }) {
            let Some(name) = node.text_at("name") else { continue };
            let mac = node.mac_at("mac-address");
            let here = self.renamed.get(name).map_or(name, String::as_str);
            match seen.insert(here, (name, mac)) {
                Some((first, other)) if first != name => {
                    let (first, second) = (first.to_owned(), name.to_owned());
                    let mac = mac.filter(|mac| other == Some(*mac));
                    return Some(Twice { first, second, name: here.to_owned(), mac });
                }
                Some(_) | None => {}
            }
        }
        None
    }

    /// The document's name and the machine's, for each that differs.
    pub(crate) fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.renamed.iter().map(|(name, here)| (name.as_str(), here.as_str()))
    }

    /// Replaces the document's names and MAC addresses with the machine's.
    pub(crate) fn apply(&self, root: &mut Node<'_>) {
        if let Some(list) = list_mut(root) {
            list.retain(|interface| !self.gives_way(interface));
        }
        fields::rename(root, &|name| self.renamed.get(name).map(String::as_str));
        for interface in interfaces_mut(root) {
            let is_it = interface
                .text_at("name")
                .is_some_and(|name| self.by_place.iter().any(|card_name| card_name == name));
            if let Value::Mapping(entries) = &mut interface.value
                && is_it
            {
                // The id of a profile without an interface's name is what tells its card.
                entries.retain(|entry| entry.key != "profile-name");
            }
        }
        let by_mac = self.missing.iter().filter(|missing| missing.mac.is_some());
        let here = |name| self.renamed.get(name).unwrap_or(name).as_str();
        let absent: Vec<&str> = by_mac.map(|missing| here(&missing.name)).collect();
        for interface in interfaces_mut(root) {
            if is_card(interface) && interface.text_at("name").is_some_and(|n| absent.contains(&n))
            {
                // Matches the missing card by its address, as its name is not known yet.
                set(interface, "identifier", "mac-address");
            }
        }
        self.copy_macs(root);
    }

    /// True for an interface that is to go and has the name of a card here. Profiles remove nothing, and its
    /// entry would count as the card's.
    fn gives_way(&self, interface: &Node<'_>) -> bool {
        let name = interface.text_at("name").unwrap_or_default();
        interface.text_at("state") == Some("absent")
            && !self.renamed.contains_key(name)
            && self.renamed.values().any(|here| here == name)
    }

    /// Replaces `copy-mac-from` a card with the card's MAC address, as nmstate does on a node; on an
    /// ovs-bridge it applies to the ovs-interface of the same name.
    fn copy_macs(&self, root: &mut Node<'_>) {
        let mut copied: Vec<(String, String, String)> = Vec::new();
        for interface in interface::all(root) {
            let (Some(name), Some(from)) =
                (interface.text_at("name"), interface.text_at("copy-mac-from"))
            else {
                continue;
            };
            let target = match interface.text_at("type") {
                Some("ovs-bridge") => "ovs-interface",
                Some(kind @ ("bond" | "linux-bridge" | "ovs-interface")) => kind,
                Some(_) | None => continue,
            };
            if let Some(card) = self.present.iter().find(|card| card.name == from) {
                copied.push((name.to_owned(), target.to_owned(), card.mac.to_string()));
            }
        }
        for (name, kind, mac) in copied {
            let is_target = |node: &&mut Node<'_>| {
                node.text_at("name") == Some(&name) && node.text_at("type") == Some(&kind)
            };
            let Some(target) = interfaces_mut(root).find(is_target) else { continue };
            // Two contradicting addresses are left to the checks.
            if target.get("mac-address").is_some() {
                continue;
            }
            set(target, "mac-address", &mac);
            for interface in
                interfaces_mut(root).filter(|interfaces| interfaces.text_at("name") == Some(&name))
            {
                if let Value::Mapping(entries) = &mut interface.value {
                    entries.retain(|entry| entry.key != "copy-mac-from");
                }
            }
        }
    }
}

/// A card of a document: name, MAC address, PCI address if that identifies it, and whether it is to be up.
type Wanted = (String, Option<Mac>, Option<pci::Address>, bool);

/// The cards of a document. Ports and base interfaces that the document doesn't describe count as cards.
fn wanted(root: &Node<'_>) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for interface in interface::all(root) {
        let Some(name) = interface.text_at("name") else { continue };
        if is_card(interface) {
            let mac = interface.mac_at("mac-address").filter(|mac| !mac.is_zero());
            let is_by_place = interface.text_at("identifier") == Some("pci-address");
            let place = interface.text_at("pci-address").filter(|_| is_by_place);
            wanted.push((
                name.to_owned(),
                mac,
                place.and_then(pci::parse),
                interface::is_up(interface),
            ));
        }
    }
    let undeclared = stack::undeclared(root).into_iter().filter_map(Node::text);
    wanted.extend(undeclared.map(|name| (name.to_owned(), None, None, true)));
    wanted
}

fn interfaces_mut<'a, 't>(root: &'a mut Node<'t>) -> impl Iterator<Item = &'a mut Node<'t>> {
    list_mut(root).into_iter().flatten()
}

fn list_mut<'a, 't>(root: &'a mut Node<'t>) -> Option<&'a mut Vec<Node<'t>>> {
    let Value::Mapping(entries) = &mut root.value else { return None };
    let list = entries.iter_mut().find(|entry| entry.key == "interfaces")?;
    match &mut list.node.value {
        Value::Sequence(items) => Some(items),
        Value::Mapping(_) | Value::Scalar { .. } => None,
    }
}

/// The machine's names for the document's, as the end of a message.
pub(crate) fn renamed(names: &Names) -> String {
    names.renamed().map(|(name, here)| format!("; {name} is {here}")).collect()
}

/// The missing cards, as a part of a message.
pub(crate) fn listed(missing: &[Missing]) -> String {
    let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
    names.join(", ")
}

/// True for a physical network card, as far as the document says.
fn is_card(interface: &Node<'_>) -> bool {
    matches!(interface.text_at("type"), None | Some("ethernet" | "infiniband" | "unknown"))
        // An InfiniBand child has no hardware of its own.
        && interface.at(&["infiniband", "base-iface"]).and_then(Node::text).is_none_or(str::is_empty)
        && interface.get("veth").is_none()
}

/// Sets a key of the interface; its place is that of the interface's name.
fn set(interface: &mut Node<'_>, key: &'static str, value: &str) {
    let span = interface.get("name").map_or(interface.span, |name| name.span);
    let scalar = Value::Scalar { text: value.to_owned().into(), plain: false };
    let node = Node { span, value: scalar };
    let Value::Mapping(entries) = &mut interface.value else { return };
    entries.retain(|entry| entry.key != key);
    entries.push(Entry { key: key.into(), key_span: span, node });
}

/// The new name of an interface named after a renamed base: `eth1.100`, `vlan-eth1`.
fn following(name: &str, base: &str, renamed: &str) -> Option<String> {
    let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
    let (at, _) = name.match_indices(base).find(|(at, found)| {
        let (before, after) = (&name[..*at], &name[at + found.len()..]);
        is_border(before.chars().next_back()) && is_border(after.chars().next())
    })?;
    let (before, after) = (&name[..at], &name[at + base.len()..]);
    Some(fitted(before, renamed, after))
}

/// Joins the three parts within 15 bytes: a longer name loses the end of its base, which four digits
/// replace. The digits depend on the whole name alone, so that they are the same at every boot and on
/// every machine.
fn fitted(before: &str, base: &str, after: &str) -> String {
    let whole = format!("{before}{base}{after}");
    if whole.len() <= MAX_LENGTH {
        return whole;
    }
    let digits = format!("{:04x}", digest(&whole));
    // Keeps at least one character of the base; then `after` is cut too.
    let room = MAX_LENGTH.saturating_sub(before.len() + after.len() + DIGITS);
    match room {
        0 => format!("{}{digits}", cut(&whole, MAX_LENGTH - DIGITS)),
        room => format!("{before}{}{digits}{after}", cut(base, room)),
    }
}

/// 32-bit FNV-1a, folded to 16 bits.
fn digest(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = text.bytes().fold(0x811c_9dc5, step);
    (hash >> 16) ^ (hash & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_their_base_as_whole_words() {
        for (name, base, renamed, expected) in [
            ("eth1.100", "eth1", "ens3", Some("ens3.100")),
            ("eth1.100.200", "eth1.100", "ens3.100", Some("ens3.100.200")),
            ("vlan-eth1", "eth1", "ens3", Some("vlan-ens3")),
            ("eth10.100", "eth1", "ens3", None),
            ("myeth1.100", "eth1", "ens3", None),
            ("vlan100", "eth1", "ens3", None),
        ] {
            assert_eq!(following(name, base, renamed).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn long_names_are_shortened_alike_every_time() {
        assert_eq!(fitted("", "enp129s0f1np1", ".1234"), "enp129942f.1234");
        assert_eq!(fitted("", "enp129s0f0np0", ".1234"), "enp1292418.1234");
        assert_eq!(fitted("", "enp129s0f1np1", ".4"), "enp129s0f1np1.4");
        assert_eq!(fitted("storage-v-", "enp129s0f1np1", ".12"), "storage-v-e5b24");
        assert!(fitted("", "enp129s0f1np1", ".averylongname").len() <= MAX_LENGTH);
    }
}
