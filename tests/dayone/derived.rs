//! From a host's early document alone: its profiles, then the derived document, and the same network on br-ex.

use std::{fs, path::Path, process::Command};

use tests::{
    dayone::{ADDRESS, ADDRESS6, HOST_FILE, MAC, SOON, attempt, outcome, settle, worker},
    lab::{Case, Error, Inside, Lab, Peer},
    program,
};

const STATIC: &str = "  ipv4:
    enabled: true
    address:
    - ip: 192.0.2.10
      prefix-length: 24
";
const DEFAULT: &str = "  - destination: 0.0.0.0/0
    next-hop-address: 192.0.2.1
    next-hop-interface: eno1
";
const STATIC6: &str = "  ipv6:
    enabled: true
    address:
    - ip: 2001:db8::10
      prefix-length: 64
";
/// Duplicate address detection is over.
const READY6: &str = "ip -6 route show default | grep -q 'dev eno1' && ! ip -6 address show dev eno1 | grep tentative";
const DEFAULT6: &str = "  - destination: ::/0
    next-hop-address: 2001:db8::1
    next-hop-interface: eno1
";

fn early(ip: &str, rest: &str) -> String {
    format!("interfaces:\n- name: eno1\n  type: ethernet\n  state: up\n  mtu: 1400\n{ip}{rest}")
}

/// What nmgen writes from the document.
fn generated(early: &str, arguments: &[&str], file: &str) -> Result<String, Error> {
    let failed = |problem: String| Error::Output { program: "nmgen", problem };
    let place = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    let input = place.path().join("worker-0.yml");
    fs::write(&input, early).map_err(|error| failed(error.to_string()))?;
    let output = Command::new(program::nmgen())
        .arg("generate")
        .args(arguments)
        .args([Path::new("-o"), &place.path().join("out"), &input])
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let path = place.path().join("out").join(file);
    fs::read_to_string(path).map_err(|_| failed(String::from_utf8_lossy(&output.stderr).into()))
}

/// The derived document, for the userspace datapath of a container.
fn derived(early: &str) -> Result<String, Error> {
    let text = generated(early, &["--br-ex", "--to", "hosts"], "cluster.yml")?;
    let bridge = "  bridge:\n    port:\n";
    assert!(text.contains(bridge), "{text}");
    let options = "  bridge:\n    options:\n      datapath: netdev\n    port:\n";
    Ok(text.replace(bridge, options))
}

/// A device's MAC address, MTU, addresses and routes, and the name servers. Excluded: metrics, lifetimes, the device's name.
fn network(inside: &Inside, device: &str) -> Result<String, Error> {
    inside.sh(&format!(
        "cat /sys/class/net/{device}/address /sys/class/net/{device}/mtu; \
         ip -oneline address show dev {device} scope global | sed 's/^.*inet/inet/; s/[ a-z]*{device}.*//' | sort; \
         {{ ip route show dev {device}; ip -6 route show dev {device}; }} \
         | grep -v ^fe80 | sed 's/ metric [0-9]*//; s/ pref .*//; s/ expires .*//' | sort; \
         cat /etc/resolv.conf || :"
    ))
}

/// The node boots with the early profile; with the derived document br-ex has what the card had.
fn moves(
    early: &str,
    peer: &Peer,
    ready: &str,
    then: impl Fn(&Case<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(lab) = Lab::open()? else { return Ok(()) };
    let profile = generated(early, &["--to", "keyfiles"], "eno1.nmconnection")?;
    let document = derived(early)?;
    lab.run(worker().keyfile("eno1", &profile), peer, |case| {
        case.boot()?;
        let inside = case.inside()?;
        outcome(&inside, None)?;
        settle(&inside)?;
        inside.wait_sh(ready, 2 * SOON)?;
        let before = network(&inside, "eno1")?;
        assert!(before.starts_with(&format!("{MAC}\n1400\n")), "{before}");
        inside.write(HOST_FILE, &document)?;
        let outcome = attempt(&inside)?;
        assert_eq!(outcome.exit, 0, "{}", outcome.text());
        inside.wait_sh(&ready.replace("eno1", "br-ex"), 2 * SOON)?;
        assert_eq!(network(&inside, "br-ex")?, before);
        assert_eq!(inside.sh("ip -oneline address show dev eno1 scope global")?, "");
        // Routes by br-ex win over those of any other card.
        let defaults = inside.sh("ip route show default; ip -6 route show default")?;
        assert!(
            defaults
                .lines()
                .all(|route| route.contains("dev br-ex") && route.contains("metric 48")),
            "{defaults}"
        );
        let diff = inside.run(&["dayone", "diff"])?;
        assert!(diff.stdout.ends_with("\n# no difference\n"), "{diff}");
        then(case)
    })
}

#[test]
fn static_address_moves_to_the_bridge() -> Result<(), Error> {
    let rest = format!(
        "dns-resolver: {{config: {{server: [192.0.2.1], search: [lab.test]}}}}\nroutes:\n  config:\n{DEFAULT}  \
        - {{destination: 203.0.113.0/24, next-hop-address: 192.0.2.2, next-hop-interface: eno1}}\n"
    );
    let ready = "ip route show default | grep -q 'dev eno1'";
    moves(&early(STATIC, &rest), &Peer::new(), ready, |case| {
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        Ok(())
    })
}

#[test]
fn dhcp_gives_the_bridge_the_lease_of_the_card() -> Result<(), Error> {
    let ip = "  ipv4: {enabled: true, dhcp: true}\n  ipv6: {enabled: false}\n";
    let ready = "ip route show default | grep -q 'dev eno1'";
    moves(&early(ip, ""), &Peer::new().dhcp(), ready, |case| {
        let leases = case.peer().leases()?;
        assert_eq!(leases.len(), 1, "{leases:?}");
        Ok(())
    })
}

#[test]
fn both_families_move_to_the_bridge() -> Result<(), Error> {
    let rest = format!("routes:\n  config:\n{DEFAULT}{DEFAULT6}");
    moves(&early(&format!("{STATIC}{STATIC6}"), &rest), &Peer::new(), READY6, |case| {
        assert!(case.peer().pings(ADDRESS, SOON)? && case.peer().pings(ADDRESS6, SOON)?);
        Ok(())
    })
}

#[test]
fn ipv6_alone_moves_to_the_bridge() -> Result<(), Error> {
    let rest = format!(
        "dns-resolver: {{config: {{server: ['2001:db8::1']}}}}\nroutes:\n  config:\n{DEFAULT6}"
    );
    moves(
        &early(&format!("  ipv4: {{enabled: false}}\n{STATIC6}"), &rest),
        &Peer::new(),
        READY6,
        |case| {
            assert!(case.peer().pings(ADDRESS6, SOON)?);
            Ok(())
        },
    )
}
