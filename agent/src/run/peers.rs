//! Side effects of the machine-config-operator's held-back units, done in their place.

use std::time::Duration;

use nmgen::chain;

use super::{marks, units};
use crate::{
    client::{
        dbus::{BusError, arguments, has_job, start_unit},
        ovsdb::{Ovsdb, OvsdbError},
    },
    durable::{self, FileError},
    paths::Paths,
    warn::OrWarn as _,
};

/// A running database answers within milliseconds; a hanging one must not delay the boot.
const OVSDB: Duration = Duration::from_secs(5);

/// Stands in for nmstate-configuration and ovs-configuration. A second call repeats what failed
/// while Open vSwitch was down. Failures are warnings.
pub(super) async fn stand_in(paths: &Paths) {
    remove_mtu_migration(paths).or_warn();
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

/// Records the node's address.
const NODE_IP: &str = "nodeip-configuration.service";

/// Has the node's address recorded for corosync. With two nodes and fencing pacemaker starts kubelet after corosync, and
/// nodeip-configuration.service comes with kubelet. corosync requires network-online.target, and where a document was applied that
/// waits for the record.
pub(super) async fn record_address_for_corosync(paths: &Paths) {
    if !paths.is_system() || !paths.applied().exists() || !units::is_enabled(paths, NODE_IP) {
        return;
    }
    let start = async {
        if has_job("corosync.service").await? && !has_job(NODE_IP).await? {
            start_unit(NODE_IP).await?;
        }
        Ok::<(), BusError>(())
    };
    start.await.or_warn_of("corosync may wait for the node's address");
}

/// configure-ovs's unit, which wants dayone-bridge.service.
pub(super) const CONFIGURE_OVS: &str = "ovs-configuration.service";
/// The other network for which the machine-config-operator enables that unit, from 4.16 to 4.21: its script has the cluster's
/// network as its argument, and removes a br-ex for this one.
const OPENSHIFT_SDN: &str = "OpenShiftSDN";

/// Whether the cluster's network is OVN-Kubernetes, which needs br-ex.
pub(super) async fn is_ovn_kubernetes(paths: &Paths) -> bool {
    if !units::is_enabled(paths, CONFIGURE_OVS) {
        return false;
    }
    if !paths.is_system() {
        return true;
    }
    let commands = arguments(CONFIGURE_OVS).await;
    let commands = commands.or_warn_of("the cluster's network counts as OVN-Kubernetes");
    commands.is_none_or(|commands| !names_openshift_sdn(&commands))
}

/// Whether the unit's script is told the other network, also in a line of a shell.
fn names_openshift_sdn(commands: &[Vec<String>]) -> bool {
    let mut words = commands.iter().flatten().flat_map(|argument| argument.split_whitespace());
    words.any(|word| word == OPENSHIFT_SDN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_of_the_script_tells_the_network() {
        let script = "/usr/local/bin/configure-ovs.sh";
        for (arguments, is_sdn) in [
            (&[script, "OpenShiftSDN"][..], true),
            (&["/bin/sh", script, "OpenShiftSDN"], true),
            (&["/bin/sh", "-c", "exec configure-ovs.sh OpenShiftSDN"], true),
            (&[script, "OVNKubernetes"], false),
            // From 4.22 on.
            (&[script], false),
            (&[script, "--network", "OpenShiftSDN2"], false),
        ] {
            let command: Vec<String> =
                arguments.iter().map(|argument| (*argument).to_owned()).collect();
            let commands = [vec!["/bin/true".to_owned()], command];
            assert_eq!(names_openshift_sdn(&commands), is_sdn, "{arguments:?}");
        }
        assert!(!names_openshift_sdn(&[]));
    }

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
