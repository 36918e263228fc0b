//! The purpose of a check.

/// The use that a document is checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Conversion to profiles without a node; fields that profiles cannot hold are reported.
    Offline,
    /// Conversion for a program that called `nmstatectl gc`, and may give cards and VLANs their names on a node.
    HandedOn,
    /// Application on the node itself.
    Apply,
}
