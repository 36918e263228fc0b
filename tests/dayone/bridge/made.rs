//! br-ex on one card: static, DHCP, both families; on a node with all units of the field.

use std::net::Ipv4Addr;

use tests::{
    configure_ovs_profiles,
    dayone::{
        ADDRESS6, APPLIED, ATTEMPT, BRIDGE_PROFILES, DAY_ONE, MAC, SOON, USERSPACE, agent,
        automatic, br_ex_works, bridge_outcome, day_one_dhcp, exports, finished, keeps_patch_port,
        patch_port, replays, unhealthy, unwrapped, volatile_profiles, with_bridge,
    },
    lab::{Case, Error, Field, Inside, Nic, Node, Peer, Release, Topology},
};

use super::like_configure_ovs;

/// On premises, where nodeip-configuration.service records it.
const NODE_IP: &str = "it has the node IP 192.0.2.10";

/// The decisions of a commit, until they are carried out.
const COMMIT: &str = "/var/lib/dayone/committed/automatic.json";

/// A node of the field.
fn node(day_one: &str, topology: Topology) -> Node {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).keyfile("eno1", day_one);
    let field = Field { release: Release::V5_1, topology };
    with_bridge(agent(node.field(field).ovn_remains()))
}

/// The node of a cluster of three or more.
fn field(day_one: &str) -> Node {
    node(day_one, Topology::HighlyAvailable)
}

/// Checks that this boot's br-ex is the agent's, and every side job of ovs-configuration is done.
fn made_by_dayone(inside: &Inside, reason: &str) -> Result<(), Error> {
    bridge_outcome(inside, None)?.exits(0).says(&format!("br-ex on eno1: {reason}"));
    assert_eq!(volatile_profiles(inside)?, BRIDGE_PROFILES);
    assert_eq!(inside.sh("ls /etc/NetworkManager/system-connections")?, "eno1.nmconnection");
    let route = inside.sh("ip route show default")?;
    assert!(route.contains(" metric 48"), "{route}");
    assert!(inside.read("/run/ovs-config-executed")?.is_some());
    assert_eq!(inside.read(APPLIED)?, None);
    let peer = inside.unit("ovs-configuration.service")?;
    assert_eq!(peer.exec_start, None, "configure-ovs.sh ran too");
    let remote = inside.read("/run/lab-ovn-remote")?.unwrap_or_default();
    assert_eq!(remote.trim().trim_matches('"').trim(), "", "ovn-remote is stale");
    let kubelet = inside.unit("kubelet.service")?;
    let bridge = inside.unit("dayone-bridge.service")?;
    assert!(kubelet.exec_start > bridge.active_enter, "{kubelet:?} {bridge:?}");
    exports(inside)?;
    Ok(())
}

#[tests::case]
fn static_address_at_each_boot() -> Result<(), Error> {
    field(DAY_ONE).run(&Peer::new(), |case| {
        finished(&case.boot()?)?;
        made_by_dayone(&case.inside()?, NODE_IP)?;
        br_ex_works(case)?;
        replays(&case.inside()?)?;
        like_configure_ovs(&case.inside()?, configure_ovs_profiles!("static"))?;
        let port = patch_port(&case.inside()?)?;
        for power_cut in [false, true] {
            if power_cut {
                // A commit of a bridge that the disk has lost half of says nothing of this boot.
                case.inside()?.write(COMMIT, "{\"half")?;
                case.cut_power()?;
                case.boot()?;
            } else {
                case.reboot()?;
            }
            let inside = case.inside()?;
            finished(&inside)?;
            made_by_dayone(&inside, NODE_IP)?;
            br_ex_works(case)?;
            // OVSDB kept the bridge, and the agent did not make it anew.
            assert!(keeps_patch_port(&inside, &port)?);
        }
        assert_eq!(case.inside()?.read(COMMIT)?, None);
        Ok(())
    })
}

/// On a node of a cloud, where nobody records the node's address.
#[tests::case]
fn dhcp_keeps_its_lease() -> Result<(), Error> {
    let node = field(&day_one_dhcp()).file(
        "/etc/systemd/system/nodeip-configuration.service.d/50-lab.conf",
        "[Unit]\nConditionPathExists=/nowhere\n",
        0o644,
    );
    node.run(&Peer::new().dhcp(), |case| {
        let inside = case.boot()?;
        inside.wait_unit("kubelet.service", "active", ATTEMPT)?;
        made_by_dayone(&inside, "it has the first default route, via 192.0.2.1")?;
        // It would wait for this address for ever if a document were in force.
        assert_eq!(inside.read("/run/nodeip-configuration/primary-ip")?, None);
        let waits = inside.wait_unit("wait-for-node-ip.service", "inactive", SOON)?;
        assert!(waits.exec_start.is_some() && waits.result == "success", "{waits:?}");
        like_configure_ovs(&inside, configure_ovs_profiles!("dhcp"))?;
        has_the_one_lease(case)
    })
}

