//! A host within a fleet.

use nmgen_core::check::{Facts, Purpose};
use nmgen_core::source::Host;

use super::network::{Network, network};

/// A host's facts that are compared with other hosts' and with the cluster's.
pub(crate) struct Compared<'h> {
    facts: Facts<'h>,
    network: Network<'h>,
    purpose: Purpose,
    stands_alone: bool,
}

impl<'h> Compared<'h> {
    /// Adds to a host's facts those of its network. `purpose`, `stands_alone`: see [`Member`].
    pub(crate) fn new(
        host: &'h Host,
        facts: Facts<'h>,
        purpose: Purpose,
        stands_alone: bool,
    ) -> Self {
        let network = host.document().map(|document| network(&document.root));
        Self { facts, network: network.unwrap_or_default(), purpose, stands_alone }
    }
}

/// A host with its facts.
#[derive(Clone, Copy)]
pub(super) struct Member<'h> {
    pub(super) host: &'h Host,
    pub(super) facts: &'h Facts<'h>,
    pub(super) network: &'h Network<'h>,
    /// The use that the document was checked for.
    pub(super) purpose: Purpose,
    /// The document has no errors: what it lacks, the host lacks.
    pub(super) stands_alone: bool,
}

impl<'h> Member<'h> {
    pub(super) fn new(host: &'h Host, compared: &'h Compared<'h>) -> Self {
        let Compared { facts, network, purpose, stands_alone } = compared;
        Self { host, facts, network, purpose: *purpose, stands_alone: *stands_alone }
    }

    /// The name up to the first dot, since sources differ in giving the domain.
    pub(super) fn name(&self) -> Option<&'h str> {
        self.host.short_name()
    }

    pub(super) fn is_same_host(&self, other: &Self) -> bool {
        match (self.name(), other.name()) {
            (None, None) => std::ptr::eq(self.host, other.host),
            (own, other) => own == other,
        }
    }
}
