//! Everything that the plan depends on, in plain types. `gather` reads it; tests write it.

use std::collections::BTreeMap;

use crate::model::{Active, Address, Bridge, Link, LinkRef, Profile, Route};

/// A node without its automatic bridge, or with one of an earlier run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Inputs {
    /// Network devices, in the kernel's order.
    pub(crate) links: Vec<Link>,
    /// The driver of the device below a link: `vmxnet3`.
    pub(crate) drivers: BTreeMap<String, String>,
    /// Addresses, in the kernel's order.
    pub(crate) addresses: Vec<Address>,
    /// Default routes of the main table, in the kernel's order, IPv4 before IPv6; each next hop of a route, as configure-ovs.sh
    /// finds it in the lines of `ip route`.
    pub(crate) default_routes: Vec<Route>,
    /// All profiles, those that NetworkManager generated for foreign devices excluded.
    pub(crate) profiles: Vec<Profile>,
    /// Which profile is active on which device.
    pub(crate) active: Vec<Active>,
    /// Files of OpenShift.
    pub(crate) files: Files,
    /// Bridges in OVSDB; empty if OVSDB does not run.
    pub(crate) bridges: Vec<Bridge>,
    /// The datapath of Open vSwitch by the agent's settings; `None` is the kernel's.
    pub(crate) datapath_type: Option<String>,
    /// The uplink that a default route chose earlier in this boot.
    pub(crate) earlier: Option<String>,
}

impl Inputs {
    /// A network device.
    pub(crate) fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    pub(crate) fn profile(&self, uuid: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.uuid() == uuid)
    }
}

/// The files by which OpenShift steers configure-ovs.sh; `None` is no file.
#[derive(Clone, Debug, Default, PartialEq)]
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

impl Files {
    /// Returns the files with the kernel's names of links: whoever writes one may know a card by an alternative name.
    pub(crate) fn by_kernel_names(mut self, links: &[Link]) -> Self {
        for name in [&mut self.default_bridge, &mut self.extra_bridge, &mut self.hint] {
            let Some(name) = name else { continue };
            let by_name = LinkRef::Name(name.clone());
            if let Some(link) = links.iter().find(|link| link.is(&by_name)) {
                name.clone_from(&link.name);
            }
        }
        self
    }
}
