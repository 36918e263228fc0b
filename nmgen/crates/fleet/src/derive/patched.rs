//! A written document's bond of Open vSwitch behind a patch port of br-ex.

use std::collections::BTreeSet;

use nmgen_core::interface::{self, is_up, kind};
use nmgen_core::stack;
use nmgen_document::Node;

use super::balance_slb::MODE;
use super::wanted::BalanceSlb;

const OVS: &str = "ovs-interface";

/// The far side of a patch port of br-ex.
pub(super) struct Patched<'w> {
    pub(super) names: BalanceSlb,
    cards: BTreeSet<&'w str>,
    tag: Option<u64>,
}

impl<'w> Patched<'w> {
    /// A bond of Open vSwitch in mode balance-slb behind this patch port, alone in its bridge.
    pub(super) fn of(root: &'w Node<'_>, patch: &str) -> Option<Self> {
        let interfaces = || interface::all(root).iter();
        let interface = interfaces()
            .find(|interface| interface.text_at("name") == Some(patch) && kind(interface) == OVS)?;
        let peer = interface.at(&["patch", "peer"])?.text()?;
        let bridge = interfaces().find(|node| {
            kind(node) == "ovs-bridge"
                && is_up(node)
                && stack::bridge_port_names(node).contains(&peer)
        })?;
        let (peers, others): (Vec<_>, Vec<_>) =
            interface::ports(bridge).iter().partition(|port| port.text_at("name") == Some(peer));
        let ([own], [bond]) = (&peers[..], &others[..]) else { return None };
        (interface::ovs_bond(bond)?.text_at("mode") == Some(MODE)).then_some(())?;
        let below = stack::below(bridge).into_iter().map(|reference| reference.name);
        let names = BalanceSlb {
            bridge: bridge.text_at("name")?.to_owned(),
            bond: bond.text_at("name")?.to_owned(),
            patch: patch.to_owned(),
            peer: peer.to_owned(),
        };
        Some(Self {
            names,
            cards: below.filter(|name| *name != peer).collect(),
            tag: own.number_at(&["vlan", "tag"]),
        })
    }

    /// The uplink in the early document: the bond of the same cards, or the VLAN with this tag on it.
    pub(super) fn uplink<'e>(&self, early: &'e Node<'_>) -> Option<&'e str> {
        let interfaces = || interface::all(early).iter();
        let has_cards = |node: &&Node<'_>| {
            let below: BTreeSet<&str> =
                stack::below(node).into_iter().map(|reference| reference.name).collect();
            kind(node) == "bond" && below == self.cards
        };
        let bond = interfaces().find(has_cards)?.text_at("name")?;
        let Some(tag) = self.tag else { return Some(bond) };
        let is_on_it = |node: &&Node<'_>| {
            node.at(&["vlan", "base-iface"]).and_then(Node::text) == Some(bond)
                && node.number_at(&["vlan", "id"]) == Some(tag)
        };
        interfaces().find(is_on_it)?.text_at("name")
    }
}
