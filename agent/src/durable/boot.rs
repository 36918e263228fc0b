//! The id of this boot.

use crate::paths::Paths;

/// The kernel's random id of this boot; empty if it cannot be read.
pub(crate) fn boot_id(paths: &Paths) -> String {
    std::fs::read_to_string(paths.boot_id()).unwrap_or_default().trim().to_owned()
}
