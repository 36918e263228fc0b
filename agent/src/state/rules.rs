//! Routing rules that exist already.

use nmstate::NetworkState;

/// Makes nmstate store the document's rules. If they equal the current ones, nmstate stores none, and those of an interface that
/// becomes a port of br-ex are lost with its addresses. A rule that is given twice is stored once, and the lists differ.
pub(super) fn store_always(desired: &mut NetworkState) {
    let Some(rules) = &mut desired.rules.config else { return };
    if let Some(first) = rules.iter().find(|rule| rule.state.is_none()).cloned() {
        rules.push(first);
    }
}
