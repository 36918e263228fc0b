//! Checks across the hosts of one source.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Place, Rule};
use crate::document::Document;
use crate::source::Host;

const CLUSTER_STATIC_ADDRESS: Rule = Rule::error("cluster-static-address");
const ADDRESS_ON_TWO_HOSTS: Rule = Rule::error("address-on-two-hosts");
const MAC_ON_TWO_HOSTS: Rule = Rule::error("mac-on-two-hosts");

pub(super) const RULES: &[Rule] = &[CLUSTER_STATIC_ADDRESS, ADDRESS_ON_TWO_HOSTS, MAC_ON_TWO_HOSTS];

/// What of one host must not occur on another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    host: String,
    is_cluster: bool,
    /// Addresses without their prefix length.
    addresses: Vec<(String, Place)>,
    /// In lower case.
    macs: Vec<(String, Place)>,
}

/// Gathers a host's addresses and MAC addresses.
pub(crate) fn facts(host: &Host, document: &Document<'_>) -> Facts {
    let mut facts = Facts {
        host: host.name.clone().unwrap_or_default(),
        is_cluster: host.is_cluster(),
        addresses: Vec::new(),
        macs: Vec::new(),
    };
    let interfaces = document.root.get("interfaces").map(|node| node.items()).unwrap_or_default();
    for interface in interfaces {
        if let Some(node) = interface.get("mac-address")
            && let Some(mac) = node.text()
        {
            let mac = mac.to_ascii_lowercase();
            // A host repeats its own MAC on a bond and its ports; another host must not.
            if !facts.macs.iter().any(|(known, _)| *known == mac) {
                facts.macs.push((mac, document.place(node.span)));
            }
        }
        for family in ["ipv4", "ipv6"] {
            let list =
                interface.at(&[family, "address"]).map(|node| node.items()).unwrap_or_default();
            for node in list.iter().filter_map(|address| address.get("ip")) {
                let Some(ip) = node.text() else { continue };
                let ip = ip.parse::<std::net::IpAddr>().map_or(ip.to_owned(), |ip| ip.to_string());
                facts.addresses.push((ip, document.place(node.span)));
            }
        }
    }
    facts
}

pub(crate) fn check(hosts: &[Facts], diagnostics: &mut Vec<Diagnostic>) {
    for host in hosts.iter().filter(|host| host.is_cluster) {
        for (ip, place) in &host.addresses {
            diagnostics.push(
                Diagnostic::new(
                    CLUSTER_STATIC_ADDRESS,
                    format!("every node without a host file would get {ip}"),
                    place.clone(),
                )
                .help("put static addresses into <hostname>.yml, or use dhcp: true here"),
            );
        }
    }
    let named: Vec<&Facts> = hosts.iter().filter(|host| !host.is_cluster).collect();
    twice(&named, ADDRESS_ON_TWO_HOSTS, |host| &host.addresses, diagnostics);
    twice(&named, MAC_ON_TWO_HOSTS, |host| &host.macs, diagnostics);
}

fn twice<'h>(
    hosts: &[&'h Facts],
    rule: Rule,
    values: fn(&Facts) -> &[(String, Place)],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut first: HashMap<&'h str, (&'h str, &'h Place)> = HashMap::new();
    for host in hosts {
        for (value, place) in values(host) {
            match first.get(value.as_str()) {
                None => {
                    first.insert(value, (&host.host, place));
                }
                Some((other, _)) if *other == host.host => {}
                Some((other, other_place)) => {
                    let line = other_place.position.as_ref().map_or(0, |p| p.start.line);
                    diagnostics.push(Diagnostic::new(
                        rule,
                        format!("{value} is also on {other} ({}:{line})", other_place.file),
                        place.clone(),
                    ));
                }
            }
        }
    }
}
