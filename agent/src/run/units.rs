//! The links that enable units; the bus may be down.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use crate::{
    durable::{self, FileError},
    paths::{Paths, cannot},
};

/// Endings of the directories with the links that `systemctl enable` makes.
const WANTED: [&str; 3] = [".wants", ".requires", ".upholds"];

/// Whether another unit wants `unit`, by a link in any directory that systemd reads. A directory that cannot be read
/// counts as one with the link.
pub(crate) fn is_enabled(paths: &Paths, unit: &str) -> bool {
    paths.unit_directories().iter().any(|directory| match is_linked(directory, unit) {
        Ok(is_linked) => is_linked,
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => {
            tracing::warn!("{}: {error}; {unit} counts as enabled", directory.display());
            true
        }
    })
}

fn is_linked(directory: &Path, unit: &str) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let is_wants =
            path.to_str().is_some_and(|text| WANTED.iter().any(|end| text.ends_with(end)));
        if is_wants && path.join(unit).symlink_metadata().is_ok() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves the link by which 0.2.0 had dayone-bridge.service started with the machine to the place that its `[Install]` section
/// names now; returns whether there was one. A disabled unit has none. `systemctl enable`, by which machine-config-daemon enables
/// the units of a MachineConfig, leaves the old one.
pub(crate) fn move_link_of_0_2(paths: &Paths) -> Result<bool, FileError> {
    let [old, new] = ["multi-user.target.wants", "ovs-configuration.service.wants"]
        .map(|wants| paths.under("/etc/systemd/system").join(wants));
    let link = |directory: &Path| directory.join("dayone-bridge.service");
    if link(&old).symlink_metadata().is_err() {
        return Ok(false);
    }
    // Whatever the umask: `systemctl is-enabled` is everybody's.
    let made = fs::create_dir_all(&new)
        .and_then(|()| fs::set_permissions(&new, fs::Permissions::from_mode(0o755)));
    made.map_err(cannot("create the directory", &new))?;
    durable::rename(&link(&old), &link(&new))?;
    durable::sync_dir(&old)?;
    Ok(true)
}

/// Whether systemd finds a file of this name.
pub(crate) fn is_installed(paths: &Paths, unit: &str) -> bool {
    paths.unit_directories().iter().any(|directory| directory.join(unit).exists())
}

pub(crate) fn is_masked(paths: &Paths, unit: &str) -> bool {
    let is_null =
        |link: &PathBuf| link.read_link().is_ok_and(|target| target == Path::new("/dev/null"));
    paths.masks(unit).iter().any(is_null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_of_0_2_moves_and_a_disabled_unit_stays_disabled() -> Result<(), FileError> {
        const OLD: &str = "multi-user.target.wants";
        const NEW: &str = "ovs-configuration.service.wants";
        for (before, after) in [
            (&[OLD][..], &[NEW][..]),
            // machine-config-daemon has enabled the unit already.
            (&[OLD, NEW], &[NEW]),
            (&[NEW], &[NEW]),
            (&[], &[]),
        ] {
            let root = tempfile::tempdir().expect("a directory");
            let paths = Paths::new(root.path());
            let link = |wants: &str| {
                paths.under("/etc/systemd/system").join(wants).join("dayone-bridge.service")
            };
            for wants in before {
                let link = link(wants);
                fs::create_dir_all(link.parent().unwrap_or(&link)).expect("a directory");
                std::os::unix::fs::symlink("../dayone-bridge.service", &link).expect("a link");
            }
            assert_eq!(move_link_of_0_2(&paths)?, before.contains(&OLD));
            let found = [OLD, NEW].map(|wants| link(wants).symlink_metadata().is_ok());
            assert_eq!(found, [OLD, NEW].map(|wants| after.contains(&wants)), "{before:?}");
            assert_eq!(is_enabled(&paths, "dayone-bridge.service"), !after.is_empty());
        }
        Ok(())
    }
}
