//! Takes the place of `network` in an initramfs, where hosts are not compared.

use std::marker::PhantomData;

use crate::document::Node;

/// Nothing is gathered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Network<'h>(PhantomData<&'h Node<'h>>);

pub(super) fn network<'h>(_: &'h Node<'_>) -> Network<'h> {
    Network::default()
}
