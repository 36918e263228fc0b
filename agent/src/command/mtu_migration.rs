//! Remains of an MTU migration.

use crate::{durable, error::Error, paths::Paths};

/// As the script before did, unless the migration is enabled; by links, so without the bus.
pub(super) fn remove(paths: &Paths) -> Result<(), Error> {
    let Ok(targets) = std::fs::read_dir(paths.units()) else {
        return Ok(durable::remove(&paths.mtu_migration())?);
    };
    let enabled = targets.flatten().any(|t| {
        let name = t.file_name();
        let name = name.to_string_lossy();
        (name.ends_with(".wants") || name.ends_with(".requires"))
            && t.path().join("mtu-migration.service").symlink_metadata().is_ok()
    });
    if enabled { Ok(()) } else { Ok(durable::remove(&paths.mtu_migration())?) }
}
