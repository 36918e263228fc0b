//! The facts of one host that the checks of a fleet compare.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::network::{Network, network};
use crate::diagnostic::Place;
use crate::document::{Document, Node};
use crate::mac::Mac;
use crate::source::Host;

/// The compared facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Addresses without their prefix length.
    pub(crate) addresses: Vec<(String, Place)>,
    /// Includes those that the source lists beside the document.
    pub(super) macs: Vec<(Mac, Place)>,
    /// The VLAN ids of VLAN interfaces.
    pub(super) vlans: BTreeSet<u64>,
    /// The place of each VLAN id.
    pub(super) vlan_places: BTreeMap<u64, Place>,
    /// The MTU of each interface, if set, and its place, else the place of the name.
    pub(super) mtus: BTreeMap<String, (Option<u64>, Place)>,
    /// Addresses, gateways, name servers and bonds.
    pub(super) network: Network,
}

/// Gathers the facts of a host.
pub(crate) fn facts(host: &Host) -> Facts {
    let mut facts = Facts::default();
    for nic in &host.nics {
        facts.add_mac(nic.mac_address, || nic.place.clone());
    }
    if let Some(document) = &host.document {
        for interface in document.root.get("interfaces").map(Node::items).unwrap_or_default() {
            facts.add(interface, document);
        }
        facts.network = network(&document.root);
    }
    facts
}

impl Facts {
    fn add(&mut self, interface: &Node<'_>, document: &Document<'_>) {
        // An absent interface uses no address.
        let is_absent = interface.text_at("state") == Some("absent");
        if is_absent {
            return;
        }
        // Cards that are left down, such as a BMC's, have the same address on many machines.
        let is_up = matches!(interface.text_at("state"), None | Some("up"));
        if let Some(node) = interface.get("mac-address").filter(|_| is_up)
            && let Some(mac) = node.text().and_then(Mac::parse)
        {
            self.add_mac(mac, || document.place(node.span));
        }
        for family in ["ipv4", "ipv6"] {
            let list = interface.at(&[family, "address"]).map(Node::items).unwrap_or_default();
            for node in list.iter().filter_map(|address| address.get("ip")) {
                let Some(text) = node.text() else { continue };
                let ip = text.parse::<IpAddr>();
                if ip.as_ref().is_ok_and(is_of_each_host) {
                    continue;
                }
                let ip = ip.map_or(text.to_owned(), |ip| ip.to_string());
                self.addresses.push((ip, document.place(node.span)));
            }
        }
        if let Some(node) = interface.at(&["vlan", "id"])
            && let Some(id) = node.number()
        {
            self.vlans.insert(id);
            self.vlan_places.insert(id, document.place(node.span));
        }
        if let Some(name) = interface.get("name")
            && let Some(text) = name.text()
        {
            let node = interface.get("mtu");
            let place = document.place(node.unwrap_or(name).span);
            // An ovs-bridge may share another interface's name.
            let known = self.mtus.entry(text.to_owned()).or_insert((None, place.clone()));
            if let Some(mtu) = node.and_then(Node::number) {
                *known = (Some(mtu), place);
            }
        }
    }

    /// A host may repeat its own MAC address on a bond and its ports.
    fn add_mac(&mut self, mac: Mac, place: impl FnOnce() -> Place) {
        if !mac.is_zero() && !self.macs.iter().any(|(known, _)| *known == mac) {
            self.macs.push((mac, place()));
        }
    }
}

/// Loopback and link-local addresses may repeat: they are valid on one host or one link. So may those
/// that OVN-Kubernetes uses inside each node (`masqueradeSubnet`, fd69::/112).
pub(super) fn is_of_each_host(ip: &IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_link_local(),
        IpAddr::V6(ip) => {
            let is_masquerade = ip.to_bits() >> 16 == 0xfd69_u128 << 96;
            ip.is_loopback() || ip.is_unicast_link_local() || is_masquerade
        }
    }
}
