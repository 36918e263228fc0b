//! Takes the place of `network` in an initramfs, where hosts are not compared.

use crate::document::Node;

/// Nothing is gathered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Network;

pub(super) fn network(_: &Node<'_>) -> Network {
    Network
}
