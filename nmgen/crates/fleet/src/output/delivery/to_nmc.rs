//! The directory that SUSE's nm-configurator makes: a directory of profiles a host, and `host_config.yaml`, by whose MAC addresses
//! `nmc apply` knows the host that it runs on; for a document of all nodes, `_all` alone.

use nmgen_core::interface;
use nmgen_core::output::{self, NOT_IN_TARGET};
use nmgen_core::profile::Profile;
use nmgen_core::write::File;
use nmgen_document::Node;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics};
use nmgen_document::error::Error;
use serde_json::{Value, json};

use super::cards;
use super::host_name::named;
use super::to_nmstateconfig::NIC_WITHOUT_MAC;
use crate::convert::Converted;
use crate::output::rendered::Output;

const ALL: &str = "_all";
const MAP: &str = "host_config.yaml";

/// The file that nmc writes itself when it applies: the name of the host's directory is the host's.
const HOSTNAME: &str = "etc/hostname";

pub(super) fn render(hosts: &[Converted], diagnostics: &mut Diagnostics) -> Result<Output, Error> {
    if let [host] = hosts
        && host.host.is_cluster()
    {
        return Ok(Output::Directory(profiles(host, ALL, diagnostics)));
    }
    let mut files = Vec::new();
    let mut map = Vec::new();
    for (name, host) in named("nmc's output", hosts, diagnostics) {
        files.extend(profiles(host, name, diagnostics));
        map.push(json!({ "hostname": name, "interfaces": interfaces(host, diagnostics) }));
    }
    let content = serde_yaml::to_string(&map).map_err(|source| Error::RenderYaml { source })?;
    files.push(File { directories: Vec::new(), name: MAP.to_owned(), content: content.into() });
    Ok(Output::Directory(files))
}

/// The profiles below `directory`; files beside them have no place there.
fn profiles(host: &Converted, directory: &str, diagnostics: &mut Diagnostics) -> Vec<File> {
    let mut configuration = host.configuration.clone();
    for file in configuration.files.drain(..) {
        if file.path == HOSTNAME && file.content.trim_end() == directory {
            continue;
        }
        let message = format!("{} is not in nmc's output", file.field);
        diagnostics.push(
            Diagnostic::new(NOT_IN_TARGET, message, file.place)
                .help(format!("bring the node /{} another way", file.path)),
        );
    }
    output::files(&configuration, &[directory.to_owned()])
}

/// The interfaces with a profile, and the profiles of each. A profile belongs to the interface with its MAC address, else with its
/// name: an Open vSwitch bridge and its interface of the same name share theirs.
fn interfaces(host: &Converted, diagnostics: &mut Diagnostics) -> Vec<Value> {
    let cards = cards::cards(host);
    for card in cards.iter().filter(|card| card.mac().is_none()) {
        let message = format!("the MAC address of NIC {} is unknown", card.name);
        let diagnostic = Diagnostic::new(NIC_WITHOUT_MAC, message, card.place.clone());
        diagnostics.push(
            diagnostic.help("give the interface its mac-address; `nmc apply` finds its host by it"),
        );
    }
    let Some(document) = host.host.document() else { return Vec::new() };
    let nodes = interface::all(&document.root);
    let mut left: Vec<&Profile> = host.configuration.profiles.iter().collect();
    left.retain(|profile| profile.keyfile.get("connection", "type") != Some("loopback"));
    let mut found = Vec::new();
    for node in nodes {
        let name = node.text_at("name").unwrap_or_default();
        let (own, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|profile| is_of(profile, name, node));
        left = others;
        if own.is_empty() {
            continue;
        }
        let ids: Vec<&str> = own.iter().map(|profile| profile.id.as_str()).collect();
        let mut entry = json!({ "logical_name": name, "connection_ids": ids });
        let mapped = cards.iter().find(|card| card.name == name).and_then(cards::Card::mac);
        let mac = node.text_at("mac-address").map(str::to_owned);
        if let Some(mac) = mac.or_else(|| mapped.map(|mac| mac.to_string())) {
            entry["mac_address"] = mac.into();
        }
        entry["interface_type"] = node.text_at("type").unwrap_or("ethernet").into();
        found.push(entry);
    }
    found
}

fn is_of(profile: &Profile, name: &str, node: &Node<'_>) -> bool {
    let by = |section, key| profile.keyfile.get(section, key);
    match by("ethernet", "mac-address") {
        Some(mac) if by("connection", "interface-name").is_none() => {
            node.text_at("mac-address").is_some_and(|own| own.eq_ignore_ascii_case(mac))
        }
        _ => by("connection", "interface-name") == Some(name),
    }
}
