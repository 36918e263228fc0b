//! Side effects of the machine-config-operator's held-back units, done in their place.

use std::time::Duration;

use nmgen::chain;

use super::{marks, units};
use crate::{
    client::ovsdb::{Ovsdb, OvsdbError},
    durable::{self, FileError},
    paths::Paths,
};

/// A running database answers within milliseconds; a hanging one must not delay the boot.
const OVSDB: Duration = Duration::from_secs(5);

/// Stands in for nmstate-configuration and ovs-configuration. A second call repeats what failed
/// while Open vSwitch was down. Failures are warnings.
pub(super) async fn stand_in(paths: &Paths) {
    if let Err(error) = remove_mtu_migration(paths) {
        tracing::warn!("{}", chain(&error));
    }
    // Once per boot, before it goes on: later the address belongs to the running cluster.
    let is_forgotten =
        paths.ovn_remote_forgotten().exists() || paths.ovs_config_executed().exists();
    if marks::is_boot_held(paths) && !is_forgotten {
        match tokio::time::timeout(OVSDB, forget_ovn_remote(paths)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::info!(
                "the address of OVN's southbound database stays set: {}",
                chain(&error)
            ),
            Err(_) => tracing::warn!(
                "the address of OVN's southbound database stays set: OVSDB does not answer"
            ),
        }
    }
}

/// Like ovs-configuration's first step: ovn-controller must not connect to the previous database.
async fn forget_ovn_remote(paths: &Paths) -> Result<(), OvsdbError> {
    let mut ovsdb = Ovsdb::connect(&paths.ovsdb_socket()).await?;
    if ovsdb.forget_ovn_remote().await? {
        tracing::info!("cleared the address of OVN's southbound database");
    }
    marks::ovn_remote_forgotten(paths);
    Ok(())
}

/// Removes remains of an MTU migration, as each run of nmstate-configuration does, unless mtu-migration.service is enabled.
fn remove_mtu_migration(paths: &Paths) -> Result<(), FileError> {
    let remains = paths.mtu_migration();
    if !remains.exists() || units::is_enabled(paths, "mtu-migration.service") {
        return Ok(());
    }
    tracing::info!(path = %remains.display(), "removing remains of an MTU migration");
    durable::remove(&remains)
}

/// Whether the cluster's network is OVN-Kubernetes: the machine-config-operator enables
/// ovs-configuration.service only then.
pub(super) fn is_ovn_kubernetes(paths: &Paths) -> bool {
    units::is_enabled(paths, "ovs-configuration.service")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mtu_migration_goes_unless_it_is_enabled() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let remains = paths.mtu_migration();
        std::fs::create_dir_all(&remains)?;
        for directory in paths.unit_directories() {
            let wants = directory.join("multi-user.target.wants");
            std::fs::create_dir_all(&wants)?;
            let link = wants.join("mtu-migration.service");
            std::os::unix::fs::symlink("/nowhere", &link)?;
            remove_mtu_migration(&paths)?;
            assert!(remains.exists(), "{}", link.display());
            std::fs::remove_file(&link)?;
        }
        remove_mtu_migration(&paths)?;
        assert!(!remains.exists());
        remove_mtu_migration(&paths)?;
        Ok(())
    }
}
