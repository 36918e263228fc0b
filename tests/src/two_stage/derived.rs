//! Documents of the running machine, derived from the early one of its bond and VLAN; and br-ex's network with them.

use std::net::Ipv4Addr;

use super::early_document;
use crate::{
    derived::{Network, document},
    lab::{Error, Inside, Result},
};

/// The early document, with the names that the running system has for the cards.
#[must_use]
pub fn under_own_names(mode: &str) -> String {
    early_document(mode).replace("eth1", "enp0s16").replace("eth2", "enp0s17")
}

/// The derived document with this uplink.
///
/// # Errors
/// If nmgen refuses it.
pub fn derived(early: &str, uplink: &str) -> Result<String> {
    document(early, Some(uplink))
        .map_err(|error| Error::Output { program: "nmgen", problem: error.to_string() })
}

/// Checks that br-ex has what `link` has by the early document: this MAC address, its MTU, this address and no other, the name
/// server, and these routes with their metrics. A bond's own MAC address may be another port's afterwards.
///
/// # Panics
/// If not, or if the link has an address.
pub fn has_network_of(
    inside: &Inside,
    link: &str,
    mac: &str,
    address: Ipv4Addr,
    routes: &[(String, u32)],
) -> Result<()> {
    let now = Network::of(inside, "br-ex")?;
    let of_link = Network::of(inside, link)?;
    let mtu = of_link.link.lines().nth(1).unwrap_or_default();
    assert_eq!(now.link, format!("{mac}\n{mtu}"), "MAC address and MTU of br-ex");
    assert_eq!((now.addresses, of_link.addresses), (format!("inet {address}/24"), String::new()));
    assert_eq!(now.dns, "nameserver 192.0.2.1");
    assert_eq!(now.routes, routes.iter().cloned().collect());
    Ok(())
}

/// The route to the address's own network.
#[must_use]
pub fn own_network(address: Ipv4Addr, metric: u32) -> (String, u32) {
    let [a, b, c, _] = address.octets();
    (format!("{a}.{b}.{c}.0/24 scope link src {address}"), metric)
}
