//! CoreOS's first boot with networks that are not the document's: of the kernel command line, of coreos-installer's
//! `--copy-network`, of Ignition. Its units take the initramfs's network down before the pivot, and each of them is in the running
//! system all the same.

use std::net::Ipv4Addr;

use tests::{
    lab::{Inside, Machines, Nic, Peer, VirtualMachine, VmCase},
    two_stage::{
        ADDRESS, Ignition, MACS, NAME, archive, default_route, has_one_profile, one_card,
        static_address,
    },
};

use crate::Result;

/// The network of the others, beside the LAN.
const OFFICE: &str = "office";
/// The peer's address there.
const IN_OFFICE: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);
/// The machine's address there.
const OTHER: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 75);
const THIRD: &str = "52:54:00:00:00:73";

/// A static bond of the second and the third card; `route` goes behind its address.
fn own_bond(route: &str) -> [(&'static str, String); 3] {
    let port = |name: &str, digit: u8| {
        format!(
            "[connection]\nid=office-{name}\nuuid=6f1d8a10-6d0c-4a0e-a7a1-0f3f3a2b1c4{digit}\ntype=ethernet\n\
             interface-name={name}\nmaster=bond9\nslave-type=bond\n"
        )
    };
    let bond = format!(
        "[connection]\nid=office\nuuid=6f1d8a10-6d0c-4a0e-a7a1-0f3f3a2b1c40\ntype=bond\ninterface-name=bond9\n\n\
         [bond]\nmode=active-backup\nmiimon=100\n\n\
         [ipv4]\nmethod=manual\naddress1={OTHER}/24{route}\n\n[ipv6]\nmethod=disabled\n"
    );
    [("office", bond), ("office-1", port("enp0s17", 1)), ("office-2", port("enp0s18", 2))]
}

fn office() -> Peer {
    Peer::new().address(OFFICE, IN_OFFICE.into(), 24)
}

/// CoreOS with one card on the LAN and `others` in the office.
fn coreos(others: &[&str]) -> VirtualMachine {
    let machine = VirtualMachine::default().coreos().nic(Nic::new("nic1", MACS[0]));
    others.iter().zip(2..).fold(machine, |machine, (mac, number)| {
        machine.nic(Nic::new(&format!("nic{number}"), mac).segment(OFFICE))
    })
}

/// The document for the card on the LAN, with the default route.
fn document() -> String {
    let route = default_route(Peer::GATEWAY, "eth1");
    one_card("eth1", MACS[0], &static_address(ADDRESS), &route)
}

fn told(inside: &Inside) -> Result<String> {
    Ok(inside.sh("journalctl --boot --output=cat --identifier=nmgen")?)
}

fn has_one_default_route(case: &VmCase<'_>, by: &str) -> Result<()> {
    let routes = case.inside()?.sh("ip -4 route show default")?;
    assert!(routes.contains(&format!(" dev {by} ")) && routes.lines().count() == 1, "{routes}");
    Ok(())
}

#[tests::case]
fn a_card_of_the_kernel_command_line() -> Result<()> {
    let machines = Machines::open()?;
    let machine = coreos(&[MACS[1]])
        .first_argument(&format!("ip={OTHER}:::255.255.255.0::enp0s17:none"))
        .first_archive(archive(&[(NAME.to_owned(), document())].into())?)
        .ignition(&Peer::GATEWAY.to_string(), &Ignition::bare(NAME).text());
    let has_both = |case: &VmCase<'_>| -> Result<()> {
        has_one_profile(case, "enp0s16", "enp0s16", ADDRESS)?;
        has_one_profile(case, "enp0s17", "enp0s17", OTHER)?;
        has_one_default_route(case, "enp0s16")
    };
    machines.run(&machine, &office(), |case| {
        case.boot()?;
        has_both(case)?;
        let inside = case.inside()?;
        let said = told(&inside)?;
        assert!(said.contains("got the initramfs's other profiles too: enp0s17"), "{said}");
        // The teardown has run.
        let teardown = inside.sh("journalctl --boot --output=cat _TRANSPORT=kernel")?;
        assert!(teardown.contains("has a network of its own"), "{teardown}");
        // Nothing in the initramfs brings a network up any more.
        case.reboot()?;
        has_both(case)
    })
}

