//! Networks of routes and rules that nmstate changes: it clears the bits of a host, and takes an address without a prefix length as
//! one host. nmstate only logs it (2.2.62, `sanitize_ip_network` in ip.rs).

use std::net::IpAddr;

use ipnet::IpNet;
use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostics, rules};

rules! {
    warning ROUTE_NETWORK_CHANGED = "route-network-changed";
}

/// The lists and their keys of networks.
const NETWORKS: [(&str, &[&str]); 2] =
    [("routes", &["destination"]), ("route-rules", &["ip-from", "ip-to"])];

pub(super) fn check(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    for (section, keys) in NETWORKS {
        let list = document.root.items_at(&[section, "config"]);
        for item in list.iter().filter(|item| item.text_at("state") != Some("absent")) {
            for node in keys.iter().filter_map(|key| item.get(key)) {
                let Some((message, help)) = node.text().and_then(change) else { continue };
                diagnostics.add(ROUTE_NETWORK_CHANGED, document.place(node.span), message, help);
            }
        }
    }
}

/// Returns what nmstate makes of a network's text, and what to write; `None` if that is what was meant.
fn change(text: &str) -> Option<(String, String)> {
    if let Ok(network) = text.parse::<IpNet>() {
        let meant = network.trunc();
        return (meant != network).then(|| {
            let host = IpNet::from(network.addr());
            (
                format!("{text} has bits of a host: nmstate takes it as {meant}"),
                format!("write {meant}; for this address only, {host}"),
            )
        });
    }
    let address: IpAddr = text.parse().ok()?;
    let is_network = match address {
        IpAddr::V4(address) => address.octets()[3] == 0,
        IpAddr::V6(address) => address.segments()[4..] == [0; 4],
    };
    let host = IpNet::from(address);
    is_network.then(|| {
        (
            format!("{text} has no prefix length: nmstate takes it as {host}, one address"),
            "write the network with its prefix length, as 192.0.2.0/24".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::change;

    #[test]
    fn networks_that_nmstate_takes_as_they_are_have_no_finding() {
        for text in [
            "192.0.2.0/24",
            "192.0.2.7",
            "192.0.2.7/32",
            "0.0.0.0/0",
            "2001:DB8::/32",
            "::/0",
            "2001:db8::7",
            "x",
            "",
        ] {
            assert_eq!(change(text), None, "{text}");
        }
        let message = |text| change(text).map(|(message, _)| message).unwrap_or_default();
        assert!(message("192.0.2.7/24").ends_with("as 192.0.2.0/24"));
        assert!(message("2001:db8::7/64").ends_with("as 2001:db8::/64"));
        assert!(message("10.0.0.0").ends_with("as 10.0.0.0/32, one address"));
        assert!(message("2001:db8::").ends_with("as 2001:db8::/128, one address"));
    }
}
