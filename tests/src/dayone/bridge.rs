//! A node whose br-ex the agent makes without a document.

use super::{Mark, Outcome, agent, ended};
use crate::lab::{Entry, Inside, Node, Result};

/// The datapath of containers: their host's kernel may have none.
pub const USERSPACE: &str = "[bridge]\ndatapath-type = \"netdev\"\n";
/// The ids of the automatic bridge's profiles, sorted.
pub const BRIDGE_PROFILES: &str =
    "br-ex\novs-if-br-ex\novs-if-phys0\novs-port-br-ex\novs-port-phys0";
/// The unit that the agent's replaces.
const OVS_CONFIGURATION: &str = "ovs-configuration.service";

/// Adds the agent with its bridge service, and OVN-Kubernetes as the cluster's network: a stand-in of ovs-configuration that only
/// writes down its decision, unless the node has one.
#[must_use]
pub fn automatic(node: Node) -> Node {
    with_bridge(agent(node))
}

/// Enables the bridge service of a node with the agent.
#[must_use]
pub fn with_bridge(node: Node) -> Node {
    let node = match node.has_unit(OVS_CONFIGURATION) {
        true => node,
        false => node
            .machine_config_operator()
            .required_by(OVS_CONFIGURATION, "kubelet-dependencies.target"),
    };
    node.file("/etc/dayone/dayone.toml", USERSPACE, 0o644).link(
        "/etc/systemd/system/ovs-configuration.service.wants/dayone-bridge.service",
        "/usr/lib/systemd/system/dayone-bridge.service",
    )
}

/// Removes the automatic bridge by hand and brings the card up. By uuid, since NetworkManager's own profile of the bridge's tap,
/// which goes by itself, is called br-ex too.
pub fn remove_bridge(inside: &Inside) -> Result<()> {
    let ids = BRIDGE_PROFILES.replace('\n', " ");
    inside.sh(&format!(
        "cd /run/NetworkManager/system-connections; for id in {ids}; do sed -n 's/^uuid=//p' $id.nmconnection; done | \
         xargs nmcli connection delete; nmcli connection up eno1"
    ))?;
    Ok(())
}

fn is_outcome(entry: &Entry) -> bool {
    let id = entry.field("MESSAGE_ID").unwrap_or_default();
    id.starts_with("6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e2") && !id.ends_with("28")
}

/// Waits for the end of an attempt at br-ex: the first in this boot, or the first after `mark`.
pub fn bridge_outcome(inside: &Inside, mark: Option<&Mark>) -> Result<Outcome> {
    ended(inside, mark, is_outcome)
}

/// The ids of the profiles in `/run`, sorted, without NetworkManager's own.
pub fn volatile_profiles(inside: &Inside) -> Result<String> {
    inside.sh("ls /run/NetworkManager/system-connections | sed -n 's/[.]nmconnection$//p' | \
         grep -v -e '^lo$' -e '^br-ex-.*-' | sort")
}
