//! The choice of the uplink, a second bridge, and a bridge that is there already.

use tests::{
    dayone::{
        ADDRESS, BRIDGE_PROFILES, DAY_ONE, MAC, MANAGER, SOON, automatic, bridge_outcome, picture,
        volatile_profiles,
    },
    lab::{Error, Fault, Nic, Node, Peer},
};

use super::{bridge_attempt, gated, node, old_network, start};

const SECOND: &str = "52:54:00:00:00:02";

/// With a second gateway, routes in two tables, a rule and a search domain.
fn with_routes() -> String {
    DAY_ONE.replace(
        "dns=192.0.2.1;\n",
        "dns=192.0.2.1;\ndns-search=example.org;\nroute1=0.0.0.0/0,192.0.2.2,500\n\
         route2=198.18.0.0/16,192.0.2.1\nroute3=198.19.0.0/16,192.0.2.1\nroute3_options=table=5\n\
         routing-rule1=priority 5 from 192.0.2.0/24 table 5\n",
    )
}

/// With a second card, whose network has no gateway.
fn two_cards() -> Node {
    let second = DAY_ONE
        .replace("eno1", "eno2")
        .replace("d001", "d002")
        .replace("192.0.2.10/24,192.0.2.1", "203.0.113.10/24")
        .replace("dns=192.0.2.1;\n", "");
    let node = Node::new("worker-0")
        .nic(Nic::new("eno1", MAC))
        .nic(Nic::new("eno2", SECOND).segment("storage"));
    gated(automatic(node)).keyfile("eno1", &with_routes()).keyfile("eno2", &second)
}