#[tests::case]
fn both_families_from_the_network() -> Result<(), Error> {
    let both = day_one_dhcp()
        .replace("\n[ipv4]", "lldp=1\n\n[ipv4]")
        .replace("dhcp-client-id=mac\n", "")
        .replace("[ipv6]\nmethod=disabled", "[ipv6]\nmethod=auto\nmay-fail=false\naddr-gen-mode=0");
    let node = automatic(Node::new("worker-0").nic(Nic::new("eno1", MAC))).keyfile("eno1", &both);
    node.run(&Peer::new().dhcp().mtu(9000).router_advertisements(), |case| {
        let inside = case.boot()?;
        bridge_outcome(&inside, None)?.exits(0);
        has_the_one_lease(case)?;
        // An advertisement may come after the lease.
        let routes = "ip -6 route show default dev br-ex | grep 'metric 48'";
        inside.wait_sh(routes, SOON)?;
        let address =
            "ip -6 -oneline address show dev br-ex scope global -tentative | grep 2001:db8:";
        inside.wait_sh(address, SOON)?;
        like_configure_ovs(&inside, configure_ovs_profiles!("slaac"))?;
        // The MTU of the lease, for the card and for br-ex.
        assert_eq!(
            inside.sh("cat /sys/class/net/eno1/mtu /sys/class/net/br-ex/mtu")?,
            "9000\n9000"
        );
        inside.run(&["dayone", "status"])?.exits(0);
        saved_profiles_are_in_memory_again(case)
    })
}

/// Somebody changes the bridge's profiles by nmcli, which saves them: after a boot they were the network, and no commit knew it.
fn saved_profiles_are_in_memory_again(case: &mut Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.sh("for id in br-ex ovs-port-phys0 ovs-port-br-ex ovs-if-phys0 ovs-if-br-ex; do \
         nmcli connection modify $id connection.stable-id lab; done")?;
    let saved = "ls /etc/NetworkManager/system-connections";
    assert!(inside.sh(saved)?.contains("ovs-if-br-ex.nmconnection"));
    let inside = case.reboot()?;
    bridge_outcome(&inside, None)?.exits(0);
    assert_eq!(inside.sh(saved)?, "eno1.nmconnection");
    inside.run(&["dayone", "status"])?.exits(0);
    has_the_one_lease(case)
}

#[tests::case]
fn ipv6_alone() -> Result<(), Error> {
    let only = DAY_ONE.split("\n[ipv4]").next().unwrap_or_default().to_owned()
        + "\n[ipv4]\nmethod=disabled\n\n[ipv6]\nmethod=manual\naddress1=2001:db8::10/64,2001:db8::1\n";
    let node = automatic(Node::new("worker-0").nic(Nic::new("eno1", MAC))).keyfile("eno1", &only);
    node.run(&Peer::new(), |case| {
        let inside = case.boot()?;
        let it = bridge_outcome(&inside, None)?.exits(0);
        assert!(
            it.text().contains("br-ex on eno1") && it.text().contains("2001:db8::1"),
            "{}",
            it.text()
        );
        assert!(case.peer().pings(ADDRESS6, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS6)?.as_deref(), Some(MAC));
        let routes = inside.sh("ip -6 route show dev br-ex | grep -v -e ^fe80: -e ^multicast")?;
        assert!(routes.lines().all(|route| route.contains(" metric 48 ")), "{routes}");
        Ok(())
    })
}

#[tests::case]
fn static_address_beside_dhcp() -> Result<(), Error> {
    let both = day_one_dhcp()
        .replace("type=ethernet\n", "type=ethernet\nautoconnect-priority=5\n")
        .replace("dhcp-client-id=mac\n", "address1=192.0.2.77/24\n")
        + "addr-gen-mode=default\n";
    let node = automatic(Node::new("worker-0").nic(Nic::new("eno1", MAC))).keyfile("eno1", &both);
    node.run(&Peer::new().dhcp(), |case| {
        bridge_outcome(&case.boot()?, None)?.exits(0);
        assert!(case.peer().pings(Ipv4Addr::new(192, 0, 2, 77), SOON)?);
        like_configure_ovs(&case.inside()?, configure_ovs_profiles!("dhcp-and-address"))?;
        has_the_one_lease(case)
    })
}

