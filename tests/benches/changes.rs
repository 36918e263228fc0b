//! Outage of a node, and of a pod on it, while a changed document is applied on its second day, against the same changes by
//! nmstate's `apply()` alone. Both take turns. Prints a table, with what is lost of OVN-Kubernetes'; asserts a bound of the ratio.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people to read")]

use std::time::Duration;

use tests::{
    dayone::{
        ADDRESS, DAY_ONE, Document, HOST_FILE, MAC, attempt, ovnkube_lost, ovnkube_restarted,
        pod_started, with_program,
    },
    derived::{balance_slb, in_userspace},
    lab::{Case, Error, Inside, Lab, Nic, Node, Peer},
    measure::{Times, by_turns},
    outage::outages,
    program, skip,
};

/// The bound on all of it.
const LIMIT: Duration = Duration::from_secs(1800);
/// Number of runs; the median counts.
const RUNS: usize = 3;
/// An outage of a few echo requests is none that a program in the node notices.
const NOISE: Duration = Duration::from_millis(50);

/// A change of one document to another.
struct Change {
    title: &'static str,
    from: String,
    to: String,
    /// The card that the other one no longer names: dayone takes it out of the network, and nmstate has to be told.
    gone: Option<&'static str>,
}

impl Change {
    /// The document for nmstate, which knows no document before it.
    fn alone(&self) -> String {
        let Some(card) = self.gone else { return self.to.clone() };
        let gone = format!("interfaces:\n- {{name: {card}, type: ethernet, state: absent}}\n");
        self.to.replacen("interfaces:\n", &gone, 1)
    }
}

fn main() {
    if skip::is_lab_off() {
        return;
    }
    let lab = Lab::open().unwrap();
    let (dayone, nmstate) = (program::dayone(), program::nmstate_apply());
    let node = Node::new("worker-0")
        .nic(Nic::new("eno1", MAC))
        .nic(Nic::new("eno2", "52:54:00:00:00:02"))
        .nic(Nic::new("eno3", "52:54:00:00:00:03"));
    let node = with_program(node.ovn(), dayone)
        .keyfile("eno1", DAY_ONE)
        .file(HOST_FILE, &Document::new().text(), 0o644)
        .file("/etc/dayone/dayone.toml", "max-attempts = 0\n", 0o644)
        .bind(nmstate, "/usr/local/bin/nmstate-apply");
    lab.run_within(LIMIT, node, &Peer::new(), measure).unwrap();
}

/// What a way to apply the changes does besides.
#[derive(Default)]
struct Seen {
    activated: String,
    /// The node's outages.
    node: Vec<Duration>,
    lost: String,
}

fn measure(case: &mut Case<'_>) -> Result<(), Error> {
    case.boot()?;
    pod_started(case)?;
    let case = &*case;
    println!(
        "outages by a changed document, medians of {RUNS} runs by turns, echo requests each 5 ms: of the pod's way out, and of {ADDRESS}"
    );
    // `cargo bench … -- WORD`: the changes with this word.
    let word =
        std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for change in changes().into_iter().filter(|change| change.title.contains(&word)) {
        let inside = case.inside()?;
        by_dayone(&inside, &change.from)?;
        let mut seen = [Seen::default(), Seen::default()];
        let [with, alone] = &mut seen;
        let mut dayone = || one(case, [&change.from, &change.to], with, by_dayone);
        let mut nmstate = || one(case, [&change.from, &change.alone()], alone, by_nmstate);
        let pods = by_turns(RUNS, [&mut dayone, &mut nmstate])?;
        println!("{}", change.title);
        let nodes = seen.map(|Seen { activated, node, lost }| {
            let node = Times::of(node);
            (activated, node, lost)
        });
        for ((name, pod), (activated, node, lost)) in
            ["dayone", "nmstate alone"].iter().zip(&pods).zip(&nodes)
        {
            println!("  {name:14} pod  {pod}; activated: {activated}");
            println!("  {:14} node {node}", "");
            lost.lines().for_each(|line| println!("  {:14} {line}", ""));
        }
        assert!(
            is_no_longer(&pods[0], &pods[1]),
            "{}: dayone interrupts the pod longer",
            change.title
        );
        assert!(
            is_no_longer(&nodes[0].1, &nodes[1].1),
            "{}: dayone interrupts longer",
            change.title
        );
    }
    Ok(())
}

/// Twice as long at most, or [`NOISE`] more: another uplink took 1.4 times as long on a quiet host, and 1.9 times on a busy one.
fn is_no_longer(this: &Times, peer: &Times) -> bool {
    this.median() <= (2 * peer.median()).max(peer.median() + NOISE)
}

