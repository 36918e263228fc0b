//! `dayone probe` where the wire is wrong, and where its silence must not matter.

use std::{net::Ipv4Addr, time::Duration};

use tests::{
    dayone::{
        ADDRESS, ATTEMPT, GOES_ON, HOST_FILE, attempt, outcome, start, try_document, unwrapped,
    },
    lab::{Case, Error, Fault},
    wire::{has, probed, probed_until},
};

/// [`ADDRESS`] in a document, and an address that the peer has for a while.
const ADDRESS_TEXT: &str = "192.0.2.10";
const TAKEN: &str = "192.0.2.55";

const SETTINGS: &str = "/etc/dayone/dayone.toml";

/// On a node with br-ex at 192.0.2.10 and two gateways, of which 192.0.2.3 is not there.
pub(super) fn is_proved(case: &mut Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    let good = probed(&inside, 0)?;
    assert!(has(&good, "mtu", "192.0.2.1", "ok"), "{good}");
    assert!(has(&good, "mtu", "192.0.2.3", "unknown"), "{good}");
    assert!(has(&good, "duplicate", "192.0.2.10", "ok"), "{good}");
    assert!(has(&good, "gateway", "192.0.2.1", "ok"), "{good}");
    assert!(has(&good, "gateway", "192.0.2.3", "unknown"), "{good}");

    // A network that refuses ICMP is no fault.
    case.peer_mut().fault(Fault::DropPing, true)?;
    let silent = probed(&inside, 0)?;
    assert!(has(&silent, "mtu", "192.0.2.1", "unknown"), "{silent}");
    case.peer_mut().fault(Fault::DropPing, false)?;

    // The peer takes smaller packets than the node sends.
    let mtu = inside.sh("cat /sys/class/net/br-ex/mtu")?;
    peers_mtu(case, "1400")?;
    let small = probed(&inside, 3)?;
    assert!(has(&small, "mtu", "192.0.2.1", "failed"), "{small}");
    let page = inside.run(&["dayone", "probe"])?.exits(3);
    let text = unwrapped(&page.stdout);
    assert!(text.contains(&format!("{} bytes do not pass (1400 do)", mtu.trim())), "{page}");
    assert!(text.contains("Next: raise the MTU of the switch's ports"), "{page}");
    assert!(page.stdout.lines().count() <= 24, "{page}");
    assert!(page.stdout.lines().all(|it| it.chars().count() <= 80), "{page}");
    let settings = inside.sh(&format!("cat {SETTINGS}"))?;
    peers_mtu(case, "1500")?;

    a_duplicate_is_of_this_network(case)?;

    a_taken_address_is_never_used(case, &settings)?;

    // A switch that does not speak LLDP, though one is expected.
    let expected = "[[probe.lldp-neighbour]]\nlink = \"eno1\"\nsystem = \"leaf-1\"\n";
    inside.write(SETTINGS, &format!("{settings}\n{expected}"))?;
    let deaf = probed(&inside, 0)?;
    assert!(has(&deaf, "lldp", "eno1", "unknown"), "{deaf}");
    inside.write(
        SETTINGS,
        &format!("{}\n[probe]\nmtu = \"required\"\n", settings.replace("probe = 2", "probe = 9")),
    )?;
    a_wrong_wire_rolls_back(case)
}

/// Another machine has the address, on this network or on another VLAN of the same cable, in silence or in a flood of frames.
fn a_duplicate_is_of_this_network(case: &Case<'_>) -> Result<(), Error> {
    const OFTEN: Duration = Duration::from_millis(5);
    // Some 8,000 frames a second: a socket without a filter holds 280. Without a pause the flood fills the queues of the kernel and
    // of Open vSwitch on some machines, and the answers of the gateway are lost.
    const FLOOD: Duration = Duration::from_micros(50);
    let (inside, peer) = (case.inside()?, case.peer());
    let vlan = peer.announce("lan", Some(77), ADDRESS, OFTEN)?;
    let other_network = probed(&inside, 0)?;
    assert!(has(&other_network, "duplicate", ADDRESS_TEXT, "ok"), "{other_network}");
    drop(vlan);
    let announced = peer.announce("lan", None, ADDRESS, OFTEN)?;
    let this_network = probed(&inside, 3)?;
    assert!(has(&this_network, "duplicate", ADDRESS_TEXT, "failed"), "{this_network}");
    drop(announced);

    let flood = peer.announce("lan", None, Ipv4Addr::new(192, 0, 2, 99), FLOOD)?;
    let nobody = probed_until(&inside, 0, ATTEMPT, |report| report["ok"] == true)?;
    assert!(has(&nobody, "duplicate", ADDRESS_TEXT, "ok"), "{nobody}");
    peer.address("lan", ADDRESS.into(), 32, true)?;
    let taken = probed(&inside, 3)?;
    assert!(has(&taken, "duplicate", ADDRESS_TEXT, "failed"), "{taken}");
    drop(flood);
    peer.address("lan", ADDRESS.into(), 32, false)
}

