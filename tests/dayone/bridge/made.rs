//! br-ex on one card: static, DHCP, both families; on a node with all units of the field.

use tests::{
    dayone::{
        APPLIED, BRIDGE_PROFILES, DAY_ONE, MAC, SOON, agent, br_ex_works, bridge_outcome,
        day_one_dhcp, finished, patch_port, volatile_profiles, with_bridge,
    },
    lab::{Case, Error, Inside, Lab, Nic, Node, Peer, Release},
};

/// A node of the field.
fn field(day_one: &str) -> Node {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).keyfile("eno1", day_one);
    with_bridge(agent(node.field(Release::V4_22).ovn_remains()))
}

/// Checks that this boot's br-ex is the agent's, and every side job of ovs-configuration is done.
fn made_by_dayone(inside: &Inside) -> Result<(), Error> {
    let it = bridge_outcome(inside, None)?;
    assert_eq!(it.exit, 0, "{}", it.text());
    assert!(it.text().contains("br-ex on eno1"), "{}", it.text());
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
    Ok(())
}

#[test]
fn static_address_at_each_boot() -> Result<(), Error> {
    let Some(lab) = Lab::open()? else { return Ok(()) };
    lab.run(field(DAY_ONE), &Peer::new(), |case| {
        case.boot()?;
        finished(&case.inside()?)?;
        made_by_dayone(&case.inside()?)?;
        br_ex_works(case)?;
        let port = patch_port(&case.inside()?)?;
        for power_cut in [false, true] {
            if power_cut {
                case.cut_power()?;
                case.boot()?;
            } else {
                case.reboot()?;
            }
            let inside = case.inside()?;
            finished(&inside)?;
            made_by_dayone(&inside)?;
            br_ex_works(case)?;
            // OVSDB kept the bridge, and the agent did not make it anew.
            assert_eq!(patch_port(&inside)?, port);
        }
        Ok(())
    })
}

#[test]
fn dhcp_keeps_its_lease() -> Result<(), Error> {
    let Some(lab) = Lab::open()? else { return Ok(()) };
    lab.run(field(&day_one_dhcp()), &Peer::new().dhcp(), |case| {
        case.boot()?;
        finished(&case.inside()?)?;
        made_by_dayone(&case.inside()?)?;
        has_the_one_lease(case)
    })
}

/// Checks that the server knows one lease, and br-ex has it under the card's MAC address.
fn has_the_one_lease(case: &Case<'_>) -> Result<(), Error> {
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
