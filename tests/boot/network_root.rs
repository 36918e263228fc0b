//! The root disk is on the network, behind a card that no document names: the default profile, DHCP on every card, carries it into
//! the running system beside the document's network.

use std::net::Ipv4Addr;

use tests::{
    lab::{Machines, Nic, Peer, VirtualMachine, VmCase},
    two_stage::{MACS, NAME, default_route, has_one_profile, one_card, static_address},
};

use crate::Result;

/// The document's network, beside the disk's, which is the LAN.
const OFFICE: &str = "office";
const GATEWAY: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);
const ADDRESS: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 75);

#[tests::case]
fn the_default_profile_carries_the_disk() -> Result<()> {
    let machines = Machines::open()?;
    // With a default route of its own the document makes the default profile superfluous, but for the disk.
    let route = default_route(GATEWAY, "eth1");
    let document = one_card("eth1", MACS[0], &static_address(ADDRESS), &route);
    let machine = VirtualMachine::new()
        .nic(Nic::new("nic1", MACS[0]).segment(OFFICE))
        .nic(Nic::new("nic2", MACS[1]))
        .network_disk(Peer::GATEWAY.into())
        .argument("ip=dhcp")
        .early(&format!("/etc/nmgen/{NAME}.yml"), &document);
    let peer = Peer::new().dhcp().address(OFFICE, GATEWAY.into(), 24);
    machines.run(&machine, &peer, |case| {
        case.boot()?;
        has_one_profile(case, "enp0s16", "enp0s16", ADDRESS)?;
        let inside = case.inside()?;
        inside.wait_sh(
            "nmcli -g GENERAL.STATE device show enp0s17 | grep -Fx '100 (connected)'",
            VmCase::BOOT,
        )?;
        let uuid = "nmcli -g GENERAL.CON-UUID device show enp0s17";
        let file = format!("grep -l uuid=$({uuid}) /run/NetworkManager/system-connections/*");
        let file = inside.sh(&file)?;
        assert!(file.ends_with("/default_connection.nmconnection"), "{file}");
        let leases = case.peer().leases()?;
        assert!(matches!(&leases[..], [lease] if lease.mac == MACS[1]), "{leases:?}");
        // Each file is read from the disk anew.
        assert_eq!(inside.sh("findmnt --noheadings --output SOURCE /")?, "/dev/nbd0");
        let read = "echo 3 >/proc/sys/vm/drop_caches; cat /usr/bin/* /etc/os-release | wc -c";
        assert!(inside.sh(read)?.parse::<u64>()? > 10_000_000);
        assert!(case.peer().pings(leases[0].address, VmCase::BOOT)?);
        Ok(())
    })
}
