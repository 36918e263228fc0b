//! The units of the field without the agent.

use tests::{
    dayone::{
        APPLIED, Document, MAC, SOON, br_ex_works, day_one_dhcp, finished, keeps_patch_port,
        patch_port,
    },
    lab::{Error, Field, Inside, Peer, Release, Topology},
};

use super::{each_release, node};

/// The profiles of configure-ovs.sh, as files.
const PROFILES: &str = "\
br-ex.nmconnection
ovs-if-br-ex.nmconnection
ovs-if-phys0.nmconnection
ovs-port-br-ex.nmconnection
ovs-port-phys0.nmconnection";

/// Checks the profiles of configure-ovs.sh, and the card's own beside them.
pub(super) fn made_by_configure_ovs(inside: &Inside) -> Result<(), Error> {
    // NetworkManager's own profiles: of lo, and of the tun device behind a userspace bridge.
    let theirs = "ls /run/NetworkManager/system-connections | grep -v -e ^lo -e '^br-ex-.*-'";
    assert_eq!(inside.sh(theirs)?, PROFILES);
    assert_eq!(inside.sh("ls /etc/NetworkManager/system-connections")?, "eno1.nmconnection");
    let route = inside.sh("ip route show default")?;
    assert!(route.contains(" metric 48"), "{route}");
    assert!(inside.read("/run/ovs-config-executed")?.is_some());
    assert_eq!(inside.read(APPLIED)?, None);
    Ok(())
}

each_release!(configure_ovs_makes_br_ex_at_every_boot: release_4_16, release_4_20, two_nodes_5_1);
fn configure_ovs_makes_br_ex_at_every_boot(field: Field) -> Result<(), Error> {
    node(field).day_one().run(&Peer::new(), |case| {
        finished(&case.boot()?)?;
        br_ex_works(case)?;
        made_by_configure_ovs(&case.inside()?)?;
        let port = patch_port(&case.inside()?)?;

        let inside = case.reboot()?;
        finished(&inside)?;
        br_ex_works(case)?;
        made_by_configure_ovs(&inside)?;
        // The bridge is a new one, with OVN's port on it.
        assert_ne!(patch_port(&inside)?, port);
        // The address was on the card when nodeip-configuration ran. pacemaker's start of kubelet starts it once more, as every
        // oneshot that kubelet requires: for this configure-ovs.sh has its condition there.
        let forwards = match field.topology {
            Topology::TwoNodesWithFencing => "br-ex\n",
            Topology::HighlyAvailable | Topology::SingleNode => "eno1\n",
        };
        assert_eq!(inside.read("/run/lab-forwarding")?.as_deref(), Some(forwards));
        let remote = inside.read("/run/lab-ovn-remote")?;
        assert_eq!(remote.as_deref(), Some("\" \"\n"), "ovn-remote is stale");
        let kubelet = inside.read("/run/lab-kubelet/node-ip")?;
        assert_eq!(kubelet.as_deref(), Some("192.0.2.10\n"));
        Ok(())
    })
}

#[tests::case]
fn configure_ovs_keeps_a_lease() -> Result<(), Error> {
    node(Release::V4_22).keyfile("eno1", &day_one_dhcp()).run(&Peer::new().dhcp(), |case| {
        let inside = case.boot()?;
        finished(&inside)?;
        made_by_configure_ovs(&inside)?;
        let leases = case.peer().leases()?;
        assert_eq!(leases.len(), 1, "{leases:?}");
        assert_eq!(case.peer().mac_of(leases[0].address)?.as_deref(), Some(MAC));
        let address = inside.sh("ip -4 -oneline address show dev br-ex")?;
        assert!(address.contains(&leases[0].address.to_string()), "{address}");
        Ok(())
    })
}

each_release!(document_is_applied_by_nmstate: release_4_16, release_4_20, release_4_22, release_5_1);
fn document_is_applied_by_nmstate(field: Field) -> Result<(), Error> {
    let text = Document::new().text();
    node(field).day_one().document(&text).run(&Peer::new(), |case| {
        let inside = case.boot()?;
        finished(&inside)?;
        br_ex_works(case)?;
        let marker = if field.release < Release::V4_20 { "" } else { &text };
        assert_eq!(inside.read(APPLIED)?.as_deref(), Some(marker));
        assert_eq!(inside.read("/etc/nmstate/worker-0.yml")?.as_ref(), Some(&text));
        assert_eq!(inside.read("/etc/nmstate/worker-0.applied")?.as_ref(), Some(&text));
        assert_eq!(inside.read("/run/ovs-config-executed")?, None);
        let port = patch_port(&inside)?;

        let inside = case.reboot()?;
        finished(&inside)?;
        br_ex_works(case)?;
        // 4.20 deletes the bridge at every boot, and OVN's port with it.
        if field.release == Release::V4_20 {
            assert_ne!(patch_port(&inside)?, port);
        } else {
            assert!(keeps_patch_port(&inside, &port)?);
        }
        Ok(())
    })
}

#[tests::case]
fn first_boot_ends_with_the_new_os() -> Result<(), Error> {
    node(Field::single_node_5_0()).day_one().first_boot().run(&Peer::new(), |case| {
        case.power_on()?;
        case.wait_off(3 * SOON)?;
        let inside = case.boot()?;
        finished(&inside)?;
        br_ex_works(case)?;
        let link = inside.read("/etc/systemd/network/98-nmstate-eno1.link")?;
        assert!(link.is_some_and(|text| text.contains(MAC)));
        Ok(())
    })
}

#[tests::case]
fn mtu_migration_finds_the_profiles_of_configure_ovs() -> Result<(), Error> {
    node(Release::V5_0).day_one().mtu_migration(1400).run(&Peer::new(), |case| {
        let inside = case.boot()?;
        finished(&inside)?;
        let unit = inside.unit("mtu-migration.service")?;
        assert!(unit.exec_start.is_some() && unit.result == "success", "{unit:?}");
        inside.wait_sh("ip link show br-ex | grep 'mtu 1400'", SOON)?;
        assert_eq!(inside.sh("cat /etc/cno/mtu-migration/mtu/eno1")?, "ORIGINAL_MTU=1500");
        Ok(())
    })
}
