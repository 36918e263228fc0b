//! The same work for every host, one after the other: an initramfs converts the document of one host, and all that
//! threads need is a thirtieth of its program.

/// The results in the order of `items`.
pub(crate) fn each<'i, T, R>(items: &'i [T], work: impl Fn(&'i T) -> R) -> Vec<R> {
    items.iter().map(work).collect()
}
