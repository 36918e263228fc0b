//! Where each document is compared: in a container if it can be, else in a virtual machine.

use crate::documents::Document;

/// For virtual machines: most need a kind of interface that the kernel of a container's host may lack; for those of Open vSwitch,
/// nmstate's verdict on a bridge with the userspace datapath depends on the moment (see the agent's `taps`).
const IN_MACHINES: [&str; 17] = [
    "br-ex-dhcp.yml",
    "br-ex-static.yml",
    "awkward-text.yml",
    "bond-802.3ad.yml",
    "bond-active-backup.yml",
    "bond-other-modes.yml",
    "br-ex-bond.yml",
    "defaults.yml",
    "identifiers.yml",
    "ip-tunnel.yml",
    "ipvlan.yml",
    "macvlan.yml",
    "no-effect.yml",
    "ovs-bond.yml",
    "veth-dummy.yml",
    "vlan-on-bond.yml",
    "vrf.yml",
];

/// Likewise, of other projects' documents.
const OTHERS_IN_MACHINES: [&str; 8] = [
    "bond_linuxbridge_vlan_up.yml",
    "bond_port_up.yml",
    "ipvlan_create.yml",
    "mac_vlan_create.yml",
    "mac_vtap_create.yml",
    "vlan101_eth1_up.yml",
    "vrf0_with_eth1.yml",
    "ovs-slb-bond-primary-secondary",
];

/// Needs hardware without a stand-in.
const NO_HARDWARE: &str = "no node of the lab has such a card";
/// Needs programs or files beside NetworkManager.
const NO_SERVICE: &str = "needs certificates or a service that the nodes do not have";
/// Needs a kernel module.
const NO_MODULE: &str = "no kernel of the lab has this kind of interface";

/// Compared nowhere, each with the reason.
const LEFT_OUT: [(&str, &str); 5] = [
    ("hsr.yml", NO_MODULE),
    ("infiniband.yml", NO_HARDWARE),
    ("ipsec.yml", NO_SERVICE),
    ("macsec.yml", NO_SERVICE),
    ("nic-settings.yml", NO_HARDWARE),
];

/// Likewise, of other projects' documents.
const OTHERS_LEFT_OUT: [(&str, &str); 8] = [
    ("eth1_with_ieee_802_1x.yml", NO_SERVICE),
    ("eth1_with_sriov.yml", NO_HARDWARE),
    ("hsr0_up.yml", NO_MODULE),
    ("infiniband_pkey_ipoib_create.yml", NO_HARDWARE),
    ("ipsec_psk.yml", NO_SERVICE),
    ("ipsec_x509.yml", NO_SERVICE),
    ("macsec0_up.yml", NO_SERVICE),
    // Without the card the bridge is there until NetworkManager gives the interface up: both verdicts depend on the moment.
    ("ovsbridge_dpdk_create.yml", NO_HARDWARE),
];

fn is_left_out(name: &str) -> bool {
    LEFT_OUT.iter().chain(&OTHERS_LEFT_OUT).any(|(left_out, _)| *left_out == name)
}

fn is_for_machines(name: &str) -> bool {
    IN_MACHINES.iter().chain(&OTHERS_IN_MACHINES).any(|document| *document == name)
}

/// Documents that containers carry, with Open vSwitch in userspace: a container's host may not have the kernel's
/// datapath.
#[must_use]
pub fn in_containers(documents: Vec<Document>) -> Vec<Document> {
    documents
        .into_iter()
        .filter(|document| !is_left_out(&document.name) && !is_for_machines(&document.name))
        .map(|document| Document { text: in_userspace(&document.text), ..document })
        .collect()
}

/// Documents that need a virtual machine.
#[must_use]
pub fn in_machines(documents: Vec<Document>) -> Vec<Document> {
    documents.into_iter().filter(|document| is_for_machines(&document.name)).collect()
}

/// The fixtures that no container compares, each with the reason: each has to exist.
#[must_use]
pub fn left_out() -> Vec<(&'static str, &'static str)> {
    let machines = IN_MACHINES.iter().map(|name| (*name, "in machines"));
    machines.chain(LEFT_OUT).collect()
}

/// The document with Open vSwitch's datapath in userspace.
#[must_use]
pub fn in_userspace(text: &str) -> String {
    if !text.contains("ovs-bridge") {
        return text.to_owned();
    }
    let text = text.replace("datapath: system", "datapath: netdev");
    if text.contains("datapath: netdev") {
        return text;
    }
    let options = "    bridge:\n      options:\n";
    let with = "    bridge:\n      options:\n        datapath: netdev\n";
    if text.contains(options) {
        text.replace(options, with)
    } else {
        text.replace("    bridge:\n", with)
    }
}
