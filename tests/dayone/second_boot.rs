//! A boot with the document already in force.

#![allow(clippy::print_stdout, reason = "a measure for whoever reads the run")]

use std::net::Ipv4Addr;

use super::hung::{deactivation_without_an_end_is_ended, interface_that_hangs_is_activated};
use tests::{
    dayone::{
        ADDRESS, APPLIED, ATTEMPT, Document, HOST_FILE, MAC, Mark, SOON, attempt,
        crash_open_vswitch, day_one_dhcp, kubelet_ran, mark, outcome, ovn, ready_after_network,
        started, try_document, unwrapped, worker,
    },
    lab::{Case, Error, Fault, Inside, Nic, Node, Peer},
    program,
};

const DAY_TWO: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 77);
const CHANGED: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 11);

#[tests::case]
fn nothing_is_done_twice_and_a_change_is_done() -> Result<(), Error> {
    node().bind(program::nmstate_apply(), "/usr/local/bin/nmstate-apply").run(&Peer::new(), |case| {
        let inside = in_force(case)?;
        day_two(&inside)?;
        // Without a bus every D-Bus call fails.
        has_another_card(&inside)?;
        // An upgrade of the operating system: another deployment, to which OSTree has copied what is changed in /etc.
        inside.sh(
            "for it in nmstate NetworkManager; do cp -a /etc/$it /etc/$it.new; rm -r /etc/$it; mv /etc/$it.new /etc/$it; done; \
             echo OSTREE_VERSION=next >>/usr/lib/os-release",
        )?;
        let no_bus = "[Service]\nInaccessiblePaths=/run/dbus\n";
        inside.write("/etc/systemd/system/dayone.service.d/no-bus.conf", no_bus)?;
        let inside = case.reboot()?;
        outcome(&inside, None)?.exits(0).says("in force already, nothing to do");
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert!(case.peer().pings(DAY_TWO, SOON)?, "the day-2 change is gone");
        policy_is_there(&inside)?;
        inside.wait_sh("! grep 00:99 /var/lib/dayone/record.json", SOON)?;
        let status = unwrapped(&inside.run(&["dayone", "status"])?.stdout);
        assert!(status.contains("the recorded network card is gone (with MAC 52:54:00:00:00:99)"), "{status}");

        // Control: a command that uses D-Bus fails.
        let no_bus = "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent dayone";
        assert!(!inside.run(&["sh", "-c", &format!("{no_bus} diff")])?.status.success());
        inside.sh(&format!("{no_bus} apply"))?;

        inside.sh("rm -r /etc/systemd/system/dayone.service.d; systemctl daemon-reload")?;
        // An alternative name, for which nmstate writes the file in which the operator has pinned the card's name.
        let renamed = "state: up\n  alt-names:\n  - name: lan0\n  ipv4:\n    enabled: false";
        let changed = Document::new().with("192.0.2.10", "192.0.2.11").text();
        let changed = changed.replacen("state: up\n  ipv4:\n    enabled: false", renamed, 1);
        let pin = "[Match]\nMACAddress=52:54:00:00:00:01\n[Link]\nName=eno1\n";
        inside.write(PIN, pin)?;
        try_document(&inside, &changed)?.exits(0).says("the network is in force");
        assert!(case.peer().pings(CHANGED, SOON)?);
        assert_eq!(inside.sh("ip address show dev br-ex | grep -c 192.0.2.10/ || :")?, "0");
        assert_eq!(inside.read(APPLIED)?, Some(changed));
        let is_pinned = || inside.sh(&format!("grep -x Name=eno1 {PIN}"));
        is_pinned()?;
        inside.sh(&format!("grep AlternativeName=lan0 {PIN}"))?;

        // A bus that dies takes NetworkManager along: systemd stops it, and starts only the bus again.
        let unnamed = renamed.replace("lan0", "lan0\n    state: absent");
        let last = Document::new().text();
        inside.write(HOST_FILE, &last.replacen("state: up\n  ipv4:\n    enabled: false", &unnamed, 1))?;
        inside.sh("systemctl stop NetworkManager.service; dayone apply")?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        // nmstate removes the file with its last alternative name.
        is_pinned()?;
        Ok(())
    })
}

/// The file that nmstate's apply and `nmstatectl persist-nic-names` share.
const PIN: &str = "/etc/systemd/network/98-nmstate-eno1.link";

