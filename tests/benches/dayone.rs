//! Static br-ex from exec to READY, against NetworkManager's own floor and against nmstate's `apply()` with its own
//! verification; and a second boot, from the kernel's network to READY. Prints ratios of one run; asserts nothing about time, but
//! the size of the program and its memory.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people to read")]

use std::time::Duration;

use tests::{
    dayone::{DAY_ONE, Document, SOON, mark, outcome, ready_after_network, with_program},
    lab::{Case, Inside, Lab, Nic, Node, Peer},
    measure::{self, least, millis},
    program, skip,
};

/// Number of runs; the minimum counts, since disturbances only add time.
const RUNS: usize = 5;
/// The program's bound in bytes: it goes onto every node's image. nmstatectl, which it replaces there, has 13.5 MB.
const SIZE: u64 = 8_000_000;
/// The bound of an apply's memory, in bytes.
const MEMORY: u64 = 20 << 20;
const PROFILES: &str = "/etc/NetworkManager/system-connections";
const HOST_FILE: &str = tests::dayone::HOST_FILE;

fn main() {
    if skip::is_allowed() {
        return;
    }
    let lab = Lab::open().unwrap();
    let (dayone, nmstate) = program::dayone_of_node();
    let size = std::fs::metadata(&dayone).unwrap().len();
    println!("size of the program  {:>6.2} MB (at most 8)", size as f64 / 1e6);
    assert!(size <= SIZE, "{} has {size} bytes", dayone.display());
    let node = Node::new("worker-0").nic(Nic::new("eno1", tests::dayone::MAC));
    let node = with_program(node, &dayone)
        .keyfile("eno1", DAY_ONE)
        .bind(nmstate, "/usr/local/bin/nmstate-apply");
    lab.run(node, &Peer::new(), measure).unwrap();
}

fn measure(case: &mut Case<'_>) -> Result<(), tests::lab::Error> {
    case.boot()?;
    let inside = case.inside()?;
    inside.sh("systemctl stop kubelet.service")?;
    let document = Document::new().text();
    inside.write("/root/document.yml", &document)?;

    let agent: Vec<_> = (0..RUNS).map(|_| agent(&inside, &document)).collect::<Result<_, _>>()?;
    println!("phases of dayone's last run, in ms: {}", phases(&inside)?);
    let memory = memory(&inside, &document)?;
    println!("peak memory          {:>6.2} MiB (at most 20)", memory as f64 / f64::from(1 << 20));
    assert!(memory <= MEMORY, "an apply takes {memory} bytes");
    // NetworkManager's floor uses the profiles of the last run.
    inside.sh(&format!("rm -rf /root/profiles; cp -a {PROFILES} /root/profiles"))?;
    let floor: Vec<_> = (0..RUNS).map(|_| floor(&inside)).collect::<Result<_, _>>()?;
    let nmstate: Vec<_> = (0..RUNS).map(|_| nmstate(&inside)).collect::<Result<_, _>>()?;

    println!("static br-ex on one card, least of {RUNS} runs in one container");
    let (agent, floor, nmstate) = (least(&agent), least(&floor), least(&nmstate));
    println!("NetworkManager's floor (reload to address)    {:>7.0} ms", millis(floor));
    println!("dayone (exec to READY, probes included)       {:>7.0} ms", millis(agent));
    println!("nmstate's apply() with its own verification   {:>7.0} ms", millis(nmstate));
    println!("dayone / floor    {:.2} (at most 1.6)", agent.as_secs_f64() / floor.as_secs_f64());
    println!("dayone / nmstate  {:.2} (at most 0.33)", agent.as_secs_f64() / nmstate.as_secs_f64());

    // In force, for the measurement of a second boot.
    self::agent(&inside, &document)?;
    let ready: Vec<_> =
        (0..RUNS).map(|_| ready_after_network(&inside)).collect::<Result<_, _>>()?;
    let (event, command): (Vec<_>, Vec<_>) =
        ready.iter().map(|it| (it.after_event, it.after_command)).unzip();
    println!(
        "second boot: netlink's event to READY         {:>7.1} ms (at most 20)",
        millis(least(&event))
    );
    println!("from before the command that causes the event {:>7.1} ms", millis(least(&command)));
    Ok(())
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
fn agent(inside: &Inside, document: &str) -> Result<Duration, tests::lab::Error> {
    reset(inside)?;
    inside.write(HOST_FILE, document)?;
    let mark = mark(inside)?;
    inside.sh("systemctl start dayone.service")?;
    let outcome = outcome(inside, Some(&mark))?;
    assert_eq!(outcome.exit, 0, "{}", outcome.text());
    let unit = inside.unit("dayone.service")?;
    Ok(unit.active_enter.unwrap() - unit.exec_start.unwrap())
}

/// The peak memory of an apply, in bytes.
fn memory(inside: &Inside, document: &str) -> Result<u64, tests::lab::Error> {
    reset(inside)?;
    inside.write(HOST_FILE, document)?;
    let cost = measure::run(inside.command("dayone")?.arg("apply")).unwrap();
    assert_eq!(cost.exit_code, Some(0));
    Ok(cost.peak_memory)
}

/// The phases of the previous run.
fn phases(inside: &Inside) -> Result<String, tests::lab::Error> {
    let text = inside.read("/run/dayone/status.json")?.unwrap_or_default();
    let status: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let one = |it: &serde_json::Value| {
        format!(
            "{} {:.0}",
            it["phase"].as_str().unwrap_or_default(),
            it["milliseconds"].as_f64().unwrap_or_default()
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
