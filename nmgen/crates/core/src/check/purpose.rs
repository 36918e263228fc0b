//! The purpose of a check.

/// The use that a document is checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Conversion to profiles without a node; fields that profiles cannot hold are reported.
    Offline,
    /// Application on the node itself.
    Apply,
}
