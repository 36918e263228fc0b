//! What the held-back units of the machine-config-operator do besides making a network.

use std::time::Duration;

use super::marks;
use nmgen::chain;

use crate::{
    client::ovsdb::{Ovsdb, OvsdbError},
    durable::{self, FileError},
    paths::Paths,
};

/// A database that is up answers within milliseconds; the boot does not wait for one that hangs.
const OVSDB: Duration = Duration::from_secs(5);

/// Stands in for nmstate-configuration and ovs-configuration. May be called again: what failed, as
/// Open vSwitch was not up, is done then. No document fails for it.
pub(super) async fn stand_in(paths: &Paths) {
    if let Err(error) = remove_mtu_migration(paths) {
        tracing::warn!("{}", chain(&error));
    }
    // Once a boot, and before it goes on: later the address is the running cluster's.
    if marks::is_undecided(paths) && !paths.ovs_config_executed().exists() {
        match tokio::time::timeout(OVSDB, forget_ovn_remote(paths)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::info!("OVN's database is not forgotten: {}", chain(&error)),
            Err(_) => tracing::warn!("OVN's database is not forgotten: OVSDB does not answer"),
        }
    }
}

/// As ovs-configuration does first of all: ovn-controller must not join the database of before.
async fn forget_ovn_remote(paths: &Paths) -> Result<(), OvsdbError> {
    let mut ovsdb = Ovsdb::connect(&paths.ovsdb_socket()).await?;
    if ovsdb.forget_ovn_remote().await? {
        tracing::info!("the address of OVN's southbound database is forgotten");
    }
    // Others see by it that configure-ovs.sh ran, and so does the next call.
    if let Err(error) = durable::write(&paths.ovs_config_executed(), b"", 0o644) {
        tracing::warn!("{}", chain(&error));
    }
    Ok(())
}

/// As nmstate-configuration does at every run, unless the migration is enabled; by links, so
/// without the bus.
fn remove_mtu_migration(paths: &Paths) -> Result<(), FileError> {
    let remains = paths.mtu_migration();
    if !remains.exists() || mtu_migration_is_enabled(paths) {
        return Ok(());
    }
    tracing::info!(path = %remains.display(), "remains of an MTU migration go");
    durable::remove(&remains)
}

fn mtu_migration_is_enabled(paths: &Paths) -> bool {
    let targets = paths.units().read_dir().into_iter().flatten().flatten();
    targets.map(|target| target.path()).any(|target| {
        target.extension().is_some_and(|it| it == "wants" || it == "requires")
            && target.join("mtu-migration.service").symlink_metadata().is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mtu_migration_goes_unless_it_is_enabled() -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let remains = paths.mtu_migration();
        let wants = paths.units().join("multi-user.target.wants");
        std::fs::create_dir_all(&remains)?;
        std::fs::create_dir_all(&wants)?;
        let link = wants.join("mtu-migration.service");
        std::os::unix::fs::symlink("/nowhere", &link)?;
        remove_mtu_migration(&paths)?;
        assert!(remains.exists());
        std::fs::remove_file(&link)?;
        remove_mtu_migration(&paths)?;
        assert!(!remains.exists());
        remove_mtu_migration(&paths)?;
        Ok(())
    }
}