/// The document has DHCP on a port of the bond too: it would take it from the bond.
#[tests::case]
fn an_operators_bond_beside_the_clusters_document() -> Result<()> {
    let machines = Machines::open()?;
    let dhcp = |name: &str| {
        format!(
            "- name: {name}\n  type: ethernet\n  state: up\n  ipv4:\n    enabled: true\n    dhcp: true\n"
        )
    };
    let cluster = format!("interfaces:\n{}{}", dhcp("enp0s16"), dhcp("enp0s17"));
    let machine = own_bond("").iter().fold(
        coreos(&[MACS[1], THIRD])
            .first_archive(archive(&[("cluster".to_owned(), cluster)].into())?)
            .ignition(&IN_OFFICE.to_string(), &Ignition::bare(NAME).text()),
        |machine, (name, text)| {
            machine.early(&format!("/etc/coreos-firstboot-network/{name}.nmconnection"), text)
        },
    );
    let has_both = |case: &VmCase<'_>| -> Result<()> {
        has_one_profile(case, "bond9", "office", OTHER)?;
        let inside = case.inside()?;
        inside.wait_sh("ip -4 route show default | grep ' dev enp0s16 '", VmCase::BOOT)?;
        has_one_default_route(case, "enp0s16")?;
        let ports = inside.sh("cat /sys/class/net/bond9/bonding/slaves")?;
        assert_eq!(ports, "enp0s17 enp0s18");
        let leases = case.peer().leases()?;
        assert!(
            leases.iter().all(|lease| lease.mac == MACS[0]) && !leases.is_empty(),
            "{leases:?}"
        );
        Ok(())
    };
    machines.run(&machine, &office().dhcp(), |case| {
        case.boot()?;
        has_both(case)?;
        // Ignition's config came over it.
        let requests = case.requests()?;
        assert!(requests.contains(&OTHER.to_string()), "{requests}");
        let inside = case.inside()?;
        let said = told(&inside)?;
        assert!(said.contains("somebody gave this initramfs profiles for the same"), "{said}");
        assert_eq!(inside.sh("ls /etc/NetworkManager/system-connections | xargs")?, PROFILES);
        case.reboot()?;
        has_both(case)
    })
}

const PROFILES: &str =
    "enp0s16.nmconnection office-1.nmconnection office-2.nmconnection office.nmconnection";

#[tests::case]
fn ignitions_own_network_with_a_way_out() -> Result<()> {
    let machines = Machines::open()?;
    let gateway = format!(",{IN_OFFICE}");
    let ignition = own_bond(&gateway)
        .iter()
        .fold(Ignition::bare(NAME), |ignition, (name, text)| ignition.keyfile(name, text));
    let machine = coreos(&[MACS[1], THIRD])
        .first_archive(archive(&[(NAME.to_owned(), document())].into())?)
        .ignition(&Peer::GATEWAY.to_string(), &ignition.text());
    machines.run(&machine, &office(), |case| {
        case.boot()?;
        has_one_profile(case, "bond9", "office", OTHER)?;
        has_one_default_route(case, "bond9")?;
        let inside = case.inside()?;
        let profiles = inside.sh("cd /etc/NetworkManager/system-connections; ls | xargs")?;
        assert_eq!(profiles, PROFILES.trim_start_matches("enp0s16.nmconnection "));
        let address = inside.sh("ip -oneline -4 address show enp0s16")?;
        assert_eq!(address, "", "the initramfs's network has ended");
        let said = told(&inside)?;
        assert!(said.contains("the running system has its own network (bond9)"), "{said}");
        // The initramfs had the document's network.
        let requests = case.requests()?;
        assert!(requests.contains(&ADDRESS.to_string()), "{requests}");
        Ok(())
    })
}
