//! Addresses of interfaces.

use std::collections::HashMap;
use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};
use nmgen_document::diagnostic::rules;
use nmgen_document::{Node, Path};

use super::subject::{Interface, Report, Subject};

rules! {
    error ADDRESS_SYNTAX = "address-syntax";
    error PREFIX_LENGTH = "prefix-length-range";
    warning ADDRESS_TWICE = "address-twice";
    warning ADDRESS_NOT_A_HOST = "address-not-a-host";
    warning ADDRESS_IGNORED = "address-ignored";
    warning PREFIX_LENGTH_SHORT = "prefix-length-short";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Family {
    V4,
    V6,
}

impl Family {
    pub(super) const BOTH: [Self; 2] = [Self::V4, Self::V6];

    /// The interface's key for the family.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::V4 => "ipv4",
            Self::V6 => "ipv6",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }

    pub(super) fn max_prefix(self) -> u64 {
        match self {
            Self::V4 => 32,
            Self::V6 => 128,
        }
    }

    /// Returns the length of the prefix that most networks of hosts have.
    pub(super) fn usual_prefix(self) -> u64 {
        match self {
            Self::V4 => 24,
            Self::V6 => 64,
        }
    }

    /// The prefix of the largest block that one organisation usually has: RFC 791's class A, and a provider's block of IPv6.
    fn min_prefix(self) -> u64 {
        match self {
            Self::V4 => 8,
            Self::V6 => 32,
        }
    }

    pub(super) fn of(ip: IpAddr) -> Self {
        if ip.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    pub(super) fn is_enabled(self, interface: &Node<'_>) -> bool {
        interface.is_on(&[self.key(), "enabled"])
    }

    /// True for addresses from DHCP or router advertisements.
    pub(super) fn is_automatic(self, interface: &Node<'_>) -> bool {
        let Some(section) = interface.get(self.key()) else { return false };
        let is_on = |key| section.is_on(&[key]);
        self.is_enabled(interface) && (is_on("dhcp") || (self == Self::V6 && is_on("autoconf")))
    }

    /// The items of the address list.
    pub(super) fn addresses<'n, 't>(self, interface: &'n Node<'t>) -> &'n [Node<'t>] {
        interface.items_at(&[self.key(), "address"])
    }
}

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut first: HashMap<IpAddr, (&Interface<'_>, Path)> = HashMap::new();
    for interface in subject.interfaces.iter().filter(|interface| interface.is_up()) {
        for family in Family::BOTH {
            let addresses = family.addresses(interface.node);
            if addresses.is_empty() || ignored(subject, interface, family, report) {
                continue;
            }
            for (index, item) in addresses.iter().enumerate() {
                let path = || interface.path_to(&[family.key(), "address"]).index(index);
                let Some(ip) = one(interface, family, item, path, report) else { continue };
                twice(interface, ip, path, &mut first, report);
            }
        }
    }
}

fn twice<'s>(
    interface: &'s Interface<'s>,
    ip: IpAddr,
    path: impl Fn() -> Path,
    first: &mut HashMap<IpAddr, (&'s Interface<'s>, Path)>,
    report: &mut Report<'_>,
) {
    match first.get(&ip) {
        // Link-local addresses may repeat on every interface.
        _ if is_link_local(ip) => {}
        None => {
            first.insert(ip, (interface, path()));
        }
        Some((other, other_path)) => {
            let line = report.line(&other_path.key("ip"));
            let message = if other.name == interface.name {
                format!("{} has {ip} already (line {line})", interface.name)
            } else {
                format!(
                    "{} and {} (line {line}) have the same address {ip}",
                    interface.name, other.name
                )
            };
            report.add(ADDRESS_TWICE, &path().key("ip"), message, "remove one of the two");
        }
    }
}

