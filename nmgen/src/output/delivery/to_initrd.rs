//! An archive with the hosts' documents for `nmgen boot`, to be appended to an initramfs.

use std::collections::{BTreeMap, BTreeSet};

use super::cards;
use super::cpio::Archive;
use super::host_name::document_name;
use crate::convert::Converted;
use crate::mac::Mac;

/// `etc/nmgen/<host>.yml`, sorted. A host known only by a MAC address gets a link to its document,
/// `aa-bb-cc-dd-ee-ff.yml`, so that both names give one document.
pub(super) fn render(hosts: &[Converted]) -> Vec<u8> {
    let mut files: BTreeMap<String, Entry> = BTreeMap::new();
    for converted in hosts {
        let Some(document) = cards::with_mac_addresses(&converted.host) else { continue };
        let nodes = document.root.get("interfaces").map(|node| node.items()).unwrap_or_default();
        let known: BTreeSet<Mac> =
            nodes.iter().filter_map(|node| node.mac_at("mac-address")).collect();
        let nics = &converted.host.nics;
        let is_found = nics.is_empty() || nics.iter().any(|nic| known.contains(&nic.mac_address));
        let file = format!("{}.yml", document_name(converted));
        if let (false, Some(nic)) = (is_found, nics.first()) {
            let link = format!("{}.yml", nic.mac_address.to_string().replace(':', "-"));
            // A file with this name is some host's document.
            files.entry(link).or_insert_with(|| Entry::Link(file.clone()));
        }
        files.insert(file, Entry::Document(document.text().into_owned().into_bytes()));
    }
    let mut archive = Archive::default();
    archive.directory("etc");
    archive.directory("etc/nmgen");
    for (name, entry) in &files {
        let path = format!("etc/nmgen/{name}");
        match entry {
            Entry::Document(text) => archive.file(&path, text),
            Entry::Link(to) => archive.link(&path, to),
        }
    }
    archive.finish()
}

enum Entry {
    Document(Vec<u8>),
    Link(String),
}