/// A policy of the cluster, as kubernetes-nmstate's handler applies it: it changes br-ex, its port and its bridge.
const POLICY: &str = "\
interfaces:
- name: eno1
  type: ethernet
  state: up
  lldp:
    enabled: true
- name: br-ex
  type: ovs-bridge
  state: up
  bridge:
    allow-extra-patch-ports: true
    options:
      datapath: netdev
      mcast-snooping-enable: true
    port:
    - name: eno1
    - name: br-ex
- name: br-ex
  type: ovs-interface
  state: up
  ipv4:
    enabled: true
    dhcp: false
    address:
    - ip: 192.0.2.10
      prefix-length: 24
    - ip: 192.0.2.77
      prefix-length: 24
routes:
  config:
  - destination: 198.51.100.128/25
    next-hop-address: 192.0.2.1
    next-hop-interface: br-ex
";

fn day_two(inside: &Inside) -> Result<(), Error> {
    inside.write("/root/policy.yml", POLICY)?;
    inside.sh("nmstate-apply </root/policy.yml")?;
    policy_is_there(inside)
}

fn policy_is_there(inside: &Inside) -> Result<(), Error> {
    inside.sh("ip route show 198.51.100.128/25 dev br-ex | grep via")?;
    inside.sh("ip address show dev br-ex | grep 192.0.2.77/24")?;
    inside.sh("test $(ovs-vsctl get bridge br-ex mcast_snooping_enable) = true")?;
    inside.sh("nmcli --get-values connection.lldp connection show eno1 | grep -e enable -e ^1")?;
    Ok(())
}

/// Its network works with a card of another address, as after a repair: the record's is gone.
fn has_another_card(inside: &Inside) -> Result<(), Error> {
    let path = "/var/lib/dayone/record.json";
    let record = inside.read(path)?.unwrap_or_default();
    let mut record: serde_json::Value = serde_json::from_str(&record).unwrap_or_default();
    let cards = &mut record["committed"]["uplinks"]["cards"];
    assert!(cards.is_array(), "{cards}");
    *cards = serde_json::json!([{ "mac": "52:54:00:00:00:99" }]);
    inside.write(path, &record.to_string())
}

/// Settings for a quick repair.
const HURRY: &str = "[wait]\nnetwork = 5\n[timeout]\nverify = 15\n";

/// A node with a document.
fn node() -> Node {
    worker().day_one().document(&Document::new().text())
}

/// Boots, and puts the document in force.
fn in_force(case: &mut Case<'_>) -> Result<Inside, Error> {
    let inside = case.boots(0)?;
    Ok(inside)
}

/// Checks that kubelet runs, the node answers, and the agent's message contains `says`.
fn came_back(case: &Case<'_>, says: &str) -> Result<Inside, Error> {
    came_back_after(case, None, says)
}

fn came_back_after(case: &Case<'_>, mark: Option<&Mark>, says: &str) -> Result<Inside, Error> {
    let inside = case.inside()?;
    outcome(&inside, mark)?.exits(0).says(says);
    inside.wait_unit("kubelet.service", "active", SOON)?;
    let seen = inside.read("/run/lab-kubelet/routes")?.unwrap_or_default();
    assert!(seen.contains("\"default\""), "kubelet started on {seen}");
    assert!(case.peer().pings(ADDRESS, SOON)?);
    Ok(inside)
}

/// Checks that the agent waits for the network, and that it repairs it.
fn waits_and_repairs(case: &Case<'_>, says: &str) -> Result<Inside, Error> {
    has_waited(&case.inside()?, "[0-9]+")?;
    repairs(case, says)
}

/// Has the agent wait no longer than `HURRY` says.
fn repairs(case: &Case<'_>, says: &str) -> Result<Inside, Error> {
    let mark = restart(&case.inside()?)?;
    came_back_after(case, Some(&mark), says)
}

fn restart(inside: &Inside) -> Result<Mark, Error> {
    inside.write("/etc/dayone/dayone.toml", HURRY)?;
    inside.sh("systemctl stop dayone.service")?;
    let mark = mark(inside)?;
    inside.sh("systemctl start --no-block dayone.service")?;
    Ok(mark)
}

