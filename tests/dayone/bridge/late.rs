//! Default routes that come late, and two at once.

use std::net::IpAddr;

use tests::{
    dayone::{
        ADDRESS, ATTEMPT, DAY_ONE, HASTE, MAC, SOON, USERSPACE, automatic, bridge_outcome,
        day_one_dhcp, kubelet_ran, mark,
    },
    lab::{Case, Error, Fault, Inside, Nic, Node, Peer},
};

use super::{GATE, bridge_attempt, gated, made::has_the_one_lease, start};

const SECOND: &str = "52:54:00:00:00:02";

/// Boots; the bridge service has not run, and nor has kubelet.
fn booted(case: &mut Case<'_>) -> Result<Inside, Error> {
    let inside = case.boot()?;
    inside.sh(&format!(
        "systemctl stop kubelet.service kubelet-dependencies.target; rm -rf /run/lab-kubelet; touch {GATE}"
    ))?;
    Ok(inside)
}

/// Activates the card's profile anew, with a silent DHCP server.
fn without_lease(case: &mut Case<'_>, card: &str) -> Result<(), Error> {
    case.peer_mut().fault(Fault::DropDhcp, true)?;
    let inside = case.inside()?;
    inside.sh(&format!("nmcli --wait 0 connection up {card}"))?;
    inside.wait_sh(&format!("! ip route show default dev {card} | grep ."), SOON)?;
    Ok(())
}

/// The profile of the second card.
fn of_second(profile: &str) -> String {
    profile.replace("eno1", "eno2").replace("d001", "d002").replace("192.0.2.10/", "192.0.2.11/")
}

fn two_cards(first: &str, second: &str) -> Node {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).nic(Nic::new("eno2", SECOND));
    gated(automatic(node)).keyfile("eno1", first).keyfile("eno2", second)
}

#[tests::case]
fn lease_after_the_first_attempt() -> Result<(), Error> {
    let settings = HASTE.replace("[wait]\n", "[wait]\nuplink = 1\n") + USERSPACE;
    let node = gated(automatic(Node::new("worker-0").nic(Nic::new("eno1", MAC))))
        .keyfile("eno1", &day_one_dhcp())
        .settings(&settings);
    node.run(&Peer::new().dhcp(), |case| {
        let inside = booted(case)?;
        without_lease(case, "eno1")?;
        let it = bridge_attempt(&inside)?;
        assert!(it.exit != 0 && it.text().contains("no default route"), "{}", it.text());
        assert!(!kubelet_ran(&inside)?);
        assert_eq!(
            inside.sh("ovs-vsctl list-br; ls /etc/NetworkManager/system-connections")?,
            "eno1.nmconnection"
        );
        inside.wait_sh("dayone status | grep 'the next attempt is in 15 s'", SOON)?;

        // The new route ends the pause.
        let second = mark(&inside)?;
        case.peer_mut().fault(Fault::DropDhcp, false)?;
        inside.sh("nmcli --wait 0 connection up eno1")?;
        let pause = inside.wait_journal(&[second.argument()], ATTEMPT, |entry| {
            entry.message() == "the pause is over"
        })?;
        assert_eq!(pause.field("DAYONE_WOKEN"), Some("Network"));
        bridge_outcome(&inside, Some(&second))?.exits(0);
        has_the_one_lease(case)
    })
}

#[tests::case]
fn the_uplink_of_before_is_waited_for() -> Result<(), Error> {
    let node = two_cards(DAY_ONE, &of_second(&day_one_dhcp())).file(
        "/var/lib/ovnk/iface_default_hint",
        "eno2\n",
        0o644,
    );
    node.run(&Peer::new().dhcp(), |case| {
        let inside = booted(case)?;
        without_lease(case, "eno2")?;
        let mark = start(&inside)?;
        let waits = "systemctl show --property=StatusText dayone-bridge.service | \
                     grep 'a default route of eno2, the uplink before'";
        inside.wait_sh(waits, ATTEMPT)?;
        case.peer_mut().fault(Fault::DropDhcp, false)?;
        let it = bridge_outcome(&inside, Some(&mark))?.exits(0);
        assert!(it.text().contains("br-ex on eno2: it was the uplink before"), "{}", it.text());
        let leases = case.peer().leases()?;
        assert_eq!(leases.len(), 1, "{leases:?}");
        assert!(
            inside
                .sh("ip -4 -oneline address show dev br-ex")?
                .contains(&leases[0].address.to_string())
        );
        assert!(case.peer().pings(leases[0].address, SOON)?);
        assert_eq!(inside.sh("cat /var/lib/ovnk/iface_default_hint")?.trim(), "eno2");
        Ok(())
    })
}

/// The kernel's first route counts.
/// ovs-vswitchd with the datapath in userspace does it, where it gives up a card that NetworkManager sets up at the same moment.
#[tests::case]
fn card_that_something_sets_down_after_the_start() -> Result<(), Error> {
    let node = gated(automatic(Node::new("worker-0").nic(Nic::new("eno1", MAC)))).day_one();
    node.run(&Peer::new(), |case| {
        let inside = booted(case)?;
        inside.sh("ip link set eno1 down")?;
        inside
            .wait_sh("nmcli --get-values GENERAL.STATE device show eno1 | grep '^20 '", ATTEMPT)?;
        // The first attempt, long before the end of `wait.uplink`.
        bridge_attempt(&inside)?.exits(0);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn two_default_routes_of_one_metric() -> Result<(), Error> {
    let metric = DAY_ONE.replace("dns=", "route-metric=100\ndns=");
    two_cards(&metric, &of_second(&metric)).run(&Peer::new(), |case| {
        let inside = booted(case)?;
        inside.wait_sh("[ $(ip route show default metric 100 | wc -l) = 2 ]", SOON)?;
        let first = inside.sh("ip route show default | head -n 1 | grep -o 'eno[12]'")?;
        let address: IpAddr = match first.as_str() {
            "eno1" => [192, 0, 2, 10],
            _ => [192, 0, 2, 11],
        }
        .into();
        bridge_attempt(&inside)?.exits(0).says(&format!("br-ex on {first}"));
        let on_bridge = inside.sh("ip -4 -oneline address show dev br-ex")?;
        assert!(on_bridge.contains(&address.to_string()), "{on_bridge}");
        assert!(case.peer().pings(address, SOON)?);
        Ok(())
    })
}

/// A script of a site, which registers an address for long, begins again with each activation of the uplink: NetworkManager calls
/// an activation over when the scripts of every device before it have ended.
const SLOW: &str = "#!/bin/sh\n[ \"$1 $2\" != \"eno1 up\" ] || sleep 60\n";

#[tests::case]
fn a_slow_script_of_the_dispatcher_rolls_no_bridge_back() -> Result<(), Error> {
    let settings = HASTE.replace("[timeout]\n", "[timeout]\napply = 30\n") + USERSPACE;
    let node = gated(automatic(Node::new("worker-0").nic(Nic::new("eno1", MAC))))
        .day_one()
        .settings(&settings)
        .file("/etc/NetworkManager/dispatcher.d/50-site", SLOW, 0o755)
        .file("/etc/NetworkManager/dispatcher.d/pre-up.d/10-site", "#!/bin/sh\n", 0o755);
    node.run(&Peer::new(), |case| {
        let inside = booted(case)?;
        bridge_attempt(&inside)?.exits(0);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}
