//! The sizes that a page may have: a browser opens it on a laptop, whatever the fleet is.

/// Pictures of a page together: some 2,000 hosts'.
pub(super) const PICTURES: usize = 12 << 20;
/// Trees of text, and findings.
pub(super) const TREES: usize = 12 << 20;
pub(super) const FINDINGS: usize = 8 << 20;

/// Bytes that are left.
pub(super) struct Budget(pub(super) usize);

impl Budget {
    /// Takes the bytes of a text if there are as many.
    pub(super) fn has_room(&mut self, text: &str) -> bool {
        let left = self.0.checked_sub(text.len());
        // A smaller one may fit later, and nobody would know why: the first that does not fit is the last.
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}
