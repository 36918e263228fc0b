//! Static br-ex from exec to READY, against NetworkManager's own floor and against nmstate's `apply()` with its own
//! verification; the same with every probe of the wire; the processor's time of an apply; and a second boot, from the kernel's
//! network to READY. All take turns, with `OLDER_DAYONE=` an older agent too. Prints ratios; asserts the size of the program,
//! its memory, what the probes of the wire add, and on a host that is not too noisy the ratios to the peers.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people to read")]

use std::time::Duration;

use tests::{
    dayone::{
        ALTERNATIVE, DAY_ONE, Document, SOON, mark, outcome, ready_after_network, with_programs,
    },
    lab::{Case, Inside, Lab, Nic, Node, Peer},
    measure::{self, by_turns, noise},
    program, skip,
};

/// Number of runs; the median counts.
const RUNS: usize = 9;
/// The program's bound in bytes, since it goes onto every node's image: two thirds of nmstatectl, which it replaces there. A growth
/// beyond it has to be looked at.
const SIZE: u64 = 9_000_000;
/// The bound of an apply's memory, in bytes.
const MEMORY: u64 = 20 << 20;
/// The bound of a static br-ex, as a share of NetworkManager's own time, with busy processors too: 1.24 to 1.38 on one machine of
/// two processors, 1.36 to 1.56 on one with slower ones.
const FLOOR: f64 = 1.6;
/// Its bound as a share of the time of nmstate's apply with its own verification: 0.31 to 0.34 on the slower one.
const NMSTATE: f64 = 0.36;
/// The bound of what every probe of the wire adds to an apply where the wire is good, in seconds.
const WIRE: f64 = 0.5;
/// Every probe of the wire, before the change and after it.
const ALL_PROBES: &str = "\
[probe]
bond = \"if-it-worked-before\"
lacp = \"if-it-worked-before\"
vlan = \"if-it-worked-before\"
mtu = \"if-it-worked-before\"
duplicate = \"if-it-worked-before\"
lldp = \"if-it-worked-before\"
";
const SETTINGS: &str = "/etc/dayone/dayone.toml";
const PROFILES: &str = "/etc/NetworkManager/system-connections";
const HOST_FILE: &str = tests::dayone::HOST_FILE;

fn main() {
    if skip::is_lab_off() {
        return;
    }
    let lab = Lab::open().unwrap();
    let (dayone, nmstate) = (program::dayone_of_node(), program::nmstate_apply_of_node());
    let size = std::fs::metadata(&dayone).unwrap().len();
    println!(
        "size of the program  {:>6.2} MB (at most {:.1})",
        size as f64 / 1e6,
        SIZE as f64 / 1e6
    );
    assert!(size <= SIZE, "{} has {size} bytes", dayone.display());
    let node = Node::new("worker-0").nic(Nic::new("eno1", tests::dayone::MAC));
    let older = program::older_dayone();
    let node = with_programs(node, [&dayone, older.unwrap_or(&dayone)])
        .day_one()
        .bind(nmstate, "/usr/local/bin/nmstate-apply");
    lab.run(node, &Peer::new(), |case| measure(case, older.is_some())).unwrap();
}

