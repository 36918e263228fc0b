//! Description of the peer, at the other end of the node's cables.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::node::Nic;

/// The default network of cards.
pub(crate) const LAN: &str = "lan";

/// Describes the peer: gateway, name server, DHCP server and API of the node.
#[derive(Debug, Clone)]
pub struct Peer {
    pub(crate) addresses: Vec<(String, IpAddr, u8)>,
    pub(crate) dhcp: Option<(Ipv4Addr, Ipv4Addr)>,
    pub(crate) lease: &'static str,
    /// A card's MAC address, and the host name that comes with its lease.
    pub(crate) host_name: Option<(String, &'static str)>,
    /// The MTU that comes with each lease.
    pub(crate) mtu: Option<u16>,
    pub(crate) router_advertisements: bool,
    pub(crate) api: Vec<IpAddr>,
    pub(crate) api_port: u16,
    vlans: BTreeMap<String, u16>,
}

impl Peer {
    /// The gateway's IPv4 address, in `192.0.2.0/24`.
    pub const GATEWAY: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
    /// The gateway's IPv6 address, in `2001:db8::/64`.
    pub const GATEWAY6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
    /// The API behind the gateway.
    pub const API: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 10);
    /// The API's IPv6 address.
    pub const API6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 0x10);
    /// The API's name in DNS.
    pub const API_NAME: &'static str = "api.lab.test";

    /// Gateway and name server at [`Self::GATEWAY`] and [`Self::GATEWAY6`], the API behind them, no DHCP.
    #[must_use]
    pub fn new() -> Self {
        Self {
            addresses: vec![
                (LAN.into(), Self::GATEWAY.into(), 24),
                (LAN.into(), Self::GATEWAY6.into(), 64),
            ],
            dhcp: None,
            lease: "1h",
            host_name: None,
            mtu: None,
            router_advertisements: false,
            api: vec![Self::API.into(), Self::API6.into()],
            api_port: 6443,
            vlans: BTreeMap::new(),
        }
    }

    /// Hands out 192.0.2.100 to 192.0.2.199 by DHCP.
    #[must_use]
    pub fn dhcp(mut self) -> Self {
        self.dhcp = Some((Ipv4Addr::new(192, 0, 2, 100), Ipv4Addr::new(192, 0, 2, 199)));
        self
    }

    /// Gives a card its host name with the lease (option 12).
    #[must_use]
    pub fn host_name(mut self, mac: &str, name: &'static str) -> Self {
        self.host_name = Some((mac.to_owned(), name));
        self
    }

    /// Each lease has an MTU (option 26).
    #[must_use]
    pub fn mtu(mut self, mtu: u16) -> Self {
        self.mtu = Some(mtu);
        self
    }

    /// Leases of DHCP have no end, as for a node whose address is to stay.
    #[must_use]
    pub fn endless_leases(mut self) -> Self {
        self.lease = "infinite";
        self
    }

    /// Announces the IPv6 prefix for autoconfiguration.
    #[must_use]
    pub fn router_advertisements(mut self) -> Self {
        self.router_advertisements = true;
        self
    }

    /// Moves the API to this address, which may be inside the subnet.
    #[must_use]
    pub fn api(mut self, address: IpAddr) -> Self {
        self.api = vec![address];
        self
    }

    /// Makes `segment` a VLAN of the LAN with this id; virtual machines only.
    #[must_use]
    pub fn vlan(mut self, segment: &str, id: u16) -> Self {
        self.vlans.insert(segment.into(), id);
        self
    }

    /// A further address of the peer on the network `segment`.
    #[must_use]
    pub fn address(mut self, segment: &str, address: IpAddr, prefix: u8) -> Self {
        self.addresses.push((segment.into(), address, prefix));
        self
    }
}

impl Peer {
    /// The networks of the peer and of these cards, the LAN first, since VLANs are parts of it.
    pub(crate) fn segments<'a>(&'a self, nics: &'a [Nic]) -> Vec<&'a str> {
        let stated = self.addresses.iter().map(|(segment, ..)| segment.as_str());
        let mut all: BTreeSet<&str> = stated.chain(self.vlans.keys().map(String::as_str)).collect();
        all.extend(nics.iter().map(|nic| nic.segment.as_str()));
        all.remove(LAN);
        [LAN].into_iter().chain(all).collect()
    }

    /// The VLAN id of a segment.
    pub(crate) fn vlan_of(&self, segment: &str) -> Option<u16> {
        self.vlans.get(segment).copied()
    }
}

impl Default for Peer {
    fn default() -> Self {
        Self::new()
    }
}

/// A fault of the peer, switched on and off while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Answers for itself and forwards nothing: the API and everything beyond the gateway is silent.
    DropForwarded,
    /// Answers ARP and neighbour discovery and drops everything else that the node starts.
    DropTraffic,
    /// Answers neither ARP nor neighbour discovery, and asks nobody: its own requests would tell the node that it is there.
    IgnoreNeighbours,
    /// Drops echo requests.
    DropPing,
    /// Drops DNS queries.
    DropDns,
    /// Drops DHCP.
    DropDhcp,
}

/// The nftables rules that make these faults.
pub(crate) fn ruleset(faults: &[Fault]) -> String {
    // Adding before deleting covers the first call too; nft applies the whole atomically.
    let mut rules = String::from(
        "add table inet lab\ndelete table inet lab\nadd table inet lab\n\
         add chain inet lab input { type filter hook input priority 0; }\n\
         add chain inet lab output { type filter hook output priority 0; }\n\
         add table arp lab\ndelete table arp lab\nadd table arp lab\n\
         add chain arp lab input { type filter hook input priority 0; }\n\
         add chain arp lab output { type filter hook output priority 0; }\n\
         add rule inet lab input icmp type echo-reply accept\n\
         add rule inet lab input icmpv6 type echo-reply accept\n",
    );
    let (gateway, gateway6) = (Peer::GATEWAY, Peer::GATEWAY6);
    for fault in faults {
        rules.push_str(&match fault {
            Fault::DropForwarded => format!(
                "add rule inet lab input iifname {LAN} ip daddr != {{ {gateway}, 255.255.255.255 }} drop\n\
                 add rule inet lab input iifname {LAN} ip6 daddr != {{ {gateway6}, fe80::/10, ff00::/8 }} drop\n"
            ),
            Fault::DropTraffic => format!(
                "add rule inet lab input iifname {LAN} icmpv6 type {{ nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit }} accept\n\
                 add rule inet lab input iifname {LAN} drop\n"
            ),
            Fault::IgnoreNeighbours => format!(
                "add rule arp lab input iifname {LAN} drop\n\
                 add rule arp lab output oifname {LAN} drop\n\
                 add rule inet lab input iifname {LAN} icmpv6 type {{ nd-neighbor-solicit, nd-neighbor-advert }} drop\n\
                 add rule inet lab output oifname {LAN} icmpv6 type {{ nd-neighbor-solicit, nd-neighbor-advert }} drop\n"
            ),
            Fault::DropPing => "add rule inet lab input icmp type echo-request drop\n\
                 add rule inet lab input icmpv6 type echo-request drop\n".into(),
            Fault::DropDns => "add rule inet lab input meta l4proto { tcp, udp } th dport 53 drop\n".into(),
            Fault::DropDhcp => "add rule inet lab input udp dport { 67, 547 } drop\n".into(),
        });
    }
    rules
}
