//! br-ex without a document, with the kernel's datapath: on a bond with a VLAN and LACP, on that VLAN, on a VLAN of a card, and on
//! a bond with the address of its active port. Then on the VLANs and the first bond by documents that are derived from one early
//! document.

mod ports;

use std::net::Ipv4Addr;

use tests::{
    configure_ovs_profiles,
    dayone::{Profiles, exports, parse, profiles, replays_topology, undocumented},
    derived::{OWN_NETWORK, STATIC_ROUTE, metrics},
    lab::{Inside, Machines, Nic, VmCase},
    two_stage::{
        ADDRESS, Ignition, NAME, ON_VLAN, SERVER, SOON, archive, bonded, derived, fleet,
        has_network_of, own_network, peer, static_address, under_own_names,
    },
};

use self::ports::{
    BACKUP_PORTS, ON_BACKUP, backup_cards, backup_peer, backup_profiles, boots_with_a_dead_port,
    other_port_takes_over,
};
use crate::Result;

const ON_STORAGE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 70);

/// A card without addresses, and a VLAN on it by the UUID of its profile.
const CARD: &str = "\
[connection]
id=storage
uuid=6e0a3f0c-51d5-4f0d-9f8e-7c3c5f1ab001
type=ethernet
interface-name=enp0s18

[ipv4]
method=disabled

[ipv6]
method=disabled
";
const VLAN_OF_CARD: &str = "\
[connection]
id=storage-vlan
uuid=6e0a3f0c-51d5-4f0d-9f8e-7c3c5f1ab002
type=vlan
interface-name=enp0s18.200

[vlan]
id=200
parent=6e0a3f0c-51d5-4f0d-9f8e-7c3c5f1ab001

[ipv4]
method=manual
address1=198.18.0.70/24

[ipv6]
method=disabled
";

/// The routes by br-ex, with the metrics of one column of the table of differences. Only the bond has the default route.
fn routes(address: Ipv4Addr, of: impl Fn((u32, u32)) -> u32) -> Vec<(String, u32)> {
    let default = ("default via 192.0.2.1".to_owned(), of(metrics(STATIC_ROUTE)));
    let has_it = address == ADDRESS;
    let own = own_network(address, of(metrics(OWN_NETWORK)));
    has_it.then_some(default).into_iter().chain([own]).collect()
}

/// Checks br-ex on `link`, and that every network of the machine works.
fn works(case: &VmCase<'_>, link: &str) -> Result<Inside> {
    let inside = case.inside()?;
    let seen = inside.sh(
        "ovs-vsctl get bridge br-ex datapath_type; ovs-vsctl list-ports br-ex; cat /run/lab-ovs-configuration || :",
    )?;
    assert_eq!(seen, format!("\"\"\n{link}"));
    for address in [ADDRESS, ON_VLAN, ON_STORAGE, ON_BACKUP] {
        assert!(case.peer().pings(address, SOON)?, "{address} with br-ex on {link}");
    }
    inside.run(&["dayone", "status"])?.exits(0).says(&format!("br-ex on {link}"));
    let same = inside.sh(&format!(
        "cat /sys/class/net/{link}/address /sys/class/net/br-ex/address | uniq | wc -l"
    ))?;
    assert_eq!(same, "1", "one MAC address");
    Ok(inside)
}

fn address_of(inside: &Inside, link: &str) -> Result<String> {
    Ok(inside.sh(&format!("cat /sys/class/net/{link}/address"))?)
}

/// Checks the profiles of the bridge and of `link` against those that configure-ovs.sh makes in `fixture` of `its` uplink.
fn as_the_script(inside: &Inside, fixture: &str, its: &str, link: &str) -> Result<Profiles> {
    let mac = address_of(inside, link)?;
    let mut script = parse(&fixture.replace(its, link).replace("52:54:00:00:00:01", &mac));
    // Its addresses are those of another node.
    script.retain(|id, _| id != "ovs-if-br-ex" && !id.ends_with("-slave-ovs-clone"));
    let own = profiles(inside)?;
    assert_eq!(undocumented(&script, &own), [""; 0], "{own:#?}");
    Ok(own)
}

/// Checks that the ports' profiles are copies of the ports' own, with the new bond as their controller.
fn are_copied(ports: [&str; 2], own: &Profiles) {
    for port in ports {
        let copy = format!("{port}-slave-ovs-clone");
        let mut expected = own[port].clone();
        for (property, value) in [
            ("connection.id", copy.as_str()),
            ("connection.controller", "ovs-if-phys0"),
            ("connection.autoconnect-priority", "100"),
        ] {
            expected.insert(property.to_owned(), value.to_owned());
        }
        assert_eq!(own.get(&copy), Some(&expected));
    }
}

/// Checks both ends of the aggregate.
fn both_ports_carry(case: &VmCase<'_>, inside: &Inside) -> Result<()> {
    let bond = inside.sh("cat /proc/net/bonding/bond0")?;
    assert!(bond.contains("Number of ports: 2"), "{bond}");
    assert!(!bond.contains("Partner Mac Address: 00:00:00:00:00:00"), "{bond}");
    let partner = case.lacp("aggregate")?;
    assert_eq!(partner.matches("current attached").count(), 2, "{partner}");
    Ok(())
}

