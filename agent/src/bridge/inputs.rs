//! Everything that the plan depends on, in plain types. `gather` reads it; tests write it.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

pub(crate) use crate::client::netlink::{Lacp, Layer, Scope};
use crate::connection::ConnectionSettings;

/// A node without its automatic bridge, or with one of an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Inputs {
    /// Network devices, in the kernel's order.
    pub(crate) links: Vec<Link>,
    /// Addresses, in the kernel's order.
    pub(crate) addresses: Vec<Address>,
    /// Default routes of the main table, in the kernel's order, IPv4 before IPv6.
    pub(crate) default_routes: Vec<DefaultRoute>,
    /// All profiles, those that NetworkManager generated for foreign devices excluded.
    pub(crate) profiles: Vec<Profile>,
    /// Which profile is active on which device.
    pub(crate) active: Vec<Active>,
    /// Files of OpenShift.
    pub(crate) files: Files,
    /// Bridges in OVSDB; empty if OVSDB does not run.
    pub(crate) bridges: Vec<OvsBridge>,
    /// Settings of the agent.
    pub(crate) options: Options,
}

impl Inputs {
    /// A network device.
    pub(crate) fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    /// A profile.
    pub(crate) fn profile(&self, uuid: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.uuid() == uuid)
    }
}

/// A network device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Link {
    pub(crate) name: String,
    /// Current MAC address, lower case; `None` for a device without one.
    pub(crate) mac: Option<String>,
    /// Permanent MAC address of a card.
    pub(crate) permanent_mac: Option<String>,
    pub(crate) mtu: u32,
    /// What is below IP.
    pub(crate) layer: Layer,
    /// The kernel's kind of a virtual device: `bond`, `vlan`, `bridge`, `team`, `tun`, `veth`, …
    pub(crate) kind: Option<String>,
    /// The driver of the device below: `vmxnet3`.
    pub(crate) driver: Option<String>,
    /// Name of the controller in the kernel, `ovs-system` for a port of Open vSwitch.
    pub(crate) controller: Option<String>,
    /// Whether the link is up and has a carrier.
    pub(crate) has_carrier: bool,
    /// For a port of a bond with LACP.
    pub(crate) lacp: Option<Lacp>,
}

/// An address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Address {
    pub(crate) link: String,
    pub(crate) ip: IpAddr,
    pub(crate) prefix: u8,
    pub(crate) scope: Scope,
    /// Not usable yet (duplicate address detection).
    pub(crate) tentative: bool,
    /// From the network, so with a limited lifetime.
    pub(crate) dynamic: bool,
}

/// A default route with one gateway. Routes without a gateway and those with several next hops are
/// not listed: configure-ovs.sh passes over both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct DefaultRoute {
    pub(crate) link: String,
    pub(crate) gateway: IpAddr,
    /// Whether it carries IPv4; its gateway may be of the other family.
    pub(crate) is_v4: bool,
    pub(crate) metric: u32,
}

/// A profile of NetworkManager.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Profile {
    /// Path of its D-Bus object.
    pub(crate) path: String,
    /// Everything but secrets.
    pub(crate) settings: ConnectionSettings,
}

impl Profile {
    /// `connection.id`.
    pub(crate) fn id(&self) -> &str {
        self.settings.text("connection", "id").unwrap_or_default()
    }

    /// `connection.uuid`.
    pub(crate) fn uuid(&self) -> &str {
        self.settings.text("connection", "uuid").unwrap_or_default()
    }

    /// `connection.type`.
    pub(crate) fn kind(&self) -> &str {
        self.settings.text("connection", "type").unwrap_or_default()
    }

    /// `connection.interface-name`.
    pub(crate) fn interface_name(&self) -> Option<&str> {
        self.settings.text("connection", "interface-name")
    }

    /// The controller: a UUID or an interface name.
    pub(crate) fn controller(&self) -> Option<&str> {
        let of = |property| self.settings.text("connection", property);
        of("controller").or_else(|| of("master"))
    }
}

/// A profile that is active on a device, or is being activated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Active {
    pub(crate) uuid: String,
    /// `connection.type` of the profile.
    pub(crate) kind: String,
    /// The device; a bridge or port of Open vSwitch may have the name of a link.
    pub(crate) device: String,
}

/// The files by which OpenShift steers configure-ovs.sh; `None` is no file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Files {
    /// `/etc/ovnk/default_bridge`, without line breaks at its end.
    pub(crate) default_bridge: Option<String>,
    /// `/etc/ovnk/extra_bridge`, its first line.
    pub(crate) extra_bridge: Option<String>,
    /// `/run/nodeip-configuration/primary-ip`.
    pub(crate) primary_ip: Option<String>,
    /// `/var/lib/ovnk/iface_default_hint`.
    pub(crate) hint: Option<String>,
    /// Whether `/run/configure-ovs-boot-done` exists.
    pub(crate) boot_done: bool,
    /// Whether `/etc/nmstate/openshift/applied` exists.
    pub(crate) applied: bool,
}

/// A bridge in OVSDB.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct OvsBridge {
    pub(crate) name: String,
    /// UUID of the profile that made it.
    pub(crate) profile: Option<String>,
    /// Names of its interfaces that are devices of the system.
    pub(crate) system_interfaces: Vec<String>,
    /// Names of its patch ports.
    pub(crate) patch_ports: Vec<String>,
}

/// Settings of the agent that the plan depends on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(crate) struct Options {
    /// `ovs-bridge.datapath-type`; `None` is the kernel's datapath.
    pub(crate) datapath_type: Option<String>,
}
