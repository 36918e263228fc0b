//! `dayone probe` on a bond with LACP and two VLANs, whose cables and switch go wrong one after the other.

use std::{
    net::Ipv4Addr,
    time::{Duration, Instant},
};

use serde_json::Value;
use tests::{
    dayone::APPLIED,
    lab::{Inside, Lldp, Peer, VmCase},
    two_stage::{self, ADDRESS, NAME, PATIENCE, SERVER, tell},
    wire::{detail, has, probed, probed_until},
};

use crate::Result;

/// The aggregate of the machine's cards at the switch.
const AGGREGATE: &str = "aggregate";
/// The peer on a second VLAN.
const STORAGE_SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const STORAGE: u16 = 200;
/// The switch, and the ports at the ends of the cables.
const LEAF: &str = "leaf-1";
const PORTS: [&str; 2] = ["Ethernet1/1", "Ethernet1/2"];
/// Bound on timers of LACP and of NetworkManager; 6 s are usual.
const SETTLED: Duration = Duration::from_secs(120);

const SETTINGS: &str = "/etc/dayone/dayone.toml";

/// The peer, with the second VLAN.
pub(super) fn peer() -> Peer {
    let segment = "storage";
    two_stage::peer().vlan(segment, STORAGE).address(segment, STORAGE_SERVER.into(), 24)
}

/// Interfaces of the document: NetworkManager listens for the switch on both cables, and the bond has the second VLAN.
const INTERFACES: &str = "\
interfaces:
- name: enp0s16
  type: ethernet
  state: up
  lldp:
    enabled: true
- name: enp0s17
  type: ethernet
  state: up
  lldp:
    enabled: true
- name: bond0.200
  type: vlan
  state: up
  vlan:
    base-iface: bond0
    id: 200
  ipv4:
    enabled: true
    dhcp: false
    address:
    - ip: 198.18.0.70
      prefix-length: 24
  ipv6:
    enabled: false
";

/// The document with these interfaces.
pub(super) fn document(br_ex: &str) -> String {
    br_ex.replacen("interfaces:\n", INTERFACES, 1)
}

/// The settings: whom to ask, and what is at the end of each cable.
pub(super) fn settings() -> String {
    let cables = ["enp0s16", "enp0s17"].iter().zip(PORTS).map(|(link, port)| {
        format!(
            "[[probe.lldp-neighbour]]\nlink = \"{link}\"\nsystem = \"{LEAF}\"\nport = \"{port}\"\n"
        )
    });
    let cables: String = cables.collect();
    format!("{PATIENCE}probe = 10\n[probe]\npeers = [\"{SERVER}\", \"{STORAGE_SERVER}\"]\n{cables}")
}

/// On the running machine with br-ex on the bond.
pub(super) fn is_proved(case: &VmCase<'_>, inside: &Inside) -> Result<()> {
    let start = Instant::now();
    let good = probed(inside, 0)?;
    let took = start.elapsed().as_secs_f64();
    is_good(&good);
    // The switch does not speak LLDP.
    for link in ["enp0s16", "enp0s17"] {
        assert!(has(&good, "lldp", link, "unknown"), "{good}");
    }

    // The switch's port does not carry one of the VLANs.
    case.carries(AGGREGATE, Some(&[STORAGE]))?;
    let words = format!("other VLANs of bond0 answer, 100 does not ({SERVER} is silent)");
    let silent = fails(inside, "vlan", "bond0.100", &words)?;
    assert!(has(&silent, "vlan", "bond0.200", "ok"), "{silent}");
    assert!(has(&silent, "mtu", &SERVER.to_string(), "unknown"), "{silent}");
    case.carries(AGGREGATE, None)?;

    cables_are_told(case, inside)?;
    channels_are_told(case, inside)?;
    let rolled_back = nobody_with_lacp_rolls_back(case, inside)?.as_secs_f64();

    case.channels(AGGREGATE, &[&["nic1", "nic2"]])?;
    is_good(&probed_until(inside, 0, SETTLED, |report| report["ok"] == true)?);
    let all = start.elapsed().as_secs_f64();
    tell(&format!(
        "the wire: {all:.0} s; probe of a good one: {took:.1} s; a change rolled back: {rolled_back:.0} s"
    ));
    Ok(())
}

fn is_good(report: &Value) {
    for (probe, target) in [
        ("bond", "bond0"),
        ("lacp", "bond0"),
        ("vlan", "bond0.100"),
        ("vlan", "bond0.200"),
        ("mtu", "192.0.2.1"),
        ("mtu", &SERVER.to_string()),
        ("mtu", &STORAGE_SERVER.to_string()),
        ("duplicate", &ADDRESS.to_string()),
    ] {
        assert!(has(report, probe, target, "ok"), "{probe} {target} in {report}");
    }
}