fn measure(case: &mut Case<'_>, has_older: bool) -> Result<(), tests::lab::Error> {
    let inside = case.boot()?;
    // A document written by hand starts these units: at boot, nothing runs beside the agent.
    inside.sh("systemctl stop kubelet.service dayone-pending.path dayone-health.path")?;
    let document = Document::new().text();
    inside.write("/root/document.yml", &document)?;

    // NetworkManager's floor uses the profiles of this run.
    agent(&inside, &document, THIS)?;
    println!("phases of one run, in ms: {}", phases(&inside)?);
    inside.sh(&format!("rm -rf /root/profiles; cp -a {PROFILES} /root/profiles"))?;
    let memory = memory(&inside, &document)?;
    println!("peak memory          {:>6.2} MiB (at most 20)", memory as f64 / f64::from(1 << 20));
    assert!(memory <= MEMORY, "an apply takes {memory} bytes");

    let mut this = || agent(&inside, &document, THIS);
    let mut floor = || self::floor(&inside);
    let mut nmstate = || self::nmstate(&inside);
    let mut older = || match has_older {
        true => agent(&inside, &document, OLDER),
        false => Ok(Duration::ZERO),
    };
    let mut wire = || with_all_probes(&inside, &document);
    let [this, floor, nmstate, older, wire] =
        by_turns(RUNS, [&mut this, &mut floor, &mut nmstate, &mut older, &mut wire])?;
    println!("static br-ex on one card, medians of {RUNS} runs by turns in one container");
    println!("NetworkManager's floor (reload to address)    {floor}");
    println!("dayone (exec to READY, probes included)       {this}");
    println!("nmstate's apply() with its own verification   {nmstate}");
    let ratios = [("floor", this.over(&floor), FLOOR), ("nmstate", this.over(&nmstate), NMSTATE)];
    for (peer, ratio, bound) in ratios {
        println!("dayone / {peer:<8} {ratio:.2} (at most {bound})");
    }
    if has_older {
        println!("the older dayone                              {older}");
        println!("dayone / older    {:.2}", this.over(&older));
    }
    let more = wire.more_than(&this);
    println!("dayone with every probe of the wire           {wire}");
    println!("the probes of the wire add  {more:.3} s (at most {WIRE})");
    assert!(more <= WIRE, "the probes of the wire add {more:.3} s");
    match noise(&floor) {
        Some(noise) => println!("{noise}"),
        None => assert!(ratios.iter().all(|(_, ratio, bound)| ratio <= bound), "{ratios:?}"),
    }

    // A busy host makes the times longer, and this one hardly.
    let mut this = || processor(&inside, &document, THIS);
    let mut older = || match has_older {
        true => processor(&inside, &document, OLDER),
        false => Ok(Duration::ZERO),
    };
    let [this, older] = by_turns(RUNS, [&mut this, &mut older])?;
    println!("the processor's time of an apply              {this}");
    if has_older {
        println!("the older dayone                              {older}");
        println!("dayone / older    {:.2}", this.over(&older));
    }

    // In force, for the measurement of a second boot.
    agent(&inside, &document, THIS)?;
    let mut this = || second_boot(&inside, THIS);
    let mut older = || if has_older { second_boot(&inside, OLDER) } else { Ok(Duration::ZERO) };
    let [this, older] = by_turns(RUNS, [&mut this, &mut older])?;
    println!("second boot: netlink's event to READY         {this} (at most 20 ms)");
    if has_older {
        println!("the older dayone                              {older}");
    }
    Ok(())
}

/// The two builds of [`with_programs`].
const THIS: &str = "first";
const OLDER: &str = "second";

fn install(inside: &Inside, program: &str) -> Result<(), tests::lab::Error> {
    inside.sh(&format!("ln --symbolic --force /usr/lib/dayone/{program} {ALTERNATIVE}"))?;
    Ok(())
}

/// From the last event of the network to READY, with the document in force.
fn second_boot(inside: &Inside, program: &str) -> Result<Duration, tests::lab::Error> {
    install(inside, program)?;
    Ok(ready_after_network(inside)?.after_event)
}

/// Resets the node to day one: the card has the address, there is no bridge, and the agent has never run.
fn reset(inside: &Inside) -> Result<(), tests::lab::Error> {
    inside.sh(&format!(
        "systemctl stop dayone.service; rm -rf /var/lib/dayone/* /etc/nmstate/openshift/*; rm -f {PROFILES}/*"
    ))?;
    let file = format!("{PROFILES}/eno1.nmconnection");
    inside.sh(&format!("umask 077; touch {file}"))?;
    inside.write(&file, DAY_ONE)?;
    inside.sh("nmcli connection reload; nmcli --wait 20 connection up eno1 >/dev/null")?;
    inside.wait_sh("! ovs-vsctl br-exists br-ex && ! ip link show br-ex 2>/dev/null", SOON)?;
    inside.wait_sh("ping -n -q -c1 -W1 192.0.2.1", SOON)?;
    Ok(())
}

