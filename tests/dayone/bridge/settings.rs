//! Settings of the uplink's own profile that come along.

use tests::{
    configure_ovs_profiles,
    dayone::{DAY_ONE, MAC, automatic, bridge_outcome, day_one_dhcp},
    lab::{Error, Nic, Node, Peer},
};

use super::{like_configure_ovs, made::has_the_one_lease};

#[tests::case]
fn routes_rules_names_and_the_client_id() -> Result<(), Error> {
    let profile = day_one_dhcp().replace("\n[ipv4]", "\n[ethernet]\nmtu=1400\n\n[ipv4]").replace(
        "dhcp-client-id=mac\n",
        "dhcp-client-id=01:02:03\ndns-search=example.org;\nroute1=203.0.113.0/24,192.0.2.1\n\
             route2=198.18.0.0/15,192.0.2.1\nroute2_options=table=5\n\
             routing-rule1=priority 5 from 192.0.2.0/24 table 5\n",
    );
    let node =
        automatic(Node::new("worker-0").nic(Nic::new("eno1", MAC))).keyfile("eno1", &profile);
    node.run(&Peer::new().dhcp(), |case| {
        let inside = case.boot()?;
        bridge_outcome(&inside, None)?.exits(0);
        has_the_one_lease(case)?;
        assert_eq!(case.peer().leases()?[0].client_id, "01:02:03");
        let seen = inside.sh(
            "ip route show 203.0.113.0/24; ip route show table 5; ip rule show priority 5; \
             cat /sys/class/net/eno1/mtu /sys/class/net/br-ex/mtu; grep example.org /etc/resolv.conf",
        )?;
        for part in [
            "203.0.113.0/24 via 192.0.2.1 dev br-ex",
            "198.18.0.0/15 via 192.0.2.1 dev br-ex",
            "from 192.0.2.0/24 lookup 5",
            "1400\n1400",
            "search ",
        ] {
            assert!(seen.contains(part), "{part} in {seen}");
        }
        Ok(())
    })
}

/// A Linux bridge with the card as its port.
#[tests::case]
fn ports_of_a_linux_bridge_come_along() -> Result<(), Error> {
    let bridge = DAY_ONE
        .split("\n[ipv4]")
        .next()
        .unwrap_or_default()
        .replace("eno1", "lan0")
        .replace("ethernet", "bridge")
        + "\n[bridge]\nstp=false\nmac-address=52:54:00:00:00:01\n\n\
           [ipv4]\nmethod=auto\n\n[ipv6]\nmethod=disabled\naddr-gen-mode=default\n";
    let port = "[connection]\nid=port-1\nuuid=0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd0a1\ntype=ethernet\n\
                interface-name=eno1\ncontroller=lan0\nport-type=bridge\n\n[bridge-port]\npath-cost=3\n";
    let node = automatic(Node::new("worker-0").nic(Nic::new("eno1", MAC)))
        .keyfile("lan0", &bridge)
        .keyfile("port-1", port);
    node.run(&Peer::new().dhcp(), |case| {
        for reboot in [false, true] {
            if reboot {
                case.reboot()?;
            } else {
                case.boot()?;
            }
            let inside = case.inside()?;
            bridge_outcome(&inside, None)?.exits(0);
            assert_eq!(
                inside.sh("ovs-vsctl list-ports br-ex; ls /sys/class/net/lan0/brif")?,
                "lan0\neno1"
            );
            has_the_one_lease(case)?;
            like_configure_ovs(&inside, configure_ovs_profiles!("linux-bridge"))?;
        }
        Ok(())
    })
}
