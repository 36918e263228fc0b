//! Values that a form of output cannot carry.

use nmgen_core::output::NOT_IN_TARGET;
use nmgen_core::source::{Host, Nic};
use nmgen_document::diagnostic::Diagnostic;

use crate::convert::Converted;

/// One warning for the MAC addresses that only the source gives, if the output cannot hold them.
pub(super) fn map(hosts: &[Converted]) -> Option<Diagnostic> {
    let lost: Vec<_> = hosts.iter().flat_map(|host| only_mapped(&host.host)).collect();
    let first = lost.first()?;
    let message = format!(
        "the target cannot hold {} of the source's MAC addresses: a node finds the NICs by name",
        lost.len()
    );
    let diagnostic = Diagnostic::new(NOT_IN_TARGET, message, first.place.clone());
    Some(diagnostic.help("give the documents' interfaces their mac-address"))
}

fn only_mapped(host: &Host) -> impl Iterator<Item = &Nic> {
    host.nics.iter().filter(|nic| {
        let named = nic.name.as_deref().zip(host.document());
        named.is_some_and(|(name, document)| {
            let found = document.interface(name).and_then(|(_, node)| node.mac_at("mac-address"));
            found != Some(nic.mac_address)
        })
    })
}
