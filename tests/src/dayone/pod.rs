//! What a pod of OVN-Kubernetes sees of the network, and what OVN-Kubernetes sees of br-ex.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use super::{ADDRESS, SOON};
use crate::lab::{Case, Gateway, Inside, Peer, Result};

/// Bound on the start of OVN and of the pod, after kubelet's.
const POD: Duration = Duration::from_secs(60);
/// The port of the node that leads to the pod.
const NODE_PORT: u16 = 30080;

/// The peer on the network of the virtual machine, which OVN gives a localnet of the document.
pub const TENANTS_GATEWAY: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);

/// Waits until kubelet has started the pod, and checks that its network works.
///
/// # Errors
/// The lab's.
///
/// # Panics
/// If the network does not work.
pub fn pod_started(case: &Case<'_>) -> Result<()> {
    pod_started_within(POD, &case.inside()?, case.peer(), ADDRESS)
}

/// Does so for a node with this address.
///
/// # Errors
/// The lab's.
///
/// # Panics
/// If the network does not work.
pub fn pod_started_within(
    bound: Duration,
    inside: &Inside,
    peer: &Gateway,
    address: Ipv4Addr,
) -> Result<()> {
    inside.wait_unit("lab-pod.service", "active", bound)?;
    inside.wait_sh("ip netns exec pod ss -H -ltn 'sport = 8080' | grep .", SOON)?;
    pod_works_at(inside, peer, address)
}

/// Checks that the pod reaches the gateway and what is behind it, that peer and host reach the pod by its service, and that
/// nothing is another of what ovnkube has looked up when it started, and of what it has put there.
///
/// # Errors
/// The lab's.
///
/// # Panics
/// If not.
pub fn pod_works(case: &Case<'_>) -> Result<()> {
    pod_works_at(&case.inside()?, case.peer(), ADDRESS)
}

/// Does so on a node with this address.
///
/// # Errors
/// The lab's.
///
/// # Panics
/// If not.
pub fn pod_works_at(inside: &Inside, peer: &Gateway, address: Ipv4Addr) -> Result<()> {
    let lost = ovnkube_lost(inside)?;
    assert_eq!(lost, "", "ovnkube's");
    let vm =
        format!("[ ! -e /run/netns/vm ] || ip netns exec vm ping -n -q -c1 -W1 {TENANTS_GATEWAY}");
    inside.wait_sh(&vm, SOON)?;
    for address in [Peer::GATEWAY, Peer::API] {
        let ping = format!("ip netns exec pod ping -n -q -c1 -W1 {address}");
        inside.wait_sh(&ping, SOON)?;
    }
    let service = SocketAddr::new(address.into(), NODE_PORT);
    assert!(peer.connect(service, SOON)?, "no connection to {service}");
    let said = inside.sh(
        "timeout 10 bash -c 'exec 3<>/dev/tcp/172.30.0.10/8080; echo said >&3; head -n 1 <&3'",
    )?;
    assert_eq!(said.trim(), "said");
    Ok(())
}

/// The lines of what ovnkube saw when it started that are others or gone now. A route of its own may be there twice: nmstate's copy
/// of it in the profile of br-ex has no source.
///
/// # Errors
/// The lab's.
pub fn ovnkube_lost(inside: &Inside) -> Result<String> {
    inside.sh("/usr/local/bin/lab-ovnkube seen | diff /run/lab-ovnkube - | grep '^<' || :")
}

/// Restarts ovnkube, as its container is where the number of a port has changed.
///
/// # Errors
/// The lab's.
pub fn ovnkube_restarted(inside: &Inside) -> Result<()> {
    inside.sh("/usr/local/bin/lab-ovnkube start")?;
    Ok(())
}
