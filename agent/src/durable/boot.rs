//! The id of this boot, and the time.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::paths::Paths;

/// The kernel's random id of this boot; empty if it cannot be read.
pub(crate) fn boot_id(paths: &Paths) -> String {
    std::fs::read_to_string(paths.boot_id()).unwrap_or_default().trim().to_owned()
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}