#[tests::case]
fn second_bridge_is_added_and_removed() -> Result<(), Error> {
    two_cards().run(&Peer::new(), |case| {
        let (inside, _) = old_network(case)?;
        // A card that is gone.
        inside
            .sh("mkdir -p /var/lib/ovnk; echo eno9 >/var/lib/ovnk/iface_default_hint")?;
        // Another program's checkpoint of a card that this bridge does not need; it has no end.
        let of_storage = inside.sh(&format!(
            "busctl call {MANAGER} CheckpointCreate aouu 1 $(nmcli --get-values GENERAL.DBUS-PATH device show eno2) 0 0 \
             | cut --delimiter='\"' --fields=2"
        ))?;
        bridge_attempt(&inside)?.exits(0);
        inside.sh(&format!("busctl call {MANAGER} CheckpointDestroy o {of_storage}"))?;
        assert_eq!(volatile_profiles(&inside)?, BRIDGE_PROFILES);
        assert_eq!(inside.sh("cat /var/lib/ovnk/iface_default_hint")?, "eno1");
        let moved = inside.sh(
            "ip route show; ip route show table 5; ip rule show priority 5; cat /etc/resolv.conf",
        )?;
        for part in [
            "default via 192.0.2.1 dev br-ex proto static metric 48",
            "default via 192.0.2.2 dev br-ex proto static metric 500",
            "198.18.0.0/16 via 192.0.2.1 dev br-ex",
            "198.19.0.0/16 via 192.0.2.1 dev br-ex",
            "from 192.0.2.0/24 lookup 5",
            "search example.org",
        ] {
            assert!(moved.contains(part), "{part} in {moved}");
        }

        // The uplink of the second bridge is no hint.
        inside.sh("mkdir -p /etc/ovnk; echo eno2 | tee /etc/ovnk/extra_bridge >/var/lib/ovnk/iface_default_hint")?;
        bridge_attempt(&inside)?.exits(0);
        assert_eq!(inside.read("/var/lib/ovnk/iface_default_hint")?, None);
        assert_eq!(inside.sh("ovs-vsctl list-br | sort")?, "br-ex\nbr-ex1");
        assert_eq!(inside.sh("ovs-vsctl list-ports br-ex1")?, "eno2");
        let address = inside.sh("ip -4 -oneline address show dev br-ex1")?;
        assert!(address.contains("203.0.113.10/24"), "{address}");
        assert!(case.peer().pings(ADDRESS, SOON)?);

        inside.sh("rm /etc/ovnk/extra_bridge")?;
        bridge_attempt(&inside)?.exits(0);
        assert_eq!(inside.sh("ovs-vsctl list-br")?, "br-ex");
        assert_eq!(volatile_profiles(&inside)?, BRIDGE_PROFILES);
        inside.wait_sh("ip -4 -oneline address show dev eno2 | grep 203.0.113.10/24", SOON)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

/// Without the metrics that NetworkManager chooses: it gives each card another one, and may choose anew.
fn without_metrics(picture: &str) -> String {
    (100..110)
        .fold(picture.to_owned(), |text, metric| text.replace(&format!(" metric {metric} "), " "))
}

#[tests::case]
fn default_bridge_decides() -> Result<(), Error> {
    two_cards().run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        let before = without_metrics(&before);
        for (name, says) in [("", "is empty"), ("br-ex", "the bridge itself"), ("eno9", "eno9")] {
            inside.write("/etc/ovnk/default_bridge", name)?;
            let mark = start(&inside)?;
            if name == "eno9" {
                continue;
            }
            bridge_outcome(&inside, Some(&mark))?.exits(1).says(says);
            assert_eq!(without_metrics(&picture(&inside)?), before);
        }
        // The run that waits for eno9 looks again at each change: the order gives it no moment in which it succeeds.
        inside.write("/etc/ovnk/extra_bridge", "eno1")?;
        inside.write("/etc/ovnk/default_bridge", "eno1")?;
        let it = bridge_attempt(&inside)?;
        assert!(it.exit == 1 && it.text().contains("is the uplink of br-ex"), "{}", it.text());
        assert_eq!(without_metrics(&picture(&inside)?), before);
        inside.sh("rm /etc/ovnk/extra_bridge")?;
        // A card that is not there yet is awaited; the file may change meanwhile.
        inside.write("/etc/ovnk/default_bridge", "eno1\n")?;
        bridge_attempt(&inside)?.exits(0).says("/etc/ovnk/default_bridge names it");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        // As configure-ovs.sh: the file is the choice, and is not remembered.
        assert_eq!(inside.read("/var/lib/ovnk/iface_default_hint")?, None);

        // Another uplink, without a reboot: the first one gets its own profile back.
        inside.write("/etc/ovnk/default_bridge", "eno2\n")?;
        bridge_attempt(&inside)?.exits(0);
        assert_eq!(inside.sh("ovs-vsctl list-ports br-ex")?, "eno2");
        let address = inside.sh("ip -4 -oneline address show dev br-ex")?;
        assert!(address.contains("203.0.113.10/24"), "{address}");
        inside.wait_sh("ip -4 -oneline address show dev eno1 | grep 192.0.2.10/24", SOON)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn bridge_that_is_there_stays() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let (inside, _) = old_network(case)?;
        bridge_attempt(&inside)?.exits(0);
        let rows = "ovs-vsctl --columns=_uuid,name list interface";
        let made = inside.sh(rows)?;
        bridge_attempt(&inside)?.exits(0).says("in force already");
        assert_eq!(inside.sh(rows)?, made);

        for daemon in ["NetworkManager.service", "ovs-vswitchd.service"] {
            inside.sh(&format!("systemctl restart {daemon}"))?;
            assert!(case.peer().pings(ADDRESS, SOON)?, "{daemon}");
            assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
            let it = bridge_attempt(&inside)?;
            assert_eq!(it.exit, 0, "{daemon}: {}", it.text());
            assert!(case.peer().pings(ADDRESS, SOON)?, "{daemon}");
        }
        // A gateway that falls silent later is no reason to touch the network.
        case.peer_mut().fault(Fault::IgnoreNeighbours, true)?;
        bridge_attempt(&inside)?.exits(0);
        assert_eq!(inside.sh("ovs-vsctl list-ports br-ex")?, "eno1");
        inside.run(&["dayone", "diff"])?.says("# no difference");
        Ok(())
    })
}