#[tests::case]
fn profile_that_does_not_come_up_is_activated() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        in_force(case)?.sh(
            "nmcli connection modify br-ex-if +ipv4.addresses 192.0.2.77/24 connection.autoconnect no; \
             for upper in br-ex-br br-ex-port; do nmcli connection modify $upper connection.autoconnect-slaves 0; done",
        )?;
        case.restart()?;
        let inside = waits_and_repairs(case, "in force already")?;
        let status = inside.run(&["dayone", "status"])?;
        let text = unwrapped(&status.stdout);
        assert!(text.contains("activated the document's profiles"), "{status}");
        assert!(text.contains("its profiles were activated again"), "{status}");
        assert!(!text.contains("nothing done"), "{status}");
        assert!(case.peer().pings(DAY_TWO, SOON)?, "the day-2 change is gone");
        // To NetworkManager a port of br-ex that is down is active.
        inside.sh("ip link set eno1 down")?;
        repairs(case, "in force already")?;
        Ok(())
    })
}

/// A card of a storage network of the document's, with a default route.
const SECOND_UPLINK: &str = "\
interfaces:
- name: eno3
  type: ethernet
  state: up
  ipv4:
    enabled: true
    dhcp: false
    address:
    - ip: 192.0.2.60
      prefix-length: 24
  ipv6:
    enabled: false
";
const SECOND_ROUTE: &str = "\
routes:
  config:
  - destination: 0.0.0.0/0
    next-hop-address: 192.0.2.1
    next-hop-interface: eno3
    metric: 901
";

/// A card of another's network, whose gateway answers too.
const STORAGE: &str = "\
[connection]
id=storage
type=ethernet
interface-name=eno2
[ipv4]
method=manual
address1=192.0.2.50/24
gateway=192.0.2.1
route-metric=900
[ipv6]
method=disabled
";

#[tests::case]
fn lost_profile_is_made_again_whatever_another_cards_gateway_answers() -> Result<(), Error> {
    let storage = Nic::new("eno2", "52:54:00:00:00:02");
    let second = Nic::new("eno3", "52:54:00:00:00:03");
    let document = Document::new().with("routes:\n  config:\n", SECOND_ROUTE).text();
    let document = document.replacen("interfaces:\n", SECOND_UPLINK, 1);
    let node = worker().day_one().document(&document);
    node.nic(storage).nic(second).keyfile("eno2", STORAGE).run(&Peer::new(), |case| {
        in_force(case)?
            .sh("rm /etc/NetworkManager/system-connections/br-ex-if.nmconnection; sync")?;
        case.restart()?;
        let inside = waits_and_repairs(case, "the network is in force")?;
        is_applied_again(&inside)?;
        // br-ex has its address and its route without its uplink.
        inside.sh("rm /etc/NetworkManager/system-connections/eno1.nmconnection; sync")?;
        case.restart()?;
        let inside = came_back(case, "the network is in force")?;
        assert!(inside.sh("ip route")?.contains("default via 192.0.2.1 dev eno2"));
        is_applied_again(&inside)
    })
}

fn is_applied_again(inside: &Inside) -> Result<(), Error> {
    inside.run(&["dayone", "status"])?.exits(0).says_wrapped("applying the document again");
    Ok(())
}

/// With all profiles there, it is no fault of the node's network.
#[tests::case]
fn gateway_that_is_silent_lets_the_boot_go_on() -> Result<(), Error> {
    node().settings(HURRY).run(&Peer::new(), |case| {
        in_force(case)?;
        case.shut_down()?;
        case.peer_mut().fault(Fault::IgnoreNeighbours, true)?;
        case.peer_mut().fault(Fault::DropPing, true)?;
        let inside = case.boot()?;
        outcome(&inside, None)?.exits(0).says("in force already");
        inside.wait_unit("kubelet.service", "active", SOON)?;
        let status = unwrapped(&inside.run(&["dayone", "status"])?.stdout);
        assert!(status.contains("no gateway answers"), "{status}");
        case.peer_mut().fault(Fault::IgnoreNeighbours, false)?;
        case.peer_mut().fault(Fault::DropPing, false)?;
        an_address_that_another_machine_has_is_none(case)
    })
}

