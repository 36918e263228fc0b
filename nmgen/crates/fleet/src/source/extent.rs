//! How far sources are read, by what is done with them.

/// The use of sources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// To write files: of a directory with hosts, its own alone; what cannot be written is an error.
    #[default]
    Written,
    /// To be looked at, with all directories below.
    Shown,
    /// To be checked, with all directories below: what describes no host, and what only a node can resolve, is no error.
    Checked,
    /// To be converted as `nmstatectl gc` does: a NetworkPolicy without captures is its desired state.
    Converted,
    /// To be validated as `nmstatectl validate` does: a NetworkPolicy is one.
    Validated,
}

impl Extent {
    /// True for a text that nmstatectl's command line would read.
    pub(super) const fn is_nmstatectls(self) -> bool {
        matches!(self, Self::Converted | Self::Validated)
    }
}
