//! Kernel arguments for dracut's network modules: dracut.cmdline(7), nm-initrd-generator(8).

use std::fmt::Write;

use nmgen_core::profile::{Entry, Profile, Section};
use nmgen_document::Node;
use nmgen_document::diagnostic::Diagnostics;
use nmgen_document::error::Error;

use super::host_name::per_host;
use super::{cards, kargs_loss};
use crate::convert::Converted;
use crate::output::options::Options;
use crate::output::rendered::Output;

/// One line, or `<host>.kargs` for each of several hosts.
pub(crate) fn render(
    hosts: &[Converted],
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<Output, Error> {
    diagnostics.extend(hosts.iter().flat_map(|host| kargs_loss::losses(host, options.allow_loss)));
    diagnostics.extend(
        hosts.iter().filter_map(|host| kargs_loss::length(host, arguments(host).join(" ").len())),
    );
    per_host(hosts, "kargs", |host| Ok((arguments(host).join(" ") + "\n").into_bytes()))
}

/// Takes the values from the profiles, so that they mean the same as in keyfiles.
fn arguments(converted: &Converted) -> Vec<String> {
    let profiles = &converted.configuration.profiles;
    let of = |kind: &'static str| {
        profiles.iter().filter(move |profile| value(profile, "connection", "type") == Some(kind))
    };
    // Without it dracut configures no network unless something else needs one.
    let mut arguments = vec!["rd.neednet=1".to_owned()];
    for card in cards::cards(converted) {
        // dracut's udev rule for it is for Ethernet.
        let mac = card.mac().filter(|mac| !mac.is_infiniband());
        arguments.extend(mac.map(|mac| format!("ifname={}:{mac}", card.name)));
    }
    arguments.extend(of("bond").map(|bond| self::bond(bond, profiles)));
    for vlan in of("vlan") {
        let parent = value(vlan, "vlan", "parent").unwrap_or_default();
        arguments.push(format!("vlan={}:{parent}", name(vlan)));
    }
    let files = &converted.configuration.files;
    let hostname = files.iter().find(|file| file.path == "etc/hostname");
    let hostname = hostname.map(|file| file.content.trim_end());
    let mut routes = Vec::new();
    let own: Vec<&Profile> = profiles.iter().filter(|p| controller(p).is_none()).collect();
    // The host name goes with the first address.
    let with_hostname = own.iter().position(|profile| has_address(profile)).unwrap_or_default();
    for (index, profile) in own.into_iter().enumerate() {
        let hostname = hostname.filter(|_| index == with_hostname);
        ip(profile, hostname, &mut arguments, &mut routes);
    }
    let document = converted.host.document();
    let servers = document.and_then(|d| d.root.at(&["dns-resolver", "config", "server"]));
    let servers = servers.map(Node::items).unwrap_or_default().iter().filter_map(Node::text);
    arguments.extend(servers.map(|server| format!("nameserver={server}")));
    arguments.append(&mut routes);
    arguments
}

fn value<'p>(profile: &'p Profile, section: &str, key: &str) -> Option<&'p str> {
    profile.keyfile.get(section, key)
}

fn name(profile: &Profile) -> &str {
    value(profile, "connection", "interface-name").unwrap_or(&profile.id)
}

fn controller(profile: &Profile) -> Option<&str> {
    value(profile, "connection", "master").or_else(|| value(profile, "connection", "controller"))
}

fn has_address(profile: &Profile) -> bool {
    let sections = ["ipv4", "ipv6"].into_iter().filter_map(|name| profile.keyfile.section(name));
    sections.into_iter().any(|section| numbered(section, "address").next().is_some())
}

/// `bond=<bond>:<ports>:<options>[:<mtu>]`.
fn bond(bond: &Profile, profiles: &[Profile]) -> String {
    let is_port = |profile: &&Profile| controller(profile) == Some(name(bond));
    let ports: Vec<&str> = profiles.iter().filter(is_port).map(name).collect();
    let option = |(key, value): &Entry| format!("{key}={value}");
    let section = bond.keyfile.section("bond");
    let options: Vec<String> =
        section.map(|section| section.entries.iter().map(option).collect()).unwrap_or_default();
    let mut argument = format!("bond={}:{}:{}", name(bond), ports.join(","), options.join(","));
    if let Some(mtu) = value(bond, "ethernet", "mtu") {
        let _ = write!(argument, ":{mtu}");
    }
    argument
}