/// The gateway answers on br-ex all the same. The address comes back with nobody's help.
fn an_address_that_another_machine_has_is_none(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    // NetworkManager may never end the activation that a roll back finds.
    let haste = "[wait]\nlink = 1\nnetwork = 1\n[timeout]\nbaseline = 1\nverify = 2\nprobe = 1\nroll-back = 5\n";
    inside.write("/etc/dayone/dayone.toml", haste)?;
    case.peer().address("lan", ADDRESS.into(), 32, true)?;
    inside.sh("nmcli --wait 0 connection up br-ex-if")?;
    inside.wait_sh("! ip -4 -oneline address show dev br-ex | grep 192.0.2.10", SOON)?;
    started(&inside)?.exits(3);
    let status = inside.run(&["dayone", "status"])?.exits(3);
    assert!(status.stdout.starts_with("WAITING: "), "{status}");
    assert_eq!(inside.unit("kubelet.service")?.active_state, "inactive");
    case.peer().address("lan", ADDRESS.into(), 32, false)?;
    inside.wait_unit("kubelet.service", "active", ATTEMPT)?;
    assert!(case.peer().pings(ADDRESS, SOON)?);
    Ok(())
}

/// After a crash of ovs-vswitchd NetworkManager 1.52 keeps bridge, ports and interface as active without a link.
#[tests::case]
fn bridge_that_somebody_deletes_is_made_again() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let inside = in_force(case)?;
        ovn(&inside)?;
        crash_open_vswitch(&inside)?;
        inside.sh("ovs-vsctl del-br br-ex")?;
        let inside = repairs(case, "in force already")?;
        assert_eq!(inside.sh("ovs-vsctl list-br")?, "br-ex\nbr-int");
        Ok(())
    })
}

/// A stand-in for a crash of ovs-vswitchd in a userspace datapath: its tap devices are persistent, and the next ovs-vswitchd
/// knows only those of bridges that are still in the database.
#[tests::case]
fn link_that_a_deleted_bridge_leaves_is_removed() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let inside = in_force(case)?;
        ovn(&inside)?;
        inside.sh("kill -STOP $(pidof ovs-vswitchd); ovs-vsctl --no-wait del-br br-ex")?;
        crash_open_vswitch(&inside)?;
        inside.sh("ip link show dev br-ex")?;
        let inside = repairs(case, "in force already")?;
        assert_eq!(inside.sh("ovs-vsctl list-br")?, "br-ex\nbr-int");

        // A database that is repaired in a boot may get the bridge without its card, and NetworkManager shows all as up.
        crash_open_vswitch(&inside)?;
        inside.sh("ovs-vsctl del-port br-ex eno1")?;
        let inside = repairs(case, "")?;
        assert!(inside.sh("ovs-vsctl list-ports br-ex")?.contains("eno1"));
        Ok(())
    })
}

/// NetworkManager waits for it to take the link of br-ex away: address and route stay.
#[tests::case]
fn open_vswitch_that_hangs_is_no_network() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let inside = in_force(case)?;
        inside.sh("kill -STOP $(pidof ovs-vswitchd); nmcli --wait 0 connection down br-ex-if")?;
        let mark = restart(&inside)?;
        inside.wait_sh(
            "journalctl --unit dayone.service | grep 'applying the document again'",
            6 * SOON,
        )?;
        inside.sh("kill -CONT $(pidof ovs-vswitchd)")?;
        came_back_after(case, Some(&mark), "the network is in force")?;
        Ok(())
    })
}

#[tests::case]
fn bridge_row_of_another_profile_is_no_network() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        in_force(case)?.sh("ovs-vsctl set bridge br-ex \
             external_ids:NM.connection.uuid=0b6ba3d2-3ae1-4b37-8d5e-000000000001; sync")?;
        case.cut_power()?;
        case.power_on()?;
        // Which of the two bridges NetworkManager's interface joins is a race: the network may be there.
        let inside = if waits(&case.inside()?, "[0-9]+")? {
            repairs(case, "in force")?
        } else {
            came_back(case, "in force already")?
        };
        assert_eq!(inside.sh("ovs-vsctl list-br")?, "br-ex");
        Ok(())
    })
}

/// Returns when the agent is READY (false), or has waited this long for its network, by its own count (true).
fn waits(inside: &Inside, seconds: &str) -> Result<bool, Error> {
    let said = format!(
        "if systemctl is-active --quiet dayone.service; then echo READY; else \
         systemctl show --property=StatusText dayone.service \
         | grep -E 'waiting for (an IPv4 address with a default route|link .*) \\(({seconds}) s of 60\\)'; fi"
    );
    Ok(inside.wait_sh(&said, 6 * SOON)? != "READY")
}

/// Waits until the agent has waited this long. Until then nothing may take the node for usable.
fn has_waited(inside: &Inside, seconds: &str) -> Result<(), Error> {
    assert!(waits(inside, seconds)?, "the agent lets the boot go on without a network");
    assert_ne!(inside.unit("kubelet.service")?.active_state, "active");
    Ok(())
}

