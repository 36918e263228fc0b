//! Outage of a node, and of a pod on it, while a changed document is applied on its second day, against the same changes by
//! nmstate's `apply()` alone. Both take turns. Prints a table, with what OVN-Kubernetes lacks then; asserts a bound of the ratio.
//! A node of configure-ovs is beside them: its script changes br-ex at a boot only, and makes it again then.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people to read")]

use std::{net::Ipv4Addr, path::Path, process::Command, time::Duration};

use tests::{
    dayone::{
        ADDRESS, DAY_ONE, Document, HOST_FILE, MAC, attempt, ovnkube_lost, ovnkube_restarted,
        pod_started, with_program,
    },
    derived::{balance_slb, in_userspace},
    lab::{Case, Error, Inside, Lab, Nic, Node, Peer, Release},
    measure::{millis, quantile},
    outage::{FPING, Outage, outages},
    program, skip,
};

/// The bound on all of it.
const LIMIT: Duration = Duration::from_secs(1800);
/// The bound on one apply of nmstate's, which verifies a network that lacks something for half a minute.
const NMSTATE: Duration = Duration::from_secs(120);
/// The bound on the effects of a change.
const SETTLED: Duration = Duration::from_secs(60);
/// Number of runs; the median counts.
const RUNS: usize = 3;
/// Requests that a busy host loses, or answers later than this many of the next.
const NOISE: usize = 50;
/// What configure-ovs makes br-ex again for.
const ANY: &str = "any change, by configure-ovs";
/// A machine of the node's network that has this address already.
const TAKEN: &str = "192.0.2.66";

/// A change of one document to another.
struct Change {
    title: &'static str,
    from: String,
    to: String,
    /// The card that the other one no longer names: dayone takes it out of the network, and nmstate has to be told.
    gone: Option<&'static str>,
    /// Whether it is rolled back: by both, or by dayone, since nmstate asks no gateway.
    fails: Option<By>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Both,
    Dayone,
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
        .bind(nmstate, "/usr/local/bin/nmstate-apply")
        .bind(Path::new(FPING), FPING);
    let peer = Peer::new().address("lan", TAKEN.parse().unwrap(), 24);
    println!(
        "medians of {RUNS} runs: of 1,000 echo requests a second to {ADDRESS}, and of the pod to {}, those lost, and the longest \
         time between two answers",
        Peer::API
    );
    lab.run_within(LIMIT, node, &peer, measure).unwrap();
    if ANY.contains(&word()) {
        let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).keyfile("eno1", DAY_ONE);
        let node = node.field(Release::V4_22).ovn().bind(Path::new(FPING), FPING);
        lab.run_within(LIMIT, node, &Peer::new(), measure_configure_ovs).unwrap();
    }
}

/// `cargo bench … -- WORD`: only the changes with this word.
fn word() -> String {
    std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default()
}

/// Applies a document, and returns whether it is in force.
type Apply = fn(&Inside, &str) -> Result<bool, Error>;

/// A way to apply the changes, and what it costs.
#[derive(Default)]
struct Way {
    name: &'static str,
    /// What the node's peer and the pod notice, in each run.
    outages: Vec<[Outage; 2]>,
    /// Cards whose profiles NetworkManager activates again.
    activated: String,
    /// What OVN-Kubernetes lacks afterwards.
    lacks: String,
}