/// `ip=` for each address, or a single one without; `rd.route=` for routes other than an address's
/// gateway.
fn ip(
    profile: &Profile,
    mut hostname: Option<&str>,
    arguments: &mut Vec<String>,
    routes: &mut Vec<String>,
) {
    let name = name(profile);
    let kind = method(profile);
    let tail = link(profile);
    let mut is_said = false;
    for family in ["ipv4", "ipv6"] {
        let Some(section) = profile.keyfile.section(family) else { continue };
        let mut ways = numbered(section, "route").filter_map(route).collect::<Vec<_>>();
        for address in numbered(section, "address") {
            let Some((address, prefix)) = address.split_once('/') else { continue };
            let default = ways.iter().position(|way| way.is_default());
            let gateway = default.map(|index| ways.remove(index).gateway).unwrap_or_default();
            let (address, gateway) = (bracketed(address), bracketed(gateway));
            let host = hostname.take().unwrap_or_default();
            arguments.push(format!("ip={address}::{gateway}:{prefix}:{host}:{name}:{kind}{tail}"));
            is_said = true;
        }
        routes.extend(ways.iter().map(|way| {
            let (destination, gateway) = (bracketed(way.destination), bracketed(way.gateway));
            format!("rd.route={destination}:{gateway}:{name}")
        }));
    }
    match hostname {
        _ if is_said => {}
        Some(host) => arguments.push(format!("ip=::::{host}:{name}:{kind}{tail}")),
        None => arguments.push(format!("ip={name}:{kind}{tail}")),
    }
}

/// The method that adds dynamic addresses to static ones.
fn method(profile: &Profile) -> &'static str {
    let method = |family| value(profile, family, "method").unwrap_or("disabled");
    match (method("ipv4"), method("ipv6")) {
        ("auto", _) => "dhcp",
        (_, "auto") => "auto6",
        (_, "dhcp") => "dhcp6",
        (_, "link-local") => "link6",
        _ => "none",
    }
}

/// `[:<mtu>[:<mac>]]`; a bond's MTU is in `bond=`, a card's MAC address in `ifname=`.
fn link(profile: &Profile) -> String {
    let kind = value(profile, "connection", "type").unwrap_or_default();
    let mtu = value(profile, "ethernet", "mtu").filter(|_| kind != "bond");
    let mac = value(profile, "ethernet", "cloned-mac-address");
    let mac = mac.filter(|_| matches!(kind, "bond" | "vlan"));
    match (mtu, mac) {
        (mtu, Some(mac)) => format!(":{}:{mac}", mtu.unwrap_or_default()),
        (Some(mtu), None) => format!(":{mtu}"),
        (None, None) => String::new(),
    }
}

struct Way<'p> {
    destination: &'p str,
    gateway: &'p str,
}

impl Way<'_> {
    fn is_default(&self) -> bool {
        self.destination.ends_with("/0") && !self.gateway.is_empty()
    }
}

/// `<destination>,<gateway>,<metric>`; the unspecified address means no gateway.
fn route(value: &str) -> Option<Way<'_>> {
    let mut parts = value.split(',');
    let destination = parts.next()?;
    let gateway = parts.next().filter(|gateway| !matches!(*gateway, "0.0.0.0" | "::"));
    Some(Way { destination, gateway: gateway.unwrap_or_default() })
}

/// The values of `<key>0`, `<key>1`, ..., by number.
fn numbered<'p>(section: &'p Section, key: &str) -> impl Iterator<Item = &'p str> {
    let number = |name: &str| name.strip_prefix(key)?.parse::<u32>().ok();
    let mut found: Vec<(u32, &str)> =
        section.entries.iter().filter_map(|(k, v)| Some((number(k)?, v.as_str()))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, value)| value)
}

/// Brackets around IPv6, since a colon separates fields.
fn bracketed(address: &str) -> String {
    if address.contains(':') { format!("[{address}]") } else { address.to_owned() }
}
