//! The paths of the boot stage, below one root.

use std::path::{Path, PathBuf};

/// The first step stages files for the second here, under their paths in the running system.
pub(crate) const STAGE: &str = "/run/nmgen-boot";
/// NetworkManager's directory for profiles until the next boot; it survives switch-root.
pub(crate) const RUN_PROFILES: &str = "/run/NetworkManager/system-connections";
/// NetworkManager's directory for permanent profiles.
pub(crate) const ETC_PROFILES: &str = "/etc/NetworkManager/system-connections";
/// Settings of the initramfs's NetworkManager. dracut's own are in `15-carrier-timeout.conf`; the
/// file whose name sorts last wins (NetworkManager.conf(5)).
pub(crate) const RUN_SETTINGS: &str = "/run/NetworkManager/conf.d/20-nmgen.conf";
/// dracut sets the host name from it when the network is up, but not where NetworkManager's own unit did so, before nmgen;
/// coreos-teardown-initramfs copies it to the running system.
pub(crate) const EARLY_HOST_NAME: &str = "/run/NetworkManager/initrd/hostname";
/// The mark in the running system that it has received its profiles.
pub(crate) const PERSISTED: &str = "/etc/nmgen/persisted";

/// The initramfs's NetworkManager starts only if this file exists. dracut creates it with `rd.neednet` when there is a profile,
/// NetworkManager's own unit (1.54) without; the generator writes no default one if the initramfs's `/etc` has the directory.
pub(crate) const NEEDED: &str = "/run/NetworkManager/initrd/neednet";
/// Every initramfs of dracut's has it, and no running system: systemd looks at it too.
pub(crate) const INITRAMFS: &str = "/etc/initrd-release";

/// The root directory.
#[derive(Debug, Clone)]
pub(crate) struct Paths(PathBuf);

impl Paths {
    pub(crate) fn new(root: &Path) -> Self {
        Self(root.to_owned())
    }

    /// True when the root is the running machine's, and not a test tree.
    pub(crate) fn is_this_machine(&self) -> bool {
        self.0 == Path::new("/")
    }

    /// An absolute path, below the root.
    pub(crate) fn under(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }
}
