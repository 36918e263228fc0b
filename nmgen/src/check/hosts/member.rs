//! A host among others.

use super::facts::Facts;
use crate::source::Host;

/// One of several hosts and what it contributes.
#[derive(Clone, Copy)]
pub(super) struct Member<'h> {
    pub(super) host: &'h Host,
    pub(super) facts: &'h Facts,
}

impl<'h> Member<'h> {
    /// Up to the first dot: sources differ in whether they have the domain.
    pub(super) fn name(&self) -> Option<&'h str> {
        let name = self.host.name.as_deref()?;
        name.split('.').next()
    }

    pub(super) fn is_same_host(&self, other: &Self) -> bool {
        match (self.name(), other.name()) {
            (None, None) => std::ptr::eq(self.host, other.host),
            (own, other) => own == other,
        }
    }
}
