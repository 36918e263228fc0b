//! Stand-ins for the units of a node in the field.

use super::node::Node;

macro_rules! stand_in {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/lab/units/", $name))
    };
}

impl Node {
    /// Adds a `kubelet.service` that requires `kubelet-dependencies.target`, as in the field. `/run/lab-kubelet` has the network's
    /// state at its start.
    #[must_use]
    pub fn kubelet(self) -> Self {
        self.unit("kubelet.service", stand_in!("kubelet.service"))
            .unit("kubelet-dependencies.target", stand_in!("kubelet-dependencies.target"))
            .enable("kubelet.service")
    }

    /// Adds `nmstate-configuration.service` and `ovs-configuration.service` of the machine-config-operator.
    /// Their actions are in `/run/lab-nmstate-configuration` and `/run/lab-ovs-configuration`.
    #[must_use]
    pub fn machine_config_operator(self) -> Self {
        self.unit("nmstate-configuration.service", stand_in!("nmstate-configuration.service"))
            .unit("ovs-configuration.service", stand_in!("ovs-configuration.service"))
            .file(
                "/usr/local/bin/lab-nmstate-configuration",
                stand_in!("nmstate-configuration"),
                0o755,
            )
            .file("/usr/local/bin/lab-ovs-configuration", stand_in!("ovs-configuration"), 0o755)
            .enable("nmstate-configuration.service")
            .enable("ovs-configuration.service")
    }
}
