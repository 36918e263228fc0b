//! Reads single documents of a hosts directory.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use nmgen_core::interface;
use nmgen_core::source::{Host, HostNetwork, Nic, read_file};
use nmgen_document::Node;
use nmgen_document::diagnostic::Diagnostics;
use nmgen_document::mac::Mac;
use nmgen_document::size::MAX_DOCUMENT_BYTES;

use crate::fault::Fault;
use crate::names::virtual_functions;

/// The host of a file, with the file's diagnostics.
///
/// # Errors
/// [`Fault::Document`]: not text, or not YAML. [`Fault::ReadFile`].
pub(crate) fn load(name: &str, path: &Path) -> Result<(Host, Diagnostics), Fault> {
    let mut diagnostics = Diagnostics::default();
    let shown = path.display().to_string();
    let source = read_file::document(&shown, &mut diagnostics).map_err(Fault::Machine)?;
    let Some(source) = source else {
        return Err(Fault::Document(diagnostics));
    };
    match Host::of_file(Some(name.to_owned()), &source) {
        Ok(host) => Ok((unwrapped(host), diagnostics)),
        Err(faults) => Err(Fault::Document(faults)),
    }
}

/// The host of an NMStateConfig of the assisted installer, which `nmgen check` takes in a hosts directory too: its document is
/// `spec.config`, and `spec.interfaces` has the addresses of its cards.
fn unwrapped(host: Host) -> Host {
    let Some(document) = host.document() else { return host };
    let root = &document.root;
    let config = root.at(&["spec", "config"]);
    let Some(config) = config.filter(|_| root.text_at("kind") == Some("NMStateConfig")) else {
        return host;
    };
    let cards = root.items_at(&["spec", "interfaces"]).iter();
    let nic = |node: &Node<'_>| {
        Some(Nic {
            name: node.text_at("name").map(str::to_owned),
            mac_address: node.mac_at("macAddress")?,
            place: host.place.clone(),
        })
    };
    let nics = cards.filter_map(nic).collect();
    let network = HostNetwork::Written(document.part(config.clone()));
    let host = Host { network, nics, ..host };
    Host { network: HostNetwork::read(host.with_mac_addresses()), ..host }
}

/// The MAC addresses of the cards that the document brings up; `None` when it cannot be read as a document. That of a virtual
/// function, and one beside a PCI address, are to be set: another card may have them.
pub(crate) fn addresses(path: &Path) -> Result<Option<Vec<Mac>>, Fault> {
    let host = match load("", path) {
        Ok((host, _)) => host,
        Err(Fault::Document(_)) => return Ok(None),
        Err(fault) => return Err(fault),
    };
    let Some(document) = host.document() else { return Ok(Some(Vec::new())) };
    let functions = virtual_functions::cards(&document.root);
    let cards = interface::all(&document.root).iter().filter(|node| {
        interface::is_up(node)
            && node.text_at("identifier") != Some("pci-address")
            && !node.text_at("name").is_some_and(|name| virtual_functions::is_one(&functions, name))
    });
    let own = cards.filter_map(|node| node.mac_at("mac-address"));
    // The map's are the host's cards too, where its document names none of them.
    let mapped = host.nics.iter().map(|nic| nic.mac_address);
    Ok(Some(own.chain(mapped).filter(|mac| !mac.is_zero()).collect()))
}

/// The file's bytes, up to the largest size of a document.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Fault> {
    let failed = |source| Fault::ReadFile { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let limit = MAX_DOCUMENT_BYTES as u64;
    File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)).map_err(failed)?;
    Ok(bytes)
}