/// One change and back; the pod's outage by the change alone.
fn one(
    case: &Case<'_>,
    [from, to]: [&str; 2],
    seen: &mut Seen,
    apply: fn(&Inside, &str) -> Result<(), Error>,
) -> Result<Duration, Error> {
    let inside = case.inside()?;
    ovnkube_restarted(&inside)?;
    let cursor =
        "journalctl --unit=NetworkManager --lines=0 --show-cursor | sed -n 's/^-- cursor: //p'";
    let cursor = inside.sh(cursor)?;
    let mut node = case.peer().command("ping");
    node.arg(ADDRESS.to_string());
    let mut pod = inside.command("ip")?;
    pod.args(["netns", "exec", "pod", "ping", &Peer::API.to_string()]);
    let [node, pod] = outages([node, pod], || {
        apply(&inside, to)?;
        seen.lost = ovnkube_lost(&inside)?;
        // With another number of a port ovnkube ends, within 15 s, and looks everything up again.
        if seen.lost.contains(" is port ") { ovnkube_restarted(&inside) } else { Ok(()) }
    })?;
    seen.node.push(node);
    seen.activated = inside.sh(&format!(
        "journalctl --unit=NetworkManager --output=cat --after-cursor='{}' \
         | sed -n 's/.*device (\\([^)]*\\)): state change: .* -> prepare .*/\\1/p' | sort --unique | xargs",
        cursor.trim()
    ))?;
    apply(&inside, from)?;
    Ok(pod)
}

fn by_dayone(inside: &Inside, document: &str) -> Result<(), Error> {
    inside.write(HOST_FILE, document)?;
    let it = attempt(inside)?;
    assert_eq!(it.exit, 0, "{}", it.text());
    Ok(())
}

fn by_nmstate(inside: &Inside, document: &str) -> Result<(), Error> {
    // Else its verification takes OVN's port for a difference.
    let document =
        document.replace("    port:\n", "    allow-extra-patch-ports: true\n    port:\n");
    inside.write("/root/document.yml", &document)?;
    inside.sh("nmstate-apply </root/document.yml").map(|_| ())
}

fn changes() -> Vec<Change> {
    let from = Document::new().text();
    // A key of every interface of the document.
    let mtu = |mtu: u32| from.replace("  state: up\n", &format!("  state: up\n  mtu: {mtu}\n"));
    let mtu = |value| {
        mtu(value).replace(
            &format!("type: ovs-bridge\n  state: up\n  mtu: {value}\n"),
            "type: ovs-bridge\n  state: up\n",
        )
    };
    let with = |from: &str, to: &str| Document::new().with(from, to).text();
    let change = |title, to| Change { title, from: from.clone(), to, gone: None };
    let interfaces =
        |more: &str| from.replacen("interfaces:\n", &format!("interfaces:\n{more}"), 1);
    // A VLAN of Open vSwitch's, for storage, on the same uplink.
    let vlan = from.replacen(
        "    - name: br-ex\n",
        "    - name: br-ex\n    - {name: storage, vlan: {mode: access, tag: 104}}\n",
        1,
    );
    let vlan = vlan.replacen(
        "dns-resolver:",
        "- name: storage\n  type: ovs-interface\n  state: up\n  ipv4: {enabled: true, dhcp: false, address: [{ip: 203.0.113.10, prefix-length: 24}]}\ndns-resolver:",
        1,
    );
    vec![
        change(
            "DNS: a search domain",
            with("    - 192.0.2.1\n", "    - 192.0.2.1\n    search: [example.org]\n"),
        ),
        change(
            "a second address",
            with(
                "      prefix-length: 24\n",
                "      prefix-length: 24\n    - {ip: 203.0.113.10, prefix-length: 24}\n",
            ),
        ),
        change(
            "a static route",
            with(
                "  config:\n  - destination",
                "  config:\n  - {destination: 203.0.113.0/24, next-hop-address: 192.0.2.1, next-hop-interface: br-ex}\n  - destination",
            ),
        ),
        Change {
            title: "MTU: 1500 to 1400 on card and br-ex",
            from: mtu(1500),
            to: mtu(1400),
            gone: None,
        },
        change("a VLAN for storage on br-ex", vlan),
        change(
            "a second bridge on another card",
            interfaces(
                "- {name: br-local, type: ovs-bridge, state: up, bridge: {options: {datapath: netdev}, port: [{name: eno3}]}}\n- {name: eno3, type: ethernet, state: up}\n",
            ),
        ),
        Change {
            title: "a port of the bond (balance-slb): eno2 to eno3",
            from: bond(["eno1", "eno2"]),
            to: bond(["eno1", "eno3"]),
            gone: Some("eno2"),
        },
        // With another address OVN answers for br-ex's by the old one, and NetworkManager does not set it.
        Change {
            title: "the uplink: eno1 to eno2, with br-ex's MAC address",
            from: with_mac(&from),
            to: with_mac(&Document::new().nic("eno2").text()),
            gone: Some("eno1"),
        },
    ]
}

/// The document with br-ex's MAC address written out.
fn with_mac(document: &str) -> String {
    let lines = document.lines().filter(|line| !line.contains("copy-mac-from"));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    text.replace("type: ovs-interface\n", &format!("type: ovs-interface\n  mac-address: {MAC}\n"))
}

/// A bond of Open vSwitch's with these cards.
fn bond(cards: [&str; 2]) -> String {
    let [one, other] = cards;
    let early = format!(
        "interfaces:
- {{name: {one}, type: ethernet, state: up}}
- {{name: {other}, type: ethernet, state: up}}
- name: bond0
  type: bond
  state: up
  link-aggregation: {{mode: active-backup, port: [{one}, {other}]}}
  ipv4: {{enabled: true, address: [{{ip: {ADDRESS}, prefix-length: 24}}]}}
dns-resolver: {{config: {{server: [192.0.2.1]}}}}
routes: {{config: [{{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: bond0}}]}}
"
    );
    in_userspace(&balance_slb(&early).unwrap())
}