#[tests::case]
fn mtu_migration_finds_its_profiles() -> Result<(), Error> {
    field(DAY_ONE).mtu_migration(1400).run(&Peer::new(), |case| {
        let inside = case.boot()?;
        finished(&inside)?;
        made_by_dayone(&inside, NODE_IP)?;
        let unit = inside.unit("mtu-migration.service")?;
        assert!(unit.exec_start.is_some() && unit.result == "success", "{unit:?}");
        inside.wait_sh("ip link show br-ex | grep 'mtu 1400'", SOON)?;
        assert_eq!(inside.sh("cat /etc/cno/mtu-migration/mtu/eno1")?, "ORIGINAL_MTU=1500");
        inside.sh("ip link show eno1 | grep 'mtu 1400'")?;
        // The cluster's change is no drift, and one by somebody else is.
        inside.sh("dayone status && dayone health && dayone diff --exit-code")?;
        inside.sh("ovs-vsctl set interface br-ex mtu_request=1450")?;
        inside.wait_sh("ip link show br-ex | grep 'mtu 1450'", SOON)?;
        let status = inside.run(&["dayone", "status"])?.exits(3);
        assert!(status.to_string().contains("br-ex (ovs-interface): mtu"), "{status}");
        // Large packets are lost on the node itself.
        let own = "br-ex has an MTU of 1450, and eno1 below it has 1400";
        assert!(unwrapped(&status.stdout).contains(own), "{status}");
        let probe = inside.run(&["dayone", "probe"])?;
        assert_ne!(probe.status.code(), Some(0), "{probe}");
        assert!(unwrapped(&probe.stdout).contains(own), "{probe}");
        assert!(!probe.stdout.contains("switch"), "{probe}");
        // machine-config-operator of 4.16, templates/common/_base/units/ovs-configuration.service.yaml: the network is the script's
        // argument.
        inside.write(
            "/etc/systemd/system/ovs-configuration.service.d/90-lab.conf",
            "[Service]\nExecStart=\nExecStart=/usr/local/bin/configure-ovs.sh OpenShiftSDN\n",
        )?;
        inside.sh("systemctl daemon-reload && dayone bridge")?;
        inside.sh("journalctl --boot --output=cat SYSLOG_IDENTIFIER=dayone | grep 'network is not OVN-Kubernetes'")?;
        // Another account of this boot, in which kubelet has started: nothing makes br-ex any more.
        inside.sh("ovs-vsctl set interface br-ex mtu_request=1400; dayone apply")?;
        let status = unwrapped(&inside.sh("dayone status")?);
        assert!(status.starts_with("NO DOCUMENT: nothing to do "), "{status}");
        assert!(!status.contains("when kubelet starts"), "{status}");
        Ok(())
    })
}

/// With `on-failure = "continue"` a br-ex that cannot be made is left to configure-ovs.sh.
#[tests::case]
fn failure_that_goes_on_leaves_br_ex_to_configure_ovs() -> Result<(), Error> {
    // The agent alone asks a target that is not there.
    let settings = format!(
        "on-failure = \"continue\"\n{USERSPACE}[timeout]\nprobe = 1\n\
         [[probe.target]]\nname = \"registry\"\ntcp = \"192.0.2.9:5000\"\n"
    );
    node(DAY_ONE, Topology::TwoNodesWithFencing).settings(&settings).run(&Peer::new(), |case| {
        let inside = case.boot()?;
        bridge_outcome(&inside, None)?.exits(3);
        unhealthy(&inside, "not-in-force")?;
        finished(&inside)?;
        br_ex_works(case)?;
        assert!(inside.unit("ovs-configuration.service")?.exec_start.is_some());
        assert_eq!(volatile_profiles(&inside)?, BRIDGE_PROFILES);
        Ok(())
    })
}

/// Checks that the server knows one lease, and br-ex has it under the card's MAC address.
pub(super) fn has_the_one_lease(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    let leases = case.peer().leases()?;
    assert_eq!(leases.len(), 1, "{leases:?}");
    let address = leases[0].address;
    assert!(case.peer().pings(address, SOON)?);
    assert_eq!(case.peer().mac_of(address)?.as_deref(), Some(MAC));
    let on_bridge = inside.sh("ip -4 -oneline address show dev br-ex")?;
    assert!(on_bridge.contains(&address.to_string()), "{on_bridge}");
    Ok(())
}
