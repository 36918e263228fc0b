//! Tells an initramfs from a running system.

use super::fault::Fault;
use super::root::{INITRAMFS, Paths};

/// True in an initramfs.
pub(super) fn is(paths: &Paths) -> bool {
    // A link, whose target need not exist below a tree's root.
    paths.under(INITRAMFS).symlink_metadata().is_ok()
}

/// A running system would keep the initramfs's variants of profiles for good.
///
/// # Errors
/// [`Fault::WrongRoot`].
pub(super) fn expect(paths: &Paths) -> Result<(), Fault> {
    match is(paths) {
        true => Ok(()),
        false => Err(Fault::WrongRoot {
            path: paths.under(INITRAMFS),
            found: "is missing, so this is no initramfs",
            remedy: "in a live root --live writes profiles, elsewhere `nmgen generate`",
        }),
    }
}