/// Waits until a probe fails with this in its sentence.
fn fails(inside: &Inside, probe: &str, target: &str, words: &str) -> Result<Value> {
    let wanted = |report: &Value| {
        detail(report, probe, target, "failed").is_some_and(|sentence| sentence.contains(words))
    };
    Ok(probed_until(inside, 3, SETTLED, wanted)?)
}

/// The cables are swapped; then one is right and the switch of the other one has gone; then one is out.
fn cables_are_told(case: &VmCase<'_>, inside: &Inside) -> Result<()> {
    let [first, second] = PORTS;
    let says =
        |nic: &str, port: &str, seconds| case.says(nic, &Lldp { system: LEAF, port, seconds });
    says("nic1", second, 600)?;
    says("nic2", first, 600)?;
    let words = format!(
        "enp0s16 leads to {LEAF} {second}, and {LEAF} {first} is expected: that is the cable of \
         enp0s17: two cables are swapped"
    );
    let swapped = probed_until(inside, 3, SETTLED, |report| {
        detail(report, "lldp", "enp0s16", "failed")
            .is_some_and(|sentence| sentence.contains(&words))
            && has(report, "lldp", "enp0s17", "failed")
    })?;
    assert!(has(&swapped, "lacp", "bond0", "ok"), "{swapped}");
    says("nic1", second, 0)?;
    says("nic2", first, 0)?;
    says("nic2", second, 600)?;
    // NetworkManager tells what each card hears two seconds apart at most often: one card's news can come before the other's.
    probed_until(inside, 0, SETTLED, |report| {
        detail(report, "lldp", "enp0s17", "ok") == Some("leaf-1 Ethernet1/2")
            && has(report, "lldp", "enp0s16", "unknown")
    })?;

    case.cable("nic2", false)?;
    let words = "bond0 runs on 1 of 2 ports: enp0s17 without a carrier";
    let out = fails(inside, "bond", "bond0", words)?;
    let told = detail(&out, "lacp", "bond0", "ok").unwrap_or_default();
    assert!(told.contains("1 of 2 ports, all with a carrier, in one aggregator"), "{out}");
    case.cable("nic2", true)?;
    Ok(())
}

/// Half of the bond is in a port channel; then each port is in one of its own; then none is in one.
fn channels_are_told(case: &VmCase<'_>, inside: &Inside) -> Result<()> {
    let cases: [(&[&[&str]], &str); 3] = [
        (&[&["nic1"]], "enp0s17 of bond0 hears no LACP while other ports do"),
        (&[&["nic1"], &["nic2"]], " of bond0 is in another aggregator than the one in use"),
        (&[], "nobody speaks LACP on bond0"),
    ];
    for (channels, words) in cases {
        case.channels(AGGREGATE, channels)?;
        let wrong = fails(inside, "lacp", "bond0", words)?;
        assert!(has(&wrong, "bond", "bond0", "ok"), "{wrong}");
    }
    Ok(())
}

/// A changed document, while nobody speaks LACP and the settings ask for it: the network is that from before.
fn nobody_with_lacp_rolls_back(case: &VmCase<'_>, inside: &Inside) -> Result<Duration> {
    let file = format!("/etc/nmstate/openshift/{NAME}.yml");
    let read = |path: &str| inside.sh(&format!("cat {path}"));
    let (document, settings, applied) = (read(&file)?, read(SETTINGS)?, read(APPLIED)?);
    let route = "  - destination: 198.19.0.0/24\n    next-hop-address: 192.0.2.1\n    next-hop-interface: br-ex\n";
    // LACP is asked again until the bound.
    let required = settings
        .replace("\nprobe = 10\n", "\nprobe = 4\n")
        .replace("[probe]\n", "[probe]\nlacp = \"required\"\n");
    inside.write(SETTINGS, &required)?;
    inside.write(&file, &format!("{document}\n{route}"))?;
    let refused = inside.run_within(&["dayone", "apply"], VmCase::BOOT)?.exits(3);
    let text = [refused.stdout.as_str(), &refused.stderr].concat();
    assert!(text.contains("nobody speaks LACP on bond0"), "{refused}");
    assert!(!inside.sh("ip route")?.contains("198.19.0.0/24"));
    assert_eq!(read(APPLIED)?, applied);
    let status = inside.run(&["dayone", "status"])?;
    assert!(status.stdout.starts_with("FELL BACK"), "{status}");
    assert!(case.peer().pings(ADDRESS, SETTLED)?);

    inside.write(SETTINGS, &settings)?;
    inside.write(&file, &document)?;
    Ok(refused.took)
}
