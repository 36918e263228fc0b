//! Other programs' addresses, routes, rules and devices on a node: those of OVN-Kubernetes for a user-defined
//! network, of its egress addresses, of its EVPN, of FRR, and of kube-vip.

use crate::lab::{Inside, Result};

/// The kernel's part in a user-defined network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// A container's kernel has neither VRF nor VLAN: the network is a tap, its table and its rules. EVPN's bridge filters no VLAN.
    Tap,
    /// The management port is an internal port of br-int, kept in Open vSwitch's database, in a VRF that is made again after each
    /// boot.
    Vrf,
}

impl Links {
    fn make(self) -> String {
        match self {
            Self::Tap => format!(
                "ip tuntap add ovn-k8s-mp2 mode tap\nip link add evbr-blue type bridge\n{EVPN}{VIP}"
            ),
            Self::Vrf => VRF.to_owned(),
        }
    }
}

const VRF: &str = "\
ovs-vsctl --may-exist add-br br-int -- set bridge br-int fail-mode=secure \
  -- --may-exist add-port br-int ovn-k8s-mp2 -- set interface ovn-k8s-mp2 type=internal
ip link add mp2-udn-vrf type vrf table 1010; ip link set mp2-udn-vrf up
ip link set ovn-k8s-mp2 master mp2-udn-vrf
";
/// EVPN of a VTEP `blue` with br-ex's address (ovn-kubernetes 8871cd9ce, `go-controller/pkg/node/controllers/evpn`:
/// `ensureDevices`, `ensureVXLAN`). FRR gives the VXLAN device its peers.
const EVPN: &str = "\
ip link set evbr-blue alias ovn-k8s-ndm:bridge:evbr-blue up
vtep=$(ip -4 -oneline address show dev br-ex | grep -o '192.0.2.[0-9]*/24' | cut -d/ -f1)
ip link add evx4-blue mtu 1400 type vxlan external vnifilter dstport 4789 local $vtep
ip link set evx4-blue alias ovn-k8s-ndm:vxlan:evx4-blue master evbr-blue up
bridge link set dev evx4-blue learning off neigh_suppress on isolated on
bridge vni add dev evx4-blue vni 10012
";
/// A VIP by BGP: kube-vip's routes have its table and protocol (kube-vip bee5cfe, `cmd/kube-vip.go`), and FRR takes them from there
/// (pull requests 6326 of openshift/machine-config-operator, 3047 of openshift/cluster-network-operator).
const VIP: &str = "\
ip address add 192.0.2.99/32 dev lo
ip route add 192.0.2.99/32 dev lo table 198 proto 248
";
const MAKE: &str = "\
ip link set ovn-k8s-mp2 up; ip address add 10.200.1.2/24 dev ovn-k8s-mp2
ip route add 10.200.0.0/16 via 10.200.1.1 dev ovn-k8s-mp2 table 1010 onlink
ip route add default via 192.0.2.1 dev br-ex table 1010
ip route add 172.30.0.0/16 via 169.254.0.4 dev br-ex table 1010 onlink
ip rule add priority 2000 fwmark 0x1002 lookup 1010
ip rule add priority 2000 to 10.200.0.0/16 lookup 1010
ip address add 192.0.2.88/32 dev br-ex
ip rule add priority 6000 from 10.200.1.7 lookup 1111
ip route add default via 192.0.2.1 dev br-ex table 1111
ip route add 10.132.0.0/16 via 192.0.2.1 dev br-ex proto bgp metric 20
ip route add 10.133.0.0/16 proto bgp metric 20 nexthop via 192.0.2.1 dev br-ex nexthop via 192.0.2.2 dev br-ex
";
/// nmstate takes routes over br-ex that have no protocol of their own, as OVN-Kubernetes adds them, into
/// br-ex's profile with its next change: NetworkManager's are the same but for their protocol.
const LOOK: &str = "\
ip -oneline link show type vrf | cut -d: -f2; ls /sys/class/net/ovn-k8s-mp2/master/lower* -d 2>/dev/null || :
ip -oneline address show dev ovn-k8s-mp2 | sed 's/valid_lft.*//'
for link in br-ex lo; do ip -oneline address show dev $link | grep -o -e 192.0.2.88/32 -e 192.0.2.99/32 || :; done
for link in evbr-blue evx4-blue; do [ ! -e /sys/class/net/$link ] || echo $link $(ip -details -oneline link show dev $link | \
  grep -o -e ,UP -e 'mtu [0-9]*' -e 'master [^ ]*' -e external -e vnifilter -e 'local [^ ]*' \
  -e 'learning o[nf]*' -e 'neigh_suppress o[nf]*' -e 'isolated o[nf]*') $(bridge vni show dev $link); done
for table in 198 1010 1111; do ip route show table $table | sed 's/ proto static//; s/ onlink//'; done; ip route show proto bgp; ip rule | grep -e ^2000 -e ^6000";

/// Makes them, and returns how they look.
pub fn make_others(inside: &Inside, links: Links) -> Result<String> {
    inside.sh(&format!("set -e; {}\n{MAKE}", links.make()))?;
    inside.sh(LOOK)
}

/// Checks that all of them are there.
///
/// # Panics
/// If one is gone.
pub fn others_are_there(inside: &Inside, before: &str, after: &str) -> Result<()> {
    let now = inside.sh(LOOK)?;
    let gone: Vec<&str> =
        before.lines().filter(|other| !now.lines().any(|line| line == *other)).collect();
    assert!(gone.is_empty(), "{after}: {gone:?}");
    Ok(())
}
