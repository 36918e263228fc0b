//! The network cards of a host, from its source and its document.

use crate::document::{Document, Node};
use crate::source::{Host, Nic};

/// Cards whose MAC address only the source gives; a form without a map loses it.
pub(super) fn only_mapped(host: &Host) -> impl Iterator<Item = &Nic> {
    host.nics.iter().filter(|nic| {
        let named = nic.name.as_deref().zip(host.document.as_ref());
        named.is_some_and(|(name, document)| {
            let found = interface(document, name).and_then(|(_, node)| node.mac_at("mac-address"));
            found != Some(nic.mac_address)
        })
    })
}

/// The kernel interface with this name, and its index.
pub(super) fn interface<'d, 't>(
    document: &'d Document<'t>,
    name: &str,
) -> Option<(usize, &'d Node<'t>)> {
    let nodes = document.root.get("interfaces")?.items().iter().enumerate();
    let mut named = nodes.filter(|(_, node)| node.text_at("name") == Some(name));
    // An ovs-bridge may share another interface's name.
    named.find(|(_, node)| node.text_at("type") != Some("ovs-bridge"))
}
