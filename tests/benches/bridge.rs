//! br-ex without a document, from exec to READY, against NetworkManager's own floor with the same profiles: with a static
//! address and with DHCP. All take turns, with `OLDER_DAYONE=` an older agent too. Prints ratios, and asserts them on a host
//! that is not too noisy.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people to read")]

use std::time::Duration;

use tests::{
    dayone::{
        ALTERNATIVE, BRIDGE_PROFILES, DAY_ONE, MAC, SOON, bridge_outcome, day_one_dhcp, mark,
        with_bridge, with_programs,
    },
    lab::{Case, Error, Inside, Lab, Nic, Node, Peer},
    measure::{by_turns, noise},
    program, skip,
};

/// Number of runs; the median counts.
const RUNS: usize = 9;
/// The bound, as a share of NetworkManager's own time.
const FLOOR: f64 = 1.35;
const VOLATILE: &str = "/run/NetworkManager/system-connections";

fn main() {
    if skip::is_lab_off() {
        return;
    }
    let lab = Lab::open().unwrap();
    let dayone = program::dayone_of_node();
    let older = program::older_dayone();
    for (name, profile, aim) in [("static", DAY_ONE.to_owned(), 450), ("DHCP", day_one_dhcp(), 600)]
    {
        let node = Node::new("worker-0").nic(Nic::new("eno1", MAC));
        let node = with_programs(node, [&dayone, older.unwrap_or(&dayone)]);
        let node = with_bridge(node).keyfile("eno1", &profile);
        let measured = |case: &mut Case<'_>| measure(case, name, aim, older.is_some());
        lab.run(node, &Peer::new().dhcp(), measured).unwrap();
    }
}

fn measure(case: &mut Case<'_>, name: &str, aim: u32, has_older: bool) -> Result<(), Error> {
    let inside = case.boot()?;
    inside.sh("systemctl stop kubelet.service")?;
    // NetworkManager's floor uses the profiles of this run.
    agent(&inside, THIS)?;
    let ids = BRIDGE_PROFILES.replace('\n', " ");
    inside.sh(&format!(
        "rm -rf /root/profiles; mkdir /root/profiles; \
         for id in {ids}; do cp -a {VOLATILE}/$id.nmconnection /root/profiles/; done"
    ))?;
    let mut older = || match has_older {
        true => agent(&inside, OLDER),
        false => Ok(Duration::ZERO),
    };
    let (mut this, mut floor) = (|| agent(&inside, THIS), || floor(&inside));
    let [agent, floor, older] = by_turns(RUNS, [&mut this, &mut floor, &mut older])?;
    println!("br-ex without a document, {name}, medians of {RUNS} runs by turns in one container");
    println!("NetworkManager's floor (reload to address)    {floor}");
    println!("dayone (exec to READY, probes included)       {agent} (at most {aim} ms)");
    let ratio = agent.over(&floor);
    println!("dayone / floor    {ratio:.2} (at most {FLOOR})");
    if has_older {
        println!("the older dayone                              {older}");
        println!("dayone / older    {:.2}", agent.over(&older));
    }
    match noise(&floor) {
        Some(noise) => println!("{noise}"),
        None => assert!(ratio <= FLOOR, "{name}: {ratio:.2} times the floor"),
    }
    Ok(())
}

/// The two builds of [`with_programs`].
const THIS: &str = "first";
const OLDER: &str = "second";

/// Resets the node to day one: the card has the address, and there is no bridge. Of two profiles named br-ex, the one that
/// NetworkManager has for the datapath's device goes with that device, and its removal by name fails then.
fn reset(inside: &Inside) -> Result<(), Error> {
    let ids = BRIDGE_PROFILES.replace('\n', " ");
    inside.sh(&format!(
        "systemctl stop dayone-bridge.service; nmcli connection delete id {ids} >/dev/null 2>&1 || true; \
         rm -rf /run/dayone/bridge.json /run/configure-ovs-boot-done /var/lib/ovnk/*; \
         nmcli --wait 20 connection up eno1 >/dev/null"
    ))?;
    inside.wait_sh("! ovs-vsctl br-exists br-ex && ! ip link show br-ex 2>/dev/null", SOON)?;
    inside.wait_sh("ping -n -q -c1 -W1 192.0.2.1", SOON)?;
    Ok(())
}

/// From exec to READY, as systemd saw them.
fn agent(inside: &Inside, program: &str) -> Result<Duration, Error> {
    reset(inside)?;
    inside.sh(&format!("ln --symbolic --force /usr/lib/dayone/{program} {ALTERNATIVE}"))?;
    let mark = mark(inside)?;
    inside.sh("systemctl start dayone-bridge.service")?;
    bridge_outcome(inside, Some(&mark))?.exits(0);
    let unit = inside.unit("dayone-bridge.service")?;
    Ok(unit.active_enter.unwrap() - unit.exec_start.unwrap())
}

/// From `nmcli connection reload` to an address on br-ex, with the same profiles in place, in configure-ovs.sh's order: the
/// uplink is a port of the bridge before an address is asked for on it. The other way round a DHCPDISCOVER can leave while
/// the bridge has no way out.
fn floor(inside: &Inside) -> Result<Duration, Error> {
    reset(inside)?;
    let text = inside.sh(&format!(
        "cp -a /root/profiles/. {VOLATILE}/; a=$(date +%s%N); nmcli connection reload; \
         nmcli --wait 20 connection up ovs-if-phys0 >/dev/null; nmcli --wait 0 connection up ovs-if-br-ex; \
         until ip -4 -oneline address show dev br-ex 2>/dev/null | grep -q 192.0.2; do :; done; \
         b=$(date +%s%N); echo $((b - a))"
    ))?;
    Ok(Duration::from_nanos(text.lines().last().unwrap_or_default().parse().unwrap()))
}