#[tests::case]
fn card_that_comes_30_s_late_is_waited_for() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        in_force(case)?;
        case.shut_down()?;
        case.unplug("eno1");
        has_waited(&case.power_on()?, "3[0-9]")?;
        case.plug(Nic::new("eno1", MAC))?;
        let inside = came_back(case, "in force already")?;
        let status = inside.run(&["dayone", "status"])?;
        assert!(!unwrapped(&status.stdout).contains("did not return"), "{status}");
        waits_for_the_name_of_its_document(case)
    })
}

/// The card has another name, as a port of SR-IOV after a change of slot or firmware: a document that knows it by its name has no
/// network, and says which cards there are.
fn waits_for_the_name_of_its_document(case: &mut Case<'_>) -> Result<(), Error> {
    let haste = "[wait]\nlink = 1\nnetwork = 1\n[timeout]\nbaseline = 1\nverify = 2\nprobe = 1\n";
    case.inside()?.write("/etc/dayone/dayone.toml", haste)?;
    case.shut_down()?;
    case.unplug("eno1");
    case.plug(Nic::new("enp9s0", MAC))?;
    let inside = case.power_on()?;
    // Between two attempts; a later question may meet the next one.
    let pause = "dayone status | tr '\\n' ' ' | grep 'the next attempt'";
    let text = unwrapped(&inside.wait_sh(pause, ATTEMPT)?);
    inside.run(&["dayone", "status"])?.exits(3);
    let cards = format!("waiting for link eno1 (cards here: enp9s0 with MAC {MAC})");
    assert!(text.starts_with("WAITING: ") && text.contains(&cards), "{text}");
    assert!(!kubelet_ran(&inside)?);
    case.unplug("enp9s0");
    case.plug(Nic::new("eno1", MAC))?;
    inside.wait_unit("kubelet.service", "active", ATTEMPT)?;
    assert!(case.peer().pings(ADDRESS, SOON)?);
    finds_the_address_of_its_document(case)
}

/// A document that knows the card by its address has its network whatever the name is.
fn finds_the_address_of_its_document(case: &mut Case<'_>) -> Result<(), Error> {
    let document = Document::new().by_address(MAC);
    let inside = case.inside()?;
    inside.write(HOST_FILE, &document)?;
    inside.write("/etc/dayone/dayone.toml", HURRY)?;
    attempt(&inside)?.exits(0);
    case.shut_down()?;
    case.unplug("eno1");
    case.plug(Nic::new("enp9s0", MAC))?;
    case.boot()?;
    let inside = came_back(case, "in force")?;
    inside.run(&["dayone", "status"])?.exits(0);
    // The port keeps its name.
    let interfaces = inside.sh("ovs-vsctl list-ports br-ex; ovs-vsctl list-ifaces br-ex")?;
    assert_eq!(interfaces, "eno1\nenp9s0");
    Ok(())
}

/// A node whose document gets its address by DHCP.
fn with_dhcp() -> Node {
    let mut document = Document::new();
    document.ip =
        "  ipv4:\n    enabled: true\n    dhcp: true\n  ipv6:\n    enabled: false\n".into();
    document.rest.clear();
    worker().keyfile("eno1", &day_one_dhcp()).document(&document.text())
}

#[tests::case]
fn dhcp_server_is_waited_for_on_br_ex() -> Result<(), Error> {
    with_dhcp().run(&Peer::new().dhcp(), |case| {
        in_force(case)?;
        case.shut_down()?;
        case.peer_mut().fault(Fault::DropDhcp, true)?;
        has_waited(&case.power_on()?, "4[0-9]")?;
        case.peer_mut().fault(Fault::DropDhcp, false)?;
        let inside = case.inside()?;
        outcome(&inside, None)?.exits(0).says("in force already");
        inside.wait_unit("kubelet.service", "active", SOON)?;
        let seen = inside.read("/run/lab-kubelet/routes")?.unwrap_or_default();
        assert!(seen.contains("\"default\""), "kubelet started on {seen}");
        // NetworkManager makes a profile of its own for a card without one, whose lease is not the document's network.
        let haste = "[wait]\nnetwork = 2\ndevice-settled = 1\n[timeout]\nverify = 8\n";
        inside.write("/etc/dayone/dayone.toml", haste)?;
        inside.sh("rm /etc/NetworkManager/system-connections/eno1.nmconnection; sync")?;
        let inside = case.restart()?;
        outcome(&inside, None)?.says("the network is in force");
        is_applied_again(&inside)?;
        inside.wait_unit("kubelet.service", "active", SOON)?;
        let seen = inside.read("/run/lab-kubelet/routes")?.unwrap_or_default();
        assert!(seen.contains("\"br-ex\""), "kubelet started on {seen}");
        Ok(())
    })
}

