//! Documents against the hardware that somebody has looked at. Cards are known by their addresses first: a name may be another one
//! in a ramdisk.

use std::collections::{BTreeSet, HashMap};

use nmgen_core::node::short_host_name;
use nmgen_core::source::{Host, HostNetwork};
use nmgen_core::{interface, stack};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::mac::Mac;
use nmgen_document::{Document, Node, Path};

use super::map::is_card;
use crate::source::{Hardware, HostCard, Hosts};

rules! {
    warning CARD_MISSING = "card-missing";
    warning VLAN_NOT_ON_PORT = "vlan-not-on-port";
    warning MTU_NOT_ON_PORT = "mtu-not-on-port";
    warning BOND_SPEEDS_DIFFER = "bond-speeds-differ";
}

/// Names of cards in a message.
const SHOWN: usize = 4;

/// Bytes of a frame besides the packet that the MTU bounds: header and checksum. Switches leave out a VLAN's tag.
const AROUND: u64 = 18;

/// The smallest statement of a largest frame that 802.3 knows; switches that say less mean the packet.
const SMALLEST_FRAME: u64 = 1518;

/// Modes that use one port at a time, or that the ports' speeds do not matter to.
const ONE_AT_A_TIME: [&str; 4] = ["active-backup", "1", "broadcast", "3"];

pub(super) fn check(sources: &Hosts, diagnostics: &mut Diagnostics) {
    if sources.hardware.is_empty() {
        return;
    }
    let known = Known::new(&sources.hardware);
    for host in &sources.hosts {
        let HostNetwork::Written(document) = &host.network else { continue };
        if let Some(hardware) = known.of(host, document) {
            let subject = Subject::new(host, document, hardware);
            subject.missing(diagnostics);
            subject.vlans(diagnostics);
            subject.mtus(diagnostics);
            subject.speeds(diagnostics);
        }
    }
}

/// The hardware of all hosts, by address and by name.
struct Known<'h> {
    by_mac: HashMap<Mac, &'h Hardware>,
    /// `None` for a name that several have, as in two clusters.
    by_name: HashMap<&'h str, Option<&'h Hardware>>,
}

impl<'h> Known<'h> {
    fn new(all: &'h [Hardware]) -> Self {
        let mut known = Self { by_mac: HashMap::new(), by_name: HashMap::new() };
        for hardware in all {
            let macs = hardware.cards.iter().filter_map(|card| card.mac);
            let is_known = hardware
                .cards
                .iter()
                .any(|card| card.mac.is_some_and(|mac| known.by_mac.contains_key(&mac)));
            known.by_mac.extend(macs.map(|mac| (mac, hardware)));
            let Some(name) = hardware.host.as_deref().map(short_host_name) else { continue };
            let other = known.by_name.get(name);
            // An inspection and the node itself may tell of one machine; the later source counts.
            let is_other = other.is_some() && !is_known;
            known.by_name.insert(name, (!is_other).then_some(hardware));
        }
        known
    }

    fn of(&self, host: &Host, document: &Document<'_>) -> Option<&'h Hardware> {
        let own =
            interfaces(document).iter().filter_map(|interface| interface.mac_at("mac-address"));
        let mut macs = host.nics.iter().map(|nic| nic.mac_address).chain(own);
        let by_mac = macs.find_map(|mac| self.by_mac.get(&mac).copied());
        by_mac.or_else(|| *self.by_name.get(host.short_name()?)?)
    }
}

fn interfaces<'d, 't>(document: &'d Document<'t>) -> &'d [Node<'t>] {
    interface::all(&document.root)
}

/// A host's document beside its hardware.
struct Subject<'h> {
    host: &'h Host,
    document: &'h Document<'static>,
    hardware: &'h Hardware,
    interfaces: HashMap<&'h str, &'h Node<'static>>,
}

impl<'h> Subject<'h> {
    fn new(host: &'h Host, document: &'h Document<'static>, hardware: &'h Hardware) -> Self {
        let all = interfaces(document).iter();
        let interfaces = all.filter_map(|node| Some((node.text_at("name")?, node))).collect();
        Self { host, document, hardware, interfaces }
    }

