//! Values that a form of output cannot carry.

use nmgen_core::output::NOT_IN_TARGET;
use nmgen_document::diagnostic::Diagnostic;

use super::nic_map;
use crate::convert::Converted;

/// One warning for the MAC addresses that only the source gives, if the output cannot hold them.
pub(super) fn map(hosts: &[Converted]) -> Option<Diagnostic> {
    let lost: Vec<_> = hosts.iter().flat_map(|host| nic_map::only_mapped(&host.host)).collect();
    let first = lost.first()?;
    let message = format!(
        "the target cannot hold {} of the source's MAC addresses: a node finds the NICs by name",
        lost.len()
    );
    let diagnostic = Diagnostic::new(NOT_IN_TARGET, message, first.place.clone());
    Some(diagnostic.help("give the documents' interfaces their mac-address"))
}