/// The service asks for an address of the document before it uses it.
fn a_taken_address_is_never_used(case: &Case<'_>, settings: &str) -> Result<(), Error> {
    let inside = case.inside()?;
    let own = format!("    - ip: {ADDRESS}\n      prefix-length: 24\n");
    let document = inside.sh(&format!("cat {HOST_FILE}"))? + "\n";
    let two = document.replace(&own, &format!("{own}{}", own.replace(ADDRESS_TEXT, TAKEN)));
    assert_ne!(two, document);
    inside.write(SETTINGS, &format!("{settings}\n[probe]\nduplicate = \"required\"\n"))?;
    let taken = TAKEN.parse::<std::net::Ipv4Addr>().unwrap_or(ADDRESS);
    case.peer().address("lan", taken.into(), 32, true)?;
    inside.sh(
        "systemd-run --quiet --unit=seen -p StandardOutput=file:/run/seen ip monitor address",
    )?;
    let refused = try_document(&inside, &two)?.exits(1);
    let words = format!("another machine has {TAKEN} of br-ex too");
    assert!(refused.text().contains(&words), "{}", refused.text());
    assert!(refused.text().contains("nothing was changed"), "{}", refused.text());
    let status = inside.run(&["dayone", "status"])?.says_wrapped(&words);
    assert!(status.stdout.lines().all(|it| it.chars().count() <= 80), "{status}");
    let seen = || inside.sh("cat /run/seen");
    assert!(!seen()?.contains(TAKEN), "{}", seen()?);

    // Once it is free the same document is applied.
    case.peer().address("lan", taken.into(), 32, false)?;
    attempt(&inside)?.exits(0);
    assert!(seen()?.contains(TAKEN), "{}", seen()?);
    inside.sh("systemctl stop seen.service")?;
    assert!(!unwrapped(&inside.run(&["dayone", "status"])?.stdout).contains("cannot be asked for"));
    Ok(())
}

/// As a silent gateway does, if the settings ask for it; the network from before carries the node, and the boot goes on.
fn a_wrong_wire_rolls_back(case: &Case<'_>) -> Result<(), Error> {
    peers_mtu(case, "1400")?;
    let inside = case.inside()?;
    let document = inside.sh(&format!("cat {HOST_FILE}"))?;
    let route = "  - destination: 203.0.113.0/24\n    next-hop-address: 192.0.2.2\n    next-hop-interface: br-ex\n";
    inside.write(HOST_FILE, &format!("{}\n{route}", document.trim_end()))?;
    let mark = start(&inside)?;
    outcome(&inside, Some(&mark))?.exits(3);
    inside.wait_journal(&[mark.argument(), GOES_ON], ATTEMPT, |_| true)?;
    assert!(unwrapped(&inside.run(&["dayone", "status"])?.stdout).contains("bytes do not pass"));
    assert!(!inside.sh("ip route")?.contains("203.0.113.0/24"));

    // A required target that is silent keeps the boot. The pause tells what is wrong with the cable: the journal has the lines of
    // the console, which a container does not keep.
    let settings = inside.sh(&format!("cat {SETTINGS}"))?;
    let target = "[[probe.target]]\nname = \"registry\"\ntcp = \"192.0.2.9:5000\"\n";
    inside.write(SETTINGS, &format!("{settings}\n{target}"))?;
    let mark = start(&inside)?;
    outcome(&inside, Some(&mark))?.exits(3);
    for words in
        ["the wire: carrier on eno1", "the wire: 192.0.2.1 on br-ex answers small packets, and "]
    {
        inside
            .wait_journal(&mark.entries(), ATTEMPT, |entry| entry.message().starts_with(words))?;
    }
    inside.sh("systemctl stop dayone.service")?;
    peers_mtu(case, "1500")
}

fn peers_mtu(case: &Case<'_>, mtu: &str) -> Result<(), Error> {
    case.peer().mtu("eno1", mtu)
}