    /// The address by which a document or its source identifies a card.
    fn mac(&self, name: &str) -> Option<Mac> {
        let own = self.interfaces.get(name).and_then(|node| node.mac_at("mac-address"));
        let map = self.host.nics.iter().find(|nic| nic.name.as_deref() == Some(name));
        map.map(|nic| nic.mac_address).or(own)
    }

    /// The card that a name of the document stands for.
    fn card(&self, name: &str) -> Option<&'h HostCard> {
        let cards = &self.hardware.cards;
        let by_mac = self.mac(name).and_then(|mac| cards.iter().find(|card| card.mac == Some(mac)));
        by_mac.or_else(|| {
            let is_found_by_mac = self.is_found_by_mac(name);
            cards.iter().find(|card| !is_found_by_mac && card.name == name)
        })
    }

    /// Whether the MAC address alone identifies the card (`identifier: mac-address`, or an entry of the source's map). Any other
    /// `mac-address` of a document is one to set.
    fn is_found_by_mac(&self, name: &str) -> bool {
        let identifier = self.interfaces.get(name).and_then(|node| node.text_at("identifier"));
        let is_mapped = self.host.nics.iter().any(|nic| nic.name.as_deref() == Some(name));
        identifier == Some("mac-address") || is_mapped
    }

    fn missing(&self, diagnostics: &mut Diagnostics) {
        let mut told = BTreeSet::new();
        let mut tell = |name: &'h str, place: Place| {
            if self.card(name).is_none() && told.insert(name) {
                diagnostics.push(self.without(name, place));
            }
        };
        for (index, interface) in interfaces(self.document).iter().enumerate() {
            let Some(name) = interface.text_at("name") else { continue };
            if is_card(interface) {
                let node = interface.get("mac-address").filter(|_| self.is_found_by_mac(name));
                tell(
                    name,
                    self.document.place(node.or(interface.get("name")).unwrap_or(interface).span),
                );
            }
            if matches!(interface.text_at("state"), Some("absent" | "ignore")) {
                continue;
            }
            let own = Path::default().key("interfaces").index(index);
            for below in stack::below(interface) {
                if !self.interfaces.contains_key(below.name) {
                    let node = self.document.root.find(&below.path(&own)).unwrap_or(interface);
                    tell(below.name, self.document.place(node.span));
                }
            }
        }
    }

    fn without(&self, name: &str, place: Place) -> Diagnostic {
        let shown = |card: &HostCard| match card.mac {
            Some(mac) => format!("{} ({mac})", card.name.escape_debug()),
            None => card.name.escape_debug().to_string(),
        };
        let mut cards: Vec<String> = self.hardware.cards.iter().take(SHOWN).map(shown).collect();
        let more = self.hardware.cards.len().saturating_sub(SHOWN);
        cards.extend((more > 0).then(|| format!("{more} more")));
        let with = self.mac(name).map(|mac| format!(" with {mac}")).unwrap_or_default();
        let message = format!(
            "the host has no card {}{with}: it has {} ({})",
            name.escape_debug(),
            cards.join(", "),
            self.hardware.place.shown()
        );
        Diagnostic::new(CARD_MISSING, message, place).help(
            "where only the name is another one, as in a ramdisk, give the card's mac-address",
        )
    }

    /// The cards that carry an interface's packets: itself, or the ports of a bond.
    fn carriers(&self, name: &str) -> Vec<(&'h str, &'h HostCard)> {
        let below: Vec<&str> = match self.interfaces.get(name) {
            Some(interface) if interface.text_at("type") == Some("bond") => {
                stack::below(interface).into_iter().map(|reference| reference.name).collect()
            }
            Some(_) | None => vec![name],
        };
        // The card's own name: it may be told to somebody who looks at the rack.
        below
            .into_iter()
            .filter_map(|name| self.card(name))
            .map(|card| (&*card.name, card))
            .collect()
    }

    fn vlans(&self, diagnostics: &mut Diagnostics) {
        for interface in interfaces(self.document) {
            let base = interface.at(&["vlan", "base-iface"]).and_then(Node::text);
            let id = interface.at(&["vlan", "id"]);
            let (Some(base), Some(node)) = (base, id) else { continue };
            let Some(id) = node.number().filter(|_| interface.text_at("state") != Some("absent"))
            else {
                continue;
            };
            for (name, card) in self.carriers(base) {
                // Many switches tell the untagged VLAN alone.
                if card.vlans.len() < 2 || card.vlans.contains(&id) {
                    continue;
                }
                let listed: Vec<String> =
                    card.vlans.iter().take(SHOWN).map(u64::to_string).collect();
                let more = if card.vlans.len() > SHOWN { ", …" } else { "" };
                let message = format!(
                    "VLAN {id} is not on the switch port of {}, which has {}{more} ({})",
                    name.escape_debug(),
                    listed.join(", "),
                    self.hardware.place.shown()
                );
                let help = "add it to the trunk of that port, or correct the id";
                diagnostics.add(VLAN_NOT_ON_PORT, self.document.place(node.span), message, help);
                break;
            }
        }
    }

    /// Each port once, at the first interface above it: a bond's MTU is mostly that of its ports and of its VLANs.
    fn mtus(&self, diagnostics: &mut Diagnostics) {
        let mut told = BTreeSet::new();
        for interface in interfaces(self.document) {
            let (Some(name), Some(node)) = (interface.text_at("name"), interface.get("mtu")) else {
                continue;
            };
            let is_there = !matches!(interface.text_at("state"), Some("absent" | "ignore"));
            let Some(mtu) = node.number().filter(|_| is_there) else { continue };
            let base = interface.at(&["vlan", "base-iface"]).and_then(Node::text);
            for (name, card) in self.carriers(base.unwrap_or(name)) {
                let Some(frame) = card.frame else { continue };
                let packet = if frame < SMALLEST_FRAME { frame } else { frame - AROUND };
                if mtu <= packet || !told.insert(name) {
                    continue;
                }
                let message = format!(
                    "the switch port of {} carries frames of {frame} bytes, an MTU of {packet}: {mtu} is too large ({})",
                    name.escape_debug(),
                    self.hardware.place.shown()
                );
                let help = "raise the MTU of that port, or lower this one";
                diagnostics.add(MTU_NOT_ON_PORT, self.document.place(node.span), message, help);
            }
        }
    }

    fn speeds(&self, diagnostics: &mut Diagnostics) {
        for interface in interfaces(self.document) {
            let Some(name) = interface.text_at("name") else { continue };
            let Some(bond) = interface.get("link-aggregation").or(interface.get("bond")) else {
                continue;
            };
            if bond.text_at("mode").is_some_and(|mode| ONE_AT_A_TIME.contains(&mode)) {
                continue;
            }
            let ports: Vec<(&str, u64)> = self
                .carriers(name)
                .into_iter()
                .filter_map(|(name, card)| Some((name, card.speed?)))
                .collect();
            let speeds: BTreeSet<u64> = ports.iter().map(|(_, speed)| *speed).collect();
            if speeds.len() < 2 {
                continue;
            }
            let shown: Vec<String> = ports
                .iter()
                .map(|(name, speed)| format!("{} {speed} Mbit/s", name.escape_debug()))
                .collect();
            let message = format!(
                "the ports of {} have different speeds: {} ({})",
                name.escape_debug(),
                shown.join(", "),
                self.hardware.place.shown()
            );
            let ports = ["port", "ports", "ports-config"].iter().find_map(|key| bond.get(key));
            let place = self.document.place(ports.unwrap_or(bond).span);
            let help =
                "LACP leaves out the ports of another speed; use cards of one, or active-backup";
            diagnostics.add(BOND_SPEEDS_DIFFER, place, message, help);
        }
    }
}
