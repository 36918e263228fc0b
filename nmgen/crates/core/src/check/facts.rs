//! The facts of one host that hosts are compared by.

use std::fmt;
use std::net::IpAddr;

use nmgen_document::Node;
use nmgen_document::diagnostic::Place;
use nmgen_document::mac::Mac;
use nmgen_document::text::Span;

use crate::interface;
use crate::source::Host;

/// The compared facts. They borrow from the host, places are made where something is told, and lists have no room to grow: a fleet
/// has a million facts.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts<'h> {
    host: &'h Host,
    /// Addresses without their prefix length.
    pub addresses: Box<[(Address<'h>, At<'h>)]>,
    /// Includes those that the source lists beside the document.
    pub macs: Box<[(Mac, At<'h>)]>,
    /// The VLAN ids of VLAN interfaces, in the document's order, and their places.
    pub vlans: Box<[(u64, At<'h>)]>,
    /// By name, the MTU of each interface, if set, and its place, else the place of the name.
    pub mtus: Box<[(&'h str, Mtu<'h>)]>,
}

/// The MTU of an interface, if set, and its place.
pub type Mtu<'h> = (Option<u64>, At<'h>);

/// The place of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At<'h> {
    /// In the host's document.
    Document(Span),
    /// Beside it.
    Source(&'h Place),
}

/// An address, however it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Address<'h> {
    /// An IPv4 or IPv6 address.
    Ip(IpAddr),
    /// Text that is no address.
    Text(&'h str),
}

impl fmt::Display for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(ip) => ip.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Gathers the facts of a host.
pub fn facts(host: &Host) -> Facts<'_> {
    let root = host.document().map(|document| &document.root);
    let mut gathered = Gathered::default();
    for nic in &host.nics {
        gathered.add_mac(nic.mac_address, At::Source(&nic.place));
    }
    for interface in root.map(interface::all).unwrap_or_default() {
        gathered.add(interface);
    }
    let Gathered { addresses, macs, vlans, mtus } = gathered;
    Facts {
        host,
        addresses: addresses.into(),
        macs: macs.into(),
        vlans: vlans.into(),
        mtus: mtus.into(),
    }
}

impl<'h> Facts<'h> {
    /// The first address and its place.
    pub fn first_address(&self) -> Option<(Address<'h>, Place)> {
        self.addresses.first().map(|(address, at)| (*address, self.place(*at)))
    }

    /// The MTU of the interface with this name.
    pub fn mtu(&self, name: &str) -> Option<Mtu<'h>> {
        let index = self.mtus.binary_search_by_key(&name, |(name, _)| *name).ok()?;
        Some(self.mtus[index].1)
    }

    /// The place of a fact, with its line.
    pub fn place(&self, at: At<'_>) -> Place {
        match (at, self.host.document()) {
            (At::Document(span), Some(document)) => document.place(span),
            (At::Document(_), None) => self.host.place.clone(),
            (At::Source(place), _) => place.clone(),
        }
    }
}

/// Facts while they are gathered.
#[derive(Default)]
struct Gathered<'h> {
    addresses: Vec<(Address<'h>, At<'h>)>,
    macs: Vec<(Mac, At<'h>)>,
    vlans: Vec<(u64, At<'h>)>,
    /// In the names' order.
    mtus: Vec<(&'h str, Mtu<'h>)>,
}

impl<'h> Gathered<'h> {
    fn add(&mut self, interface: &'h Node<'_>) {
        // An absent interface uses no address.
        let is_absent = interface.text_at("state") == Some("absent");
        if is_absent {
            return;
        }
        // Cards that are left down, such as a BMC's, have the same address on many machines.
        let is_up = interface::is_up(interface);
        if let Some(node) = interface.get("mac-address").filter(|_| is_up)
            && let Some(mac) = node.text().and_then(Mac::parse)
        {
            self.add_mac(mac, At::Document(node.span));
        }
        for family in ["ipv4", "ipv6"] {
            let list = interface.items_at(&[family, "address"]);
            for node in list.iter().filter_map(|address| address.get("ip")) {
                let Some(text) = node.text() else { continue };
                let ip = text.parse::<IpAddr>();
                if ip.as_ref().is_ok_and(is_of_each_host) {
                    continue;
                }
                let address = ip.map_or(Address::Text(text), Address::Ip);
                self.addresses.push((address, At::Document(node.span)));
            }
        }
        if let Some(node) = interface.at(&["vlan", "id"])
            && let Some(id) = node.number()
        {
            self.vlans.push((id, At::Document(node.span)));
        }
        if let Some(name) = interface.get("name")
            && let Some(text) = name.text()
        {
            let node = interface.get("mtu");
            let at = At::Document(node.unwrap_or(name).span);
            // An ovs-bridge may share another interface's name.
            let mtu = (node.and_then(Node::number), at);
            match self.mtus.binary_search_by_key(&text, |(name, _)| *name) {
                Ok(index) if mtu.0.is_some() => self.mtus[index].1 = mtu,
                Ok(_) => {}
                Err(index) => self.mtus.insert(index, (text, mtu)),
            }
        }
    }

    /// A host may repeat its own MAC address on a bond and its ports.
    fn add_mac(&mut self, mac: Mac, at: At<'h>) {
        if !mac.is_zero() && !self.macs.iter().any(|(known, _)| *known == mac) {
            self.macs.push((mac, at));
        }
    }
}

/// Loopback and link-local addresses may repeat: they are valid on one host or one link. So may those
/// that OVN-Kubernetes uses inside each node (`masqueradeSubnet`, fd69::/112).
pub fn is_of_each_host(ip: &IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_link_local(),
        IpAddr::V6(ip) => {
            let is_masquerade = ip.to_bits() >> 16 == 0xfd69_u128 << 96;
            ip.is_loopback() || ip.is_unicast_link_local() || is_masquerade
        }
    }
}
