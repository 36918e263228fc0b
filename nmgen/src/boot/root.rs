//! Where things are, all of it below one root.

use std::path::{Path, PathBuf};

/// What the first step leaves for the second: files by their path in the running system.
pub(super) const STAGE: &str = "/run/nmgen-boot";
/// Where NetworkManager looks for profiles that last until the next boot; it survives switch-root.
pub(super) const RUN_PROFILES: &str = "/run/NetworkManager/system-connections";
/// Where it looks for profiles that stay.
pub(super) const ETC_PROFILES: &str = "/etc/NetworkManager/system-connections";
/// Settings of the initramfs's NetworkManager. dracut's own are in `15-carrier-timeout.conf`, and of two
/// files the later one's name wins (NetworkManager.conf(5)).
pub(super) const RUN_SETTINGS: &str = "/run/NetworkManager/conf.d/20-nmgen.conf";
/// In the running system: that its profiles were given to it once.
pub(super) const PERSISTED: &str = "/etc/nmgen/persisted";

/// The root directory.
#[derive(Debug, Clone)]
pub(crate) struct Paths(PathBuf);

impl Paths {
    pub(crate) fn new(root: &Path) -> Self {
        Self(root.to_owned())
    }

    /// True when what is below the root is what the kernel speaks of, and not a tree made up like it.
    pub(super) fn is_this_machine(&self) -> bool {
        self.0 == Path::new("/")
    }

    /// The place of an absolute path below the root.
    pub(crate) fn under(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    /// The same below the root file system that the initramfs is about to switch to.
    pub(super) fn in_sysroot(&self, path: &str) -> PathBuf {
        self.under("/sysroot").join(path.trim_start_matches('/'))
    }
}