impl Way {
    fn of(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    /// The medians of requests lost and of milliseconds: of the peer's, or of the pod's.
    fn medians(&self, of: usize) -> [usize; 2] {
        let median = |value: fn(&Outage) -> f64| {
            quantile(self.outages.iter().map(|both| value(&both[of])), 0.5).round() as usize
        };
        [median(|outage| outage.lost as f64), median(|outage| millis(outage.longest))]
    }

    fn print(&self) {
        let [node, pod] = [0, 1].map(|of| {
            let [lost, longest] = self.medians(of);
            format!("{lost:>5} lost, {longest:>5} ms")
        });
        let activated = &self.activated;
        println!("  {:14} node {node}; pod {pod}; activated: {activated}", self.name);
        self.lacks.lines().for_each(|line| println!("  {:14} {line}", ""));
    }
}

fn measure(case: &mut Case<'_>) -> Result<(), Error> {
    case.boot()?;
    pod_started(case)?;
    let case = &*case;
    for change in changes().into_iter().filter(|change| change.title.contains(&word())) {
        by_dayone(&case.inside()?, &change.from)?;
        let mut ways = vec![(Way::of("dayone"), by_dayone as Apply, change.to.clone())];
        if change.fails != Some(By::Dayone) {
            ways.push((Way::of("nmstate alone"), by_nmstate, change.alone()));
        }
        for _ in 0..RUNS {
            for (way, apply, to) in &mut ways {
                one(case, &change, way, *apply, to)?;
            }
        }
        let ways: Vec<Way> = ways.into_iter().map(|(way, ..)| way).collect();
        println!("{}", change.title);
        ways.iter().for_each(Way::print);
        let [dayone, nmstate] = &ways[..] else { continue };
        for of in [0, 1] {
            let (dayone, nmstate) = (dayone.medians(of), nmstate.medians(of));
            for (dayone, nmstate) in dayone.into_iter().zip(nmstate) {
                // Another uplink took 1.4 times as long on a quiet host, and 1.9 times on a busy one.
                let most = (2 * nmstate).max(nmstate + NOISE);
                assert!(dayone <= most, "{}: {dayone} by dayone, {nmstate}", change.title);
            }
        }
    }
    Ok(())
}

/// One change and back; what peer and pod notice of the change.
fn one(
    case: &Case<'_>,
    change: &Change,
    way: &mut Way,
    apply: Apply,
    to: &str,
) -> Result<(), Error> {
    let inside = case.inside()?;
    ovnkube_restarted(&inside)?;
    settled(case)?;
    let cursor =
        "journalctl --unit=NetworkManager --lines=0 --show-cursor | sed -n 's/^-- cursor: //p'";
    let cursor = inside.sh(cursor)?;
    let both = outages(pings(case, &inside)?, || {
        assert_eq!(apply(&inside, to)?, change.fails.is_none(), "{} by {}", change.title, way.name);
        way.lacks = ovnkube_lost(&inside)?;
        // With another number of a port ovnkube ends, within 15 s, and looks everything up again.
        if way.lacks.contains(" is port ") { ovnkube_restarted(&inside) } else { Ok(()) }
    })?;
    way.outages.push(both);
    way.activated = inside.sh(&format!(
        "journalctl --unit=NetworkManager --output=cat --after-cursor='{}' \
         | sed -n 's/.*device (\\([^)]*\\)): state change: .* -> prepare .*/\\1/p' | sort --unique | xargs",
        cursor.trim()
    ))?;
    assert!(apply(&inside, &change.from)?, "back from {} by {}", change.title, way.name);
    Ok(())
}

/// Echo requests of the peer to the node, and of the pod to what is behind the gateway.
fn pings(case: &Case<'_>, inside: &Inside) -> Result<[(Command, Ipv4Addr); 2], Error> {
    let mut pod = inside.command("ip")?;
    pod.args(["netns", "exec", "pod"]);
    Ok([(case.peer().command("env"), ADDRESS), (pod, Peer::API)])
}

/// Waits until the change before has no more effect: a bond moves addresses between its ports for some seconds.
fn settled(case: &Case<'_>) -> Result<(), Error> {
    let still = "ip netns exec pod ping -n -q -c200 -i0.01 -W1";
    let all = format!("{still} {} | grep ' 0% packet loss'", Peer::API);
    case.inside()?.wait_sh(&all, SETTLED).map(|_| ())
}

/// Makes br-ex again as configure-ovs does at each boot, after the changes of its profiles and of the card that it chooses.
fn measure_configure_ovs(case: &mut Case<'_>) -> Result<(), Error> {
    case.boot()?;
    pod_started(case)?;
    let inside = case.inside()?;
    let mut way = Way::of("configure-ovs");
    for _ in 0..RUNS {
        settled(case)?;
        let both = outages(pings(case, &inside)?, || {
            inside.sh("rm /run/configure-ovs-boot-done; systemctl restart ovs-configuration")?;
            way.lacks = ovnkube_lost(&inside)?;
            // The script takes it away, and ovnkube-node sets it when it starts.
            let remote = "external_ids:ovn-remote=unix:/run/ovn/ovnsb_db.sock";
            inside.sh(&format!("ovs-vsctl set open_vswitch . {remote}"))?;
            ovnkube_restarted(&inside)
        })?;
        way.outages.push(both);
    }
    println!("{ANY}");
    way.print();
    Ok(())
}

fn by_dayone(inside: &Inside, document: &str) -> Result<bool, Error> {
    inside.write(HOST_FILE, document)?;
    Ok(attempt(inside)?.exit == 0)
}

fn by_nmstate(inside: &Inside, document: &str) -> Result<bool, Error> {
    // Else its verification takes OVN's port for a difference.
    let document =
        document.replace("\n    port:\n", "\n    allow-extra-patch-ports: true\n    port:\n");
    inside.write("/root/document.yml", &document)?;
    let apply = ["sh", "-c", "nmstate-apply </root/document.yml"];
    Ok(inside.run_within(&apply, NMSTATE)?.status.success())
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
    let change = |title, to| Change { title, from: from.clone(), to, gone: None, fails: None };
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
    let address = |address: &str| {
        let more = format!("      prefix-length: 24\n    - {{ip: {address}, prefix-length: 24}}\n");
        with("      prefix-length: 24\n", &more)
    };
    vec![
        change("nothing", from.clone()),
        Change {
            fails: Some(By::Both),
            ..change("a second address, which another machine has: rolled back", address(TAKEN))
        },
        Change {
            fails: Some(By::Dayone),
            ..change(
                "a gateway that is silent: rolled back",
                with("hop-address: 192.0.2.1\n", "hop-address: 192.0.2.99\n"),
            )
        },
        change(
            "DNS: a search domain",
            with("    - 192.0.2.1\n", "    - 192.0.2.1\n    search: [example.org]\n"),
        ),
        change("a second address", address("203.0.113.10")),
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
            fails: None,
        },
        change("a VLAN for storage on br-ex", vlan),
        change(
            "a second bridge on another card",
            interfaces(
                "- {name: br-local, type: ovs-bridge, state: up, bridge: {options: {datapath: netdev}, port: [{name: eno3}]}}\n- {name: eno3, type: ethernet, state: up}\n",
            ),
        ),
        // With another address OVN answers for br-ex's by the old one, and NetworkManager does not set it.
        Change {
            title: "the uplink: eno1 to eno2, with br-ex's MAC address",
            from: with_mac(&from),
            to: with_mac(&Document::new().nic("eno2").text()),
            gone: Some("eno1"),
            fails: None,
        },
        // The last one: br-ex keeps its `bridge-uplink` where the next document has none, and ovnkube-node then finds no uplink.
        Change {
            title: "a port of the bond (balance-slb): eno2 to eno3",
            from: bond(["eno1", "eno2"]),
            to: bond(["eno1", "eno3"]),
            gone: Some("eno2"),
            fails: None,
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
