//! Remains of configure-ovs.sh and OVN on a node.

use crate::lab::{Error, Inside, Node, Result};

/// Directory of volatile profiles.
const VOLATILE: &str = "/run/NetworkManager/system-connections";

/// Profiles of configure-ovs.sh since 4.16, if configured to be kept in `/etc`.
#[must_use]
pub fn configure_ovs(node: Node) -> Node {
    profiles().into_iter().fold(node, |node, (id, text)| node.keyfile(id, &text))
}

/// Its profiles on a running node, in `/run` and active: a reboot removes them and leaves the bridge in Open vSwitch's
/// database.
pub fn configure_ovs_in_run(inside: &Inside) -> Result<()> {
    for (id, text) in profiles() {
        let path = format!("{VOLATILE}/{id}.nmconnection");
        inside.write(&path, &text)?;
        inside.sh(&format!("chmod 0600 {path}"))?;
    }
    // The script too activates each up to ten times (machine-config-operator's configure-ovs-network.yaml):
    // NetworkManager at times leaves an interface down beside its port.
    inside.sh("nmcli connection reload; for it in br-ex ovs-if-phys0 ovs-if-br-ex; do \
         nmcli --wait 8 connection up $it || nmcli --wait 8 connection up $it; done")?;
    Ok(())
}

/// Port on br-ex of the pair that OVN makes for a localnet.
pub const PATCH: &str = "patch-br-ex_worker-0-to-br-int";

/// ovn-controller's bridge, and its pair of patch ports between that and br-ex.
pub fn ovn(inside: &Inside) -> Result<()> {
    let peer = "patch-br-int-to-br-ex_worker-0";
    let port = |bridge: &str, port: &str, peer: &str, ofport: u16| {
        format!(
            "-- add-port {bridge} {port} \
             -- set port {port} external_ids:ovn-localnet-port=br-ex_worker-0 \
             -- set interface {port} type=patch options:peer={peer} ofport_request={ofport} "
        )
    };
    let bridge = "add-br br-int -- set bridge br-int datapath_type=netdev fail_mode=secure \
                  other_config:disable-in-band=true ";
    let command = format!(
        "ovs-vsctl {bridge} {} {}",
        port("br-ex", PATCH, peer, 7),
        port("br-int", peer, PATCH, 8)
    );
    inside.sh(&command)?;
    Ok(())
}

/// ovn-controller after a boot with a NetworkManager of [`removes_remains`]: makes its port on br-ex again.
pub fn ovn_controller(inside: &Inside) -> Result<()> {
    if removes_remains(inside)? {
        inside.sh(&format!(
            "ovs-vsctl --may-exist add-port br-ex {PATCH} -- set port {PATCH} external_ids:ovn-localnet-port=br-ex_worker-0 \
             -- set interface {PATCH} type=patch options:peer=patch-br-int-to-br-ex_worker-0 ofport_request=7"
        ))?;
    }
    Ok(())
}

/// Whether NetworkManager, when it starts, removes a bridge of its own from Open vSwitch although it has a port of OVN's, and the
/// port with it: from 1.52.2 and 1.53.4 on (its commit 476c89b6f2, "ovs: only keep bridges and ports with NM interfaces attached").
pub fn removes_remains(inside: &Inside) -> Result<bool> {
    // The daemon's: nmcli may be of another version.
    let text = inside.sh("NetworkManager --version")?;
    let number = |part: &str| part.parse().ok();
    let version: Option<Vec<u32>> = text.trim().split(['.', '-']).take(3).map(number).collect();
    let version = version.ok_or(Error::Output { program: "NetworkManager", problem: text })?;
    Ok(version >= vec![1, 52, 2])
}

/// All bridges, ports and interfaces of Open vSwitch's database as `ovs-vsctl list` prints them, without uuids of rows,
/// counters, the links' own status, and generated addresses.
pub fn ovs_rows(inside: &Inside) -> Result<String> {
    inside.sh(
        "for bridge in $(ovs-vsctl list-br | sort); do \
           ovs-vsctl list bridge $bridge; \
           for port in $(ovs-vsctl list-ports $bridge | sort); do \
             ovs-vsctl list port $port; ovs-vsctl list interface $port; \
           done; \
         done | grep -v -e ^_uuid -e ^ports -e '^interfaces ' -e ^statistics -e ^ifindex -e ^link_resets -e ^datapath_id -e ^mac_in_use -e ^status",
    )
}

fn profiles() -> [(&'static str, String); 5] {
    let profile = |id: &str, kind: &str, name: &str, rest: &str| {
        format!(
            "[connection]\nid={id}\nuuid={}\ntype={kind}\nautoconnect-priority=100\ninterface-name={name}\n{rest}",
            uuid(id)
        )
    };
    let port = |of: &str| format!("controller={}\nport-type=ovs-port\n", uuid(of));
    let on_bridge = format!("controller={}\nport-type=ovs-bridge\n", uuid("br-ex"));
    [
        (
            "br-ex",
            profile("br-ex", "ovs-bridge", "br-ex", "\n[ovs-bridge]\ndatapath-type=netdev\n"),
        ),
        ("ovs-port-phys0", profile("ovs-port-phys0", "ovs-port", "eno1", &on_bridge)),
        ("ovs-port-br-ex", profile("ovs-port-br-ex", "ovs-port", "br-ex", &on_bridge)),
        ("ovs-if-phys0", profile("ovs-if-phys0", "ethernet", "eno1", &port("ovs-port-phys0"))),
        (
            "ovs-if-br-ex",
            profile(
                "ovs-if-br-ex",
                "ovs-interface",
                "br-ex",
                &(port("ovs-port-br-ex")
                    + "\n[ethernet]\ncloned-mac-address=52:54:00:00:00:01\n\n[ovs-interface]\ntype=internal\n\n\
                       [ipv4]\nmethod=manual\naddress1=192.0.2.10/24,192.0.2.1\ndns=192.0.2.1;\nroute-metric=48\n\n\
                       [ipv6]\nmethod=disabled\n"),
            ),
        ),
    ]
}

/// An arbitrary uuid for an id, the same at every use.
fn uuid(id: &str) -> String {
    let number = id.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    format!("0b6ba3d2-3ae1-4b37-8d5e-{:012x}", number & 0xffff_ffff_ffff)
}
