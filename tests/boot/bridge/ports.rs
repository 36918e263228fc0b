//! Ports of a bond below br-ex that go down, with LACP and with the address of the active port.

use std::net::Ipv4Addr;

use tests::{
    lab::{Inside, Nic, Peer, VirtualMachine, VmCase},
    two_stage::{Ignition, SOON},
};

use crate::Result;

/// The address of the second bond.
pub(super) const ON_BACKUP: Ipv4Addr = Ipv4Addr::new(198, 19, 0, 70);
/// Its ports.
pub(super) const BACKUP_PORTS: [&str; 2] = ["enp0s19", "enp0s20"];
const BACKUP: &str = "\
[connection]
id=backup
uuid=6e0a3f0c-51d5-4f0d-9f8e-7c3c5f1ab003
type=bond
interface-name=bond1

[bond]
mode=active-backup
fail_over_mac=1
miimon=100

[ipv4]
method=manual
address1=198.19.0.70/24

[ipv6]
method=disabled
";

/// Adds the cards of a second bond, on a network of their own.
pub(super) fn backup_cards(machine: VirtualMachine) -> VirtualMachine {
    let card = |name: &str, mac: &str| Nic::new(name, mac).segment("backup");
    machine.nic(card("nic4", "52:54:00:00:00:74")).nic(card("nic5", "52:54:00:00:00:75"))
}

/// Adds the profiles of the second bond, which has the MAC address of its active port.
pub(super) fn backup_profiles(ignition: Ignition) -> Ignition {
    let port = |card: &str| {
        format!(
            "[connection]\nid={card}\ntype=ethernet\ninterface-name={card}\ncontroller=bond1\nport-type=bond\n"
        )
    };
    BACKUP_PORTS
        .iter()
        .fold(ignition.keyfile("backup", BACKUP), |all, card| all.keyfile(card, &port(card)))
}

/// Adds the peer's end.
pub(super) fn backup_peer(peer: Peer) -> Peer {
    peer.address("backup", Ipv4Addr::new(198, 19, 0, 1).into(), 24)
}

/// Boots with a port of the aggregate that nobody answers on, and plugs its cable in once br-ex is there.
pub(super) fn boots_with_a_dead_port(
    case: &mut VmCase<'_>,
    works: impl FnOnce(&VmCase<'_>) -> Result<Inside>,
) -> Result<Inside> {
    case.peer().carrier("nic2", false)?;
    case.reboot()?;
    let inside = works(case)?;
    let bond = inside.sh("cat /proc/net/bonding/bond0")?;
    assert!(bond.contains("Number of ports: 1"), "{bond}");
    case.peer().carrier("nic2", true)?;
    inside.wait_sh("grep 'Number of ports: 2' /proc/net/bonding/bond0", SOON)?;
    let both = "[ $(grep -c 'port state: 63' /proc/net/bonding/bond0) = 4 ]";
    inside.wait_sh(both, SOON)?;
    Ok(inside)
}

/// The active port goes down: the other one carries br-ex, which keeps its MAC address, under an address of its own.
pub(super) fn other_port_takes_over(case: &VmCase<'_>, inside: &Inside) -> Result<()> {
    let addresses =
        || inside.sh("cat /sys/class/net/br-ex/address; cat /sys/class/net/bond1/address");
    let before = addresses()?;
    let slave = "/sys/class/net/bond1/bonding/active_slave";
    let active = inside.sh(&format!("cat {slave}"))?;
    inside.sh(&format!("ip link set {active} down"))?;
    inside.wait_sh(&format!("grep . {slave} | grep -v {active}"), SOON)?;
    assert!(case.peer().pings(ON_BACKUP, SOON)?);
    let after = addresses()?;
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (before, after) = (lines(&before), lines(&after));
    assert_eq!(before[0], after[0], "br-ex");
    assert_ne!(before[1], after[1], "bond1");
    Ok(())
}
