//! Address families, each with its own gateways.

/// IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    /// Both.
    pub(super) const ALL: [Self; 2] = [Self::V4, Self::V6];

    /// Whether this is IPv4.
    pub(super) fn is_v4(self) -> bool {
        self == Self::V4
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_v4() { "IPv4" } else { "IPv6" })
    }
}