/// The host's early document, with the storage network.
fn early() -> String {
    let address = static_address(ON_STORAGE);
    // Each line whole: a continuation would lose the leading spaces.
    let storage = format!(
        "  - name: enp0s18
    type: ethernet
    state: up
  - name: enp0s18.200
    type: vlan
    state: up
    vlan:
      base-iface: enp0s18
      id: 200
{address}dns-resolver:"
    );
    under_own_names("802.3ad").replace("dns-resolver:", &storage)
}

/// Puts the derived document with this uplink in force. Of the uplink's network, br-ex has what the automatic bridge gave it.
fn by_document(case: &VmCase<'_>, link: &str, address: Ipv4Addr) -> Result<()> {
    let inside = case.inside()?;
    let before = address_of(&inside, link)?;
    inside.write(&format!("/etc/nmstate/openshift/{NAME}.yml"), &derived(&early(), link)?)?;
    inside.run_within(&["dayone", "apply"], VmCase::BOOT)?.success()?;
    has_network_of(&inside, link, &before, address, &routes(address, |(derived, _)| derived))?;
    for address in [ADDRESS, ON_VLAN, ON_STORAGE] {
        assert!(case.peer().pings(address, SOON)?, "{address} with the document on {link}");
    }
    // In force only without drift.
    let status = inside.run(&["dayone", "status"])?.success()?;
    assert!(status.starts_with("IN FORCE: "), "{status}");
    Ok(())
}

/// Runs the bridge service again with this uplink; the node's document says what it made.
fn moved(case: &VmCase<'_>, link: &str) -> Result<Inside> {
    let inside = case.inside()?;
    inside.sh("mkdir -p /etc/ovnk")?;
    inside.write("/etc/ovnk/default_bridge", link)?;
    let restart = ["systemctl", "restart", "dayone-bridge.service"];
    inside.run_within(&restart, VmCase::BOOT)?.success()?;
    let inside = works(case, link)?;
    exports(&inside)?;
    Ok(inside)
}

#[tests::case]
fn on_a_bond_and_on_vlans() -> Result<()> {
    let machines = Machines::open()?;
    let ignition = Ignition::new(NAME)
        .automatic_bridge()
        .keyfile("storage", CARD)
        .keyfile("storage-vlan", VLAN_OF_CARD);
    let ignition = backup_profiles(ignition);
    let machine = backup_cards(bonded("802.3ad").nic(Nic::new("nic3", "52:54:00:00:00:73")))
        .archive(archive(&fleet("802.3ad"))?)
        .ignition(&SERVER.to_string(), &ignition.text());
    let peer =
        peer().vlan("storage", 200).address("storage", Ipv4Addr::new(198, 18, 0, 1).into(), 24);
    machines.run(&machine, &backup_peer(peer), |case| {
        for reboot in [false, true] {
            let inside = if reboot {
                boots_with_a_dead_port(case, |case| works(case, "bond0"))?
            } else {
                case.boot()?;
                works(case, "bond0")?
            };
            both_ports_carry(case, &inside)?;
            let own =
                as_the_script(&inside, configure_ovs_profiles!("bond-lacp"), "bond0", "bond0")?;
            are_copied(["enp0s16", "enp0s17"], &own);
            let kubelet = inside.wait_unit("kubelet.service", "active", SOON)?;
            let bridge = inside.unit("dayone-bridge.service")?;
            assert!(kubelet.exec_start > bridge.active_enter, "{kubelet:?} {bridge:?}");
        }
        let inside = moved(case, "bond0.100")?;
        replays_topology(&inside)?;
        both_ports_carry(case, &inside)?;
        as_the_script(&inside, configure_ovs_profiles!("bond-vlan"), "bond0.100", "bond0.100")?;
        let own = address_of(&inside, "bond0.100")?;
        let automatic = routes(ON_VLAN, |(_, automatic)| automatic);
        has_network_of(&inside, "bond0.100", &own, ON_VLAN, &automatic)?;

        let inside = moved(case, "bond1")?;
        let fixture = configure_ovs_profiles!("bond-fail-over-mac");
        let own = as_the_script(&inside, fixture, "bond0", "bond1")?;
        are_copied(BACKUP_PORTS, &own);
        other_port_takes_over(case, &inside)?;

        let inside = moved(case, "enp0s18.200")?;
        as_the_script(
            &inside,
            &configure_ovs_profiles!("vlan")
                .replace("eno1.100", "eno1.200")
                .replace("vlan.id: 100", "vlan.id: 200"),
            "eno1",
            "enp0s18",
        )?;
        by_document(case, "enp0s18.200", ON_STORAGE)?;
        by_document(case, "bond0.100", ON_VLAN)?;
        by_document(case, "bond0", ADDRESS)
    })
}
