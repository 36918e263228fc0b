//! Machines that differ by what makes br-ex, with the field's units in the field's order: measured side by side.

use std::net::Ipv4Addr;

use serde_json::json;

use super::{
    ADDRESS, Boot, Ignition, MACS, NAME, SOON, br_ex, default_route, kubelet, one_card, peer,
    static_address,
};
use crate::lab::{Machines, Nic, Result, VirtualMachine, VmCase};

const GATEWAY: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const CARD: &str = "enp0s16";

macro_rules! field {
    ($layer:literal, $path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/lab/field/", $layer, "/", $path))
    };
}

/// The field's units about br-ex, enabled on each kind of node.
const UNITS: [(&str, &str); 3] = [
    (
        "nmstate-configuration.service",
        field!("common", "etc/systemd/system/nmstate-configuration.service"),
    ),
    ("nmstate.service", field!("common", "etc/systemd/system/nmstate.service")),
    ("ovs-configuration.service", field!("common", "etc/systemd/system/ovs-configuration.service")),
];
/// Their scripts, and nmstate's setting in the field.
const SCRIPTS: [(&str, &str); 2] = [
    (
        "/usr/local/bin/nmstate-configuration.sh",
        field!("4.22", "usr/local/bin/nmstate-configuration.sh"),
    ),
    ("/usr/local/bin/configure-ovs.sh", field!("common", "usr/local/bin/configure-ovs.sh")),
];
const NMSTATE: &str = field!("common", "etc/nmstate/nmstate.conf");
const DEPENDENCIES: &str = field!("common", "etc/systemd/system/kubelet-dependencies.target");
/// The agent's units that its package's preset enables.
const AGENT: [&str; 7] = [
    "dayone.service",
    "dayone-recover.service",
    "dayone-wait.service",
    "dayone-bridge.service",
    "dayone-pending.path",
    "dayone-health.path",
    "dayone-health.timer",
];

/// The maker of a node's br-ex. All nodes have one card with the same static address in both stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The agent by a document, after nmgen in the initramfs.
    Agent,
    /// nmstate-configuration.service and nmstate.service by the same document, after a stock initramfs with `ip=`.
    NmstateConfiguration,
    /// ovs-configuration.service without a document, after the same initramfs.
    ConfigureOvs,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Agent, Self::NmstateConfiguration, Self::ConfigureOvs];

    /// A heading for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "nmgen, dayone",
            Self::NmstateConfiguration => "nmstate-configuration",
            Self::ConfigureOvs => "configure-ovs",
        }
    }

    /// The units that make its network, in their order.
    pub fn makers(self) -> &'static [&'static str] {
        match self {
            Self::Agent => &["dayone.service"],
            Self::NmstateConfiguration => &["nmstate-configuration.service", "nmstate.service"],
            Self::ConfigureOvs => &["ovs-configuration.service"],
        }
    }

    /// Its first boot and its second one.
    ///
    /// # Errors
    /// If one does not come to a kubelet with br-ex.
    pub fn boots(self, machines: &Machines) -> Result<[Boot; 2]> {
        let mut both = Vec::new();
        machines.run(&self.machine(), &peer(), |case| {
            case.boot()?;
            both.push(self.boot(case)?);
            case.reboot()?;
            both.push(self.boot(case)?);
            Result::Ok(())
        })?;
        let [second, first] = [both.pop(), both.pop()].map(Option::unwrap_or_default);
        Ok([first, second])
    }

    /// The boot that is over.
    fn boot(self, case: &VmCase<'_>) -> Result<Boot> {
        let inside = case.inside()?;
        inside.wait_unit("kubelet.service", "active", SOON)?;
        let bridge = inside.sh("ip -oneline -4 address show br-ex; ovs-vsctl list-ports br-ex")?;
        assert!(bridge.contains(&ADDRESS.to_string()) && bridge.contains(CARD), "{bridge}");
        assert!(case.peer().pings(ADDRESS, SOON)?, "{self:?}");
        Boot::of(&inside, self.makers())
    }

    fn machine(self) -> VirtualMachine {
        // As CoreOS: no network in the initramfs but where Ignition asks for it.
        let machine =
            VirtualMachine::default().accelerated().coreos().nic(Nic::new("nic1", MACS[0]));
        let machine = match self {
            Self::Agent => {
                let route = default_route(GATEWAY, "eth1");
                let early = one_card("eth1", MACS[0], &static_address(ADDRESS), &route);
                machine.early(&format!("/etc/nmgen/{NAME}.yml"), &early)
            }
            Self::NmstateConfiguration | Self::ConfigureOvs => machine
                .stock_initramfs()
                .first_argument(&format!("ip={ADDRESS}::{GATEWAY}:255.255.255.0::{CARD}:none"))
                .first_argument(&format!("nameserver={GATEWAY}")),
        };
        machine.ignition(&GATEWAY.to_string(), &self.configuration().text())
    }

    fn configuration(self) -> Ignition {
        let mut config = Ignition::default().file("/etc/hostname", NAME);
        for (path, text) in SCRIPTS {
            config = config.script(path, text);
        }
        config = config.file("/etc/nmstate/nmstate.conf", NMSTATE);
        for (name, contents) in UNITS {
            config.units.push(json!({ "name": name, "enabled": true, "contents": contents }));
        }
        config.units.extend([
            json!({ "name": "kubelet-dependencies.target", "contents": DEPENDENCIES }),
            kubelet(),
        ]);
        let has_agent = self == Self::Agent;
        config.units.extend(AGENT.map(|name| json!({ "name": name, "enabled": has_agent })));
        if self == Self::ConfigureOvs {
            return config;
        }
        config.document(NAME, &br_ex(CARD, "ethernet", ADDRESS, GATEWAY))
    }
}
