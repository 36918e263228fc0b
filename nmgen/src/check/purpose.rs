//! What a document is checked for.

/// What the document is checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To become connection profiles without a look at the node: what cannot be carried is said.
    Offline,
    /// To be applied on the node itself.
    Apply,
}