/// True when nmstate ignores the addresses; that is reported here.
fn ignored(
    subject: &Subject<'_>,
    interface: &Interface<'_>,
    family: Family,
    report: &mut Report<'_>,
) -> bool {
    let enabled = interface.node.at(&[family.key(), "enabled"]);
    let is_ignored = match enabled {
        // On a node the interface's current state decides.
        None => subject.is_offline(),
        Some(node) => node.boolean() == Some(false),
    };
    // ovs-bridge has its own rule.
    if is_ignored && interface.kind != "ovs-bridge" {
        let message = format!(
            "the {} addresses of {} are not used: {} is not enabled",
            family.name(),
            interface.name,
            family.name()
        );
        let help = match family {
            Family::V4 => "set enabled: true under ipv4",
            Family::V6 => "set enabled: true under ipv6",
        };
        report.add(ADDRESS_IGNORED, &interface.path_to(&[family.key(), "address"]), message, help);
    }
    is_ignored
}

fn one(
    interface: &Interface<'_>,
    family: Family,
    item: &Node<'_>,
    path: impl Fn() -> Path,
    report: &mut Report<'_>,
) -> Option<IpAddr> {
    let text = item.text_at("ip")?;
    let prefix = item.number_at(&["prefix-length"]);
    if let Some(length) = prefix.filter(|length| *length > family.max_prefix()) {
        let message =
            format!("prefix length {length} of {text} is not in 0..={}", family.max_prefix());
        let help = "an IPv4 address has 32 bits, an IPv6 address 128";
        report.add(PREFIX_LENGTH, &path().key("prefix-length"), message, help);
    }
    if let Some(length) = prefix.filter(|length| *length < family.min_prefix()) {
        let message = format!(
            "prefix length {length} of {text} makes a large part of the Internet a neighbour of {}",
            interface.name
        );
        let help = "check the number: a digit may be missing";
        report.add(PREFIX_LENGTH_SHORT, &path().key("prefix-length"), message, help);
    }
    let Some(ip) = text.parse::<IpAddr>().ok().filter(|ip| Family::of(*ip) == family) else {
        let message = format!("\"{}\" is not an {} address", text.escape_debug(), family.name());
        let help = match family {
            Family::V4 => with_zeros(text).unwrap_or(
                "write four numbers of 0 to 255 with dots between them; the prefix length has a key of its own",
            ),
            Family::V6 => "write eight groups of hexadecimal digits, or \"::\" for groups of zeros; the prefix length has a key of its own",
        };
        report.add(ADDRESS_SYNTAX, &path().key("ip"), message, help);
        return None;
    };
    if let Some(problem) = not_a_host(ip, prefix) {
        let message = format!("{ip} of {} is {problem}, not the address of a host", interface.name);
        let help = "check the address and its prefix-length";
        report.add(ADDRESS_NOT_A_HOST, &path().key("ip"), message, help);
    }
    Some(ip)
}

/// The remedy for an IPv4 address with zeros before a number.
pub(super) fn with_zeros(text: &str) -> Option<&'static str> {
    let address = text.split('/').next()?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let has_zeros = address.split('.').any(|part| part.len() > 1 && part.starts_with('0'));
    let is_it = has_zeros && address.split('.').count() == 4 && address.split('.').all(is_number);
    is_it.then_some("write its numbers without leading zeros: some programs read those as octal")
}

/// The use of an address that is no host's.
pub(super) fn not_a_host(ip: IpAddr, prefix: Option<u64>) -> Option<String> {
    if ip.is_unspecified() {
        return Some("the unspecified address".to_owned());
    }
    if ip.is_multicast() {
        return Some("a multicast address".to_owned());
    }
    // RFC 3021: a /31 has two host addresses, and neither network nor broadcast address.
    let (IpAddr::V4(ip), Some(length @ 1..=30)) = (ip, prefix) else { return None };
    let network = Ipv4Net::new(ip, u8::try_from(length).ok()?).ok()?;
    let (first, last) = (network.network(), network.broadcast());
    match ip {
        _ if ip == first => Some(format!("the network {first}/{length}")),
        _ if ip == last => Some(format!("the broadcast address of {first}/{length}")),
        _ => None,
    }
}

pub(super) fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    }
}

/// True when the address is in the network of `network/length`, which may have bits of a host; false if the length is too long.
pub fn is_within(ip: IpAddr, network: IpAddr, length: u64) -> bool {
    let network = u8::try_from(length).ok().and_then(|length| IpNet::new(network, length).ok());
    network.is_some_and(|network| network.contains(&ip))
}
