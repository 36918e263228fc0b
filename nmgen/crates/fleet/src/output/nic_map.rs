//! The network cards of a host, from its source and its document.

use nmgen_core::source::{Host, Nic};

/// Cards whose MAC address only the source gives; a form without a map loses it.
pub(super) fn only_mapped(host: &Host) -> impl Iterator<Item = &Nic> {
    host.nics.iter().filter(|nic| {
        let named = nic.name.as_deref().zip(host.document());
        named.is_some_and(|(name, document)| {
            let found = document.interface(name).and_then(|(_, node)| node.mac_at("mac-address"));
            found != Some(nic.mac_address)
        })
    })
}
