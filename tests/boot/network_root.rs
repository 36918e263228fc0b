//! The root disk is on the network, behind a card that no document names: the profile that carries it stays in the initramfs, and
//! the running system has the card.

use std::net::Ipv4Addr;

use tests::{
    lab::{Inside, Machines, Nic, Peer, VirtualMachine, VmCase},
    two_stage::{
        Ignition, MACS, NAME, SOON, default_route, has_one_profile, one_card, static_address,
    },
};

use crate::Result;

/// The document's network, beside the disk's, which is the LAN.
const OFFICE: &str = "office";
const GATEWAY: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);
const ADDRESS: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 75);

/// NetworkManager's settings of a server (NetworkManager-config-server): it has no network of its own for a card without a profile.
const SERVER: (&str, &str) =
    ("/etc/NetworkManager/conf.d/00-server.conf", "[main]\nno-auto-default=*\n");

/// The machine: the document is for its first card, the disk behind its second one.
fn with_network_disk(machine: VirtualMachine) -> VirtualMachine {
    // With a default route of its own the document makes the default profile superfluous, but for the disk.
    let route = default_route(GATEWAY, "eth1");
    let document = one_card("eth1", MACS[0], &static_address(ADDRESS), &route);
    machine
        .nic(Nic::new("nic1", MACS[0]).segment(OFFICE))
        .nic(Nic::new("nic2", MACS[1]))
        .network_disk(Peer::GATEWAY.into())
        .early(&format!("/etc/nmgen/{NAME}.yml"), &document)
        .early(SERVER.0, SERVER.1)
        .embedded_ignition(&Ignition::bare(NAME).file(SERVER.0, SERVER.1).text())
}

fn peer() -> Peer {
    Peer::new().dhcp().address(OFFICE, GATEWAY.into(), 24)
}

/// Checks that both cards work, and that the disk is read.
fn is_read(case: &VmCase<'_>) -> Result<Inside> {
    assert!(case.peer().pings(ADDRESS, SOON)?);
    let inside = case.inside()?;
    let leases = case.peer().leases()?;
    assert!(matches!(&leases[..], [lease] if lease.mac == MACS[1]), "{leases:?}");
    assert!(case.peer().pings(leases[0].address, SOON)?);
    // Each file is read from the disk anew.
    assert_eq!(inside.sh("findmnt --noheadings --output SOURCE /")?, "/dev/nbd0");
    let read = "echo 3 >/proc/sys/vm/drop_caches; cat /usr/bin/* | wc -c";
    assert!(inside.sh(read)?.parse::<u64>()? > 10_000_000);
    Ok(inside)
}

#[tests::case]
fn the_default_profile_carries_the_disk() -> Result<()> {
    let machines = Machines::open()?;
    let machine = with_network_disk(VirtualMachine::new()).argument("ip=dhcp");
    machines.run(&machine, &peer(), |case| {
        case.boot()?;
        has_one_profile(case, "enp0s16", "enp0s16", ADDRESS)?;
        let inside = is_read(case)?;
        inside.wait_sh(
            "nmcli -g GENERAL.STATE device show enp0s17 | grep -Fx '100 (connected)'",
            VmCase::BOOT,
        )?;
        let uuid = "nmcli -g GENERAL.CON-UUID device show enp0s17";
        let file = format!("grep -l uuid=$({uuid}) /run/NetworkManager/system-connections/*");
        let file = inside.sh(&file)?;
        assert!(file.ends_with("/default_connection.nmconnection"), "{file}");
        Ok(())
    })
}

/// CoreOS leaves the links up, but removes the initramfs's profiles and NetworkManager's state: the running system has the
/// profiles, and shows the cards as connected externally until its next boot.
#[tests::case]
fn coreoss_first_boot_hands_the_disks_profile_over() -> Result<()> {
    let machines = Machines::open()?;
    let machine = with_network_disk(VirtualMachine::default().coreos()).argument("ip=enp0s17:dhcp");
    machines.run(&machine, &peer(), |case| {
        case.boot()?;
        let inside = is_read(case)?;
        let profiles = inside.sh("cd /etc/NetworkManager/system-connections; ls | xargs")?;
        assert_eq!(profiles, "enp0s16.nmconnection enp0s17.nmconnection");
        let said = inside.sh("journalctl --boot --output=cat _TRANSPORT=kernel")?;
        assert!(said.contains("the root disk needs the network"), "{said}");
        Ok(())
    })
}