/// A site after a loss of power: the server comes back after the last attempt that another document would have. The uplink's
/// profile is lost meanwhile, so that the node learns nothing of the server's return, and a proof alone would never end well.
#[tests::case]
fn dhcp_server_that_is_away_for_all_attempts_holds_nobody_for_good() -> Result<(), Error> {
    with_dhcp().run(&Peer::new().dhcp(), |case| {
        // NetworkManager's DHCP client repeats a lost question after two seconds.
        let haste = "max-attempts = 1\n[wait]\nlink = 1\nnetwork = 1\ndevice-settled = 1\n\
                     [timeout]\nbaseline = 1\nverify = 4\nprobe = 1\nroll-back = 5\n";
        let inside = in_force(case)?;
        inside.write("/etc/dayone/dayone.toml", haste)?;
        inside.sh("rm /etc/NetworkManager/system-connections/eno1.nmconnection; sync")?;
        case.shut_down()?;
        case.peer_mut().fault(Fault::DropDhcp, true)?;
        let inside = case.power_on()?;
        // One transaction an attempt: the last good document, to which a failure returns, is the same.
        let opened = "journalctl --boot --identifier=dayone | grep --count 'opening the journal'";
        inside.wait_sh(&format!("test $({opened}) -ge 3"), 2 * ATTEMPT)?;
        let failed = inside.sh(
            "journalctl --boot --identifier=dayone | grep --count 'the next attempt is in' || :",
        )?;
        assert!(matches!(&*failed, "2" | "3"), "{failed}");
        let status = inside.run(&["dayone", "status"])?.exits(3);
        assert!(!unwrapped(&status.stdout).contains("not tried again"), "{status}");
        assert!(!kubelet_ran(&inside)?);
        let mark = mark(&inside)?;
        case.peer_mut().fault(Fault::DropDhcp, false)?;
        // In an attempt, before one, or between a roll back and the proof of the last good document, which is the same one.
        let ends = ["the network is in force", "in force already"];
        let ended = inside.wait_journal(&mark.entries(), 2 * ATTEMPT, |entry| {
            ends.iter().any(|says| entry.message().starts_with(says))
        })?;
        inside.wait_unit("kubelet.service", "active", SOON)?;
        let status = inside.run(&["dayone", "status"])?;
        let page = unwrapped(&status.stdout);
        // Only an attempt makes the lost profile again: the network works without it, until the next activation.
        match ended.message().starts_with("the network is in force") {
            true => {
                assert_eq!(status.status.code(), Some(0), "{status}");
                assert!(page.starts_with("IN FORCE: "), "{status}");
            }
            false => {
                assert_eq!(status.status.code(), Some(3), "{status}");
                assert!(
                    page.starts_with("DRIFTED: ") && page.contains("eno1 (ethernet)"),
                    "{status}"
                );
            }
        }
        assert!(!page.contains(" failures: "), "{status}");
        Ok(())
    })
}

#[tests::case]
fn open_vswitch_that_comes_20_s_late_is_waited_for() -> Result<(), Error> {
    let units = "openvswitch-switch.service ovs-vswitchd.service ovsdb-server.service";
    node().run(&Peer::new(), |case| {
        let inside = in_force(case)?;
        inside.sh(&format!("systemctl mask {units}"))?;
        case.shut_down()?;
        let inside = case.power_on()?;
        has_waited(&inside, "2[0-9]")?;
        inside
            .sh(&format!("systemctl unmask {units}; systemctl start openvswitch-switch.service"))?;
        came_back(case, "in force already")?;
        Ok(())
    })
}

/// By the event alone: how soon is a figure of the benchmark `dayone-apply`, which a busy host would falsify here.
#[tests::case]
fn ready_comes_with_the_kernels_event() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let inside = in_force(case)?;
        let ready = ready_after_network(&inside)?;
        println!("READY: {ready:.1?}");
        inside.run(&["dayone", "status"])?.exits(0);
        deactivation_without_an_end_is_ended(case)?;
        interface_that_hangs_is_activated(case)
    })
}