/// From exec to READY, as systemd saw them.
fn agent(inside: &Inside, document: &str, program: &str) -> Result<Duration, tests::lab::Error> {
    reset(inside)?;
    install(inside, program)?;
    inside.write(HOST_FILE, document)?;
    let mark = mark(inside)?;
    inside.sh("systemctl start dayone.service")?;
    outcome(inside, Some(&mark))?.exits(0);
    let unit = inside.unit("dayone.service")?;
    Ok(unit.active_enter.unwrap() - unit.exec_start.unwrap())
}

/// As [`agent`], with every probe of the wire; the settings are as before afterwards.
fn with_all_probes(inside: &Inside, document: &str) -> Result<Duration, tests::lab::Error> {
    inside.sh("mkdir -p /etc/dayone")?;
    inside.write(SETTINGS, ALL_PROBES)?;
    let time = agent(inside, document, THIS)?;
    let answers = inside.read("/run/dayone/status.json")?.unwrap_or_default();
    assert!(answers.contains("192.0.2.1 on br-ex: 1500 bytes pass"), "{answers}");
    inside.sh(&format!("rm {SETTINGS}"))?;
    Ok(time)
}

/// The peak memory of an apply, in bytes.
fn memory(inside: &Inside, document: &str) -> Result<u64, tests::lab::Error> {
    reset(inside)?;
    inside.write(HOST_FILE, document)?;
    let cost = measure::run(inside.command("dayone")?.arg("apply")).unwrap();
    assert_eq!(cost.exit_code, Some(0));
    Ok(cost.peak_memory)
}

/// The processor's time of an apply, in user and kernel mode.
fn processor(
    inside: &Inside,
    document: &str,
    program: &str,
) -> Result<Duration, tests::lab::Error> {
    reset(inside)?;
    install(inside, program)?;
    inside.write(HOST_FILE, document)?;
    let cost = measure::run(inside.command("dayone")?.arg("apply")).unwrap();
    assert_eq!(cost.exit_code, Some(0));
    Ok(cost.cpu)
}

/// The phases of the previous run.
fn phases(inside: &Inside) -> Result<String, tests::lab::Error> {
    let text = inside.read("/run/dayone/status.json")?.unwrap_or_default();
    let status: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let one = |phase: &serde_json::Value| {
        format!(
            "{} {:.0}",
            phase["phase"].as_str().unwrap_or_default(),
            phase["milliseconds"].as_f64().unwrap_or_default()
        )
    };
    let all: Vec<_> = status["phases"].as_array().into_iter().flatten().map(one).collect();
    Ok(all.join(", "))
}

/// From `nmcli connection reload` to the address on br-ex, with the same profiles in place.
fn floor(inside: &Inside) -> Result<Duration, tests::lab::Error> {
    reset(inside)?;
    // Only the interface with the address: bridge and port come up with it. The card joins by itself; the agent gets no credit
    // for waiting for it too.
    inside.sh(&format!("cp -a /root/profiles/. {PROFILES}/"))?;
    nanoseconds(
        inside,
        "a=$(date +%s%N); nmcli connection reload; nmcli --wait 0 connection up br-ex-if; \
         until ip -4 -oneline address show dev br-ex 2>/dev/null | grep -q 192.0.2.10; do :; done; \
         b=$(date +%s%N); echo $((b - a))",
    )
}

fn nanoseconds(inside: &Inside, script: &str) -> Result<Duration, tests::lab::Error> {
    let text = inside.sh(script)?;
    Ok(Duration::from_nanos(text.lines().last().unwrap_or_default().parse().unwrap()))
}

/// The time of the call alone, measured by its program.
fn nmstate(inside: &Inside) -> Result<Duration, tests::lab::Error> {
    reset(inside)?;
    let text = inside.sh("nmstate-apply </root/document.yml")?;
    Ok(Duration::from_secs_f64(
        text.lines().last().unwrap_or_default().parse::<f64>().unwrap() / 1e3,
    ))
}
