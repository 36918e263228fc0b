//! The sizes that a page may have: a browser opens it on a laptop, whatever the fleet is.

/// The bytes of a page's parts.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Pictures together: some 2,000.
    pub(super) pictures: usize,
    pub(super) findings: usize,
}

/// The bytes of a real page.
pub(super) const PAGE: Bounds = Bounds { pictures: 12 << 20, findings: 8 << 20 };

/// Bytes that are left.
pub(super) struct Budget(pub(super) usize);

impl Budget {
    /// Takes the bytes of a text if there are as many.
    pub(super) fn has_room(&mut self, length: usize) -> bool {
        let left = self.0.checked_sub(length);
        // A smaller one may fit later, and nobody would know why: the first that does not fit is the last.
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}
