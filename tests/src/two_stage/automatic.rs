//! Units of the machine-config-operator in a machine: that of br-ex without a document, and that of another MTU of the cluster.

use serde_json::json;

use super::Ignition;

/// Stand-in of the machine-config-operator's unit, which the agent's holds back.
const OVS_CONFIGURATION: &str = "\
[Unit]
Before=kubelet-dependencies.target
[Service]
Type=oneshot
ExecStart=/bin/touch /run/lab-ovs-configuration
[Install]
RequiredBy=kubelet-dependencies.target
";

/// The operator's unit while the cluster changes its MTU, and its script's stand-in.
const MTU_MIGRATION: &str = "\
[Unit]
Requires=ovs-configuration.service
Wants=NetworkManager-wait-online.service
After=NetworkManager-wait-online.service ovs-configuration.service
Before=kubelet-dependencies.target
[Service]
Type=oneshot
ExecStart=/bin/sh /usr/local/bin/mtu-migration.sh
[Install]
WantedBy=kubelet-dependencies.target
";
const SCRIPT: &str = include_str!("../../lab/field/common/usr/local/bin/mtu-migration.sh");

impl Ignition {
    /// Enables the operator's unit of a cluster that changes the machines' MTU to this one.
    #[must_use]
    pub fn mtu_migration(mut self, mtu: u16) -> Self {
        let target = format!("[Service]\nEnvironment=TARGET_MTU={mtu}\n");
        let target = MTU_MIGRATION.replacen("[Service]\n", &target, 1);
        for (name, contents) in
            [("ovs-configuration.service", OVS_CONFIGURATION), ("mtu-migration.service", &target)]
        {
            self.units.push(json!({ "name": name, "enabled": true, "contents": contents }));
        }
        self.file("/usr/local/bin/mtu-migration.sh", SCRIPT)
    }

    /// Enables the bridge service, on a node of a cluster with OVN-Kubernetes.
    #[must_use]
    pub fn automatic_bridge(mut self) -> Self {
        self.units.push(json!({
            "name": "ovs-configuration.service", "enabled": true, "contents": OVS_CONFIGURATION,
        }));
        self.enable("dayone-bridge.service")
    }
}
