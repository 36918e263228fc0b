//! Name servers, and the interface whose profile stores them.

use std::net::{IpAddr, Ipv6Addr};

use nmgen_document::diagnostic::rules;
use nmgen_document::{Node, Path};

use super::address::Family;
use super::subject::{Interface, Report, Subject};

rules! {
    error DNS_SERVER_SYNTAX = "dns-server-syntax";
    pub(super) error DNS_WITHOUT_INTERFACE = "dns-without-interface";
    warning DNS_TOO_MANY_SERVERS = "dns-too-many-servers";
}

/// MAXNS of resolv.conf(5).
const MAX_SERVERS: usize = 3;

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    let Some(config) = subject.root.at(&["dns-resolver", "config"]) else { return };
    let path = |key: &str| Path::default().key("dns-resolver").key("config").key(key);
    let servers = config.items_at(&["server"]);
    let mut is_missing = [false; 2];
    for (index, node) in servers.iter().enumerate() {
        let Some(text) = node.text() else { continue };
        let at = || path("server").index(index);
        let Some((ip, link)) = server(text) else {
            let message =
                format!("\"{}\" is not the address of a name server", text.escape_debug());
            let help = match text.contains([' ', ';']) {
                true => "write each address as an item of its own, with ',' between them in [ ]",
                false => "write an IPv4 or IPv6 address, or fe80::1%eth0 for a link-local one",
            };
            report.add(DNS_SERVER_SYNTAX, &at(), message, help);
            continue;
        };
        if !subject.is_offline() {
            continue;
        }
        let family = Family::of(ip);
        if let Some(link) = link {
            on_link(subject, text, link, &at, report);
        } else if !is_missing[family as usize]
            && !subject.interfaces.iter().any(|i| holds(i, family))
        {
            is_missing[family as usize] = true;
            let message =
                format!("no interface here can hold the {} name server {ip}", family.name());
            let help = "name servers are kept in the profile of an interface that is up, with static addresses, \
                 DHCP or autoconf of the same protocol";
            report.add(DNS_WITHOUT_INTERFACE, &at(), message, help);
        }
    }
    if servers.len() > MAX_SERVERS {
        let message =
            format!("{} name servers: programs use the first {MAX_SERVERS} only", servers.len());
        let help = "resolv.conf(5) has at most three";
        report.add(DNS_TOO_MANY_SERVERS, &path("server").index(MAX_SERVERS), message, help);
    }
    search_only(subject, config, servers, path, report);
}

/// Without servers, nmstate stores search domains and options in an interface of either family.
fn search_only(
    subject: &Subject<'_>,
    config: &Node<'_>,
    servers: &[Node<'_>],
    path: impl Fn(&str) -> Path,
    report: &mut Report<'_>,
) {
    let key = ["search", "options"]
        .into_iter()
        .find(|key| config.get(key).is_some_and(|list| !list.items().is_empty()));
    let Some(key) = key.filter(|_| servers.is_empty() && subject.is_offline()) else { return };
    let what = if key == "search" { "search domains" } else { "options" };
    let can_hold = |interface| Family::BOTH.into_iter().any(|family| holds(interface, family));
    if !subject.interfaces.iter().any(can_hold) {
        let message = format!("no interface here can hold the DNS {what}");
        let help = "they are kept in the profile of an interface that is up, with static addresses, DHCP or autoconf";
        report.add(DNS_WITHOUT_INTERFACE, &path(key), message, help);
    }
}

/// The address, and the interface of a link-local one.
fn server(text: &str) -> Option<(IpAddr, Option<&str>)> {
    match text.split_once('%') {
        None => Some((text.parse().ok()?, None)),
        Some((ip, link)) => Some((IpAddr::V6(ip.parse::<Ipv6Addr>().ok()?), Some(link))),
    }
}

fn on_link(
    subject: &Subject<'_>,
    server: &str,
    link: &str,
    path: &impl Fn() -> Path,
    report: &mut Report<'_>,
) {
    let problem = match subject.interface(link) {
        None => "is not in this document",
        Some(interface) if interface.is_absent() => "has state absent",
        Some(interface) if !holds(interface, Family::V6) => "has no IPv6 addresses",
        Some(_) => return,
    };
    let message =
        format!("{link}, the interface of name server {}, {problem}", server.escape_debug());
    let help = "declare the interface with IPv6 enabled and an address, DHCP or autoconf";
    report.add(DNS_WITHOUT_INTERFACE, &path(), message, help);
}

/// Mirrors nmstate's MergedInterface::is_iface_valid_for_dns().
fn holds(interface: &Interface<'_>, family: Family) -> bool {
    interface.is_up()
        && interface.in_kernel()
        && interface.kind != "loopback"
        && family.is_enabled(interface.node)
        && (family.is_automatic(interface.node) || !family.addresses(interface.node).is_empty())
}
