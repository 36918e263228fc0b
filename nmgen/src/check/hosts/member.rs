//! A host within a fleet.

use super::facts::Facts;
use crate::source::Host;

/// A host with its facts.
#[derive(Clone, Copy)]
pub(super) struct Member<'h> {
    pub(super) host: &'h Host,
    pub(super) facts: &'h Facts<'h>,
}

impl<'h> Member<'h> {
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
