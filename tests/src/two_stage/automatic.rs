//! A machine whose br-ex the agent makes without a document.

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

impl Ignition {
    /// Enables the bridge service, on a node of a cluster with OVN-Kubernetes.
    #[must_use]
    pub fn automatic_bridge(mut self) -> Self {
        self.units.push(json!({
            "name": "ovs-configuration.service", "enabled": true, "contents": OVS_CONFIGURATION,
        }));
        self.enable("dayone-bridge.service")
    }
}
