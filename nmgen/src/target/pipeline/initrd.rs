//! An archive with the hosts' documents for `nmgen boot`, to be appended to an initramfs.

mod cpio;

use std::collections::{BTreeMap, BTreeSet};

use self::cpio::Archive;
use super::card;
use super::name::document_name;
use crate::pipeline::Converted;
use crate::target::nic;

/// `etc/nmgen/<host>.yml`, sorted. A host of which only a bare MAC address is known is also there under
/// `aa-bb-cc-dd-ee-ff.yml`.
pub(super) fn render(hosts: &[Converted]) -> Vec<u8> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for converted in hosts {
        let Some(document) = card::with_mac_addresses(&converted.host) else { continue };
        let nodes = document.root.get("interfaces").map(|node| node.items()).unwrap_or_default();
        let known: BTreeSet<String> = nodes.iter().filter_map(nic::mac_address).collect();
        let text = document.text().into_owned().into_bytes();
        let nics = &converted.host.nics;
        let is_found = nics.is_empty() || nics.iter().any(|nic| known.contains(&nic.mac_address));
        if let (false, Some(nic)) = (is_found, nics.first()) {
            let name = nic.mac_address.replace(':', "-");
            files.insert(format!("{name}.yml"), text.clone());
        }
        files.insert(format!("{}.yml", document_name(converted)), text);
    }
    let mut archive = Archive::default();
    archive.directory("etc");
    archive.directory("etc/nmgen");
    for (name, text) in &files {
        archive.file(&format!("etc/nmgen/{name}"), text);
    }
    archive.finish()
}
