//! Unusual default routes: a dead gateway, several next hops, another table, IPv6 only, none.

use tests::{
    dayone::{
        ADDRESS, ADDRESS6, ATTEMPT, DAY_ONE, Document, HASTE, HOST_FILE, MAC, SOON, attempt,
        outcome, unwrapped, worker,
    },
    lab::{Error, Fault, Lab, Nic, Peer},
};

/// An unused address.
const DEAD: &str = "192.0.2.3";

/// A card whose addresses the network gives, if it has any.
const SECOND_CARD: &str = "\
- name: eno2
  type: ethernet
  state: up
  ipv4: {enabled: false}
  ipv6: {enabled: true, autoconf: true, dhcp: true, auto-dns: false}
";

fn second_route(more: &str) -> String {
    format!(
        "  - destination: 0.0.0.0/0\n    next-hop-address: {DEAD}\n    next-hop-interface: br-ex\n{more}"
    )
}

#[tests::case]
fn dead_second_gateway_is_a_warning() -> Result<(), Error> {
    let lab = Lab::open()?;
    let mut standby = Document::new();
    standby.rest.push_str(&second_route("    metric: 200\n"));
    let mut several = Document::new();
    several.rest.push_str("    weight: 1\n");
    several.rest.push_str(&second_route("    weight: 1\n"));
    let node = worker()
        .keyfile("eno1", DAY_ONE)
        .file("/etc/dayone/dayone.toml", HASTE, 0o644)
        .file(HOST_FILE, &standby.text(), 0o644);
    lab.run(node, &Peer::new(), |case| {
        case.power_on()?;
        let inside = case.inside()?;
        for document in [None, Some(several)] {
            let outcome = match document {
                None => outcome(&inside, None)?,
                Some(document) => {
                    inside.write(HOST_FILE, &document.text())?;
                    attempt(&inside)?
                }
            };
            assert_eq!(outcome.exit, 0, "{}", outcome.text());
            assert!(case.peer().pings(ADDRESS, SOON)?);
            let status = inside.run(&["dayone", "status"])?;
            assert_eq!(status.status.code(), Some(0), "{status}");
            assert!(
                unwrapped(&status.stdout).contains(&format!("no answer from {DEAD}")),
                "{status}"
            );
        }
        crate::wire::is_proved(case)
    })
}

/// Only policy rules lead to another table: the node's own traffic does not use its gateway.
#[tests::case]
fn gateway_of_another_table_is_not_probed() -> Result<(), Error> {
    let lab = Lab::open()?;
    let mut document = Document::new();
    document.rest.push_str(&second_route("    table-id: 100\n"));
    // With it nmstate writes the name server into two profiles.
    document.rest.insert_str(0, SECOND_CARD);
    let node = worker()
        .nic(Nic::new("eno2", "52:54:00:00:00:02"))
        .keyfile("eno1", DAY_ONE)
        .file("/etc/dayone/dayone.toml", HASTE, 0o644)
        .file(HOST_FILE, &document.text(), 0o644);
    lab.run(node, &Peer::new(), |case| {
        case.power_on()?;
        let inside = case.inside()?;
        let outcome = outcome(&inside, None)?;
        assert_eq!(outcome.exit, 0, "{}", outcome.text());
        assert!(inside.sh("ip route show table 100")?.contains(DEAD));
        assert!(inside.sh("dayone diff")?.contains("# no difference"));
        let status = inside.sh("dayone status")?;
        assert!(!status.contains(DEAD), "{status}");
        Ok(())
    })
}

#[tests::case]
fn logical_name_with_ipv6_alone() -> Result<(), Error> {
    let lab = Lab::open()?;
    let text = format!(
        "interfaces:\n- {{name: uplink, type: ethernet, state: up, identifier: mac-address, mac-address: '{MAC}',\n  \
         ipv4: {{enabled: false}},\n  \
         ipv6: {{enabled: true, dhcp: false, autoconf: false, address: [{{ip: '{ADDRESS6}', prefix-length: 64}}]}}}}\n\
         routes: {{config: [{{destination: '::/0', next-hop-address: '2001:db8::1', next-hop-interface: uplink}}]}}\n"
    );
    let impatient = HASTE.replace("max-attempts = 0", "max-attempts = 1");
    assert_ne!(impatient, HASTE);
    let node = worker().file(HOST_FILE, &text, 0o644).settings(&impatient);
    lab.run(node, &Peer::new(), |case| {
        // The document names the gateway; no route and no address of this node's does.
        case.peer_mut().fault(Fault::IgnoreNeighbours, true)?;
        case.power_on()?;
        let inside = case.inside()?;
        let dayone = ["SYSLOG_IDENTIFIER=dayone"];
        for words in [
            "asked again every 5 s: 2001:db8::1 on eno1 does not answer",
            "a silent gateway answers, a taken address is free",
        ] {
            inside.wait_journal(&dayone, ATTEMPT, |entry| entry.message().contains(words))?;
        }
        case.peer_mut().fault(Fault::IgnoreNeighbours, false)?;
        let inside = case.inside()?;
        inside.wait_journal(&["DAYONE_WOKEN=Answer"], SOON, |_| true)?;
        inside.wait_unit("kubelet.service", "active", ATTEMPT)?;
        assert!(case.peer().pings(ADDRESS6, SOON)?);
        assert!(inside.sh("dayone diff")?.contains("# no difference"));
        // Without a route before the attempt there is no baseline.
        let status: String = inside.sh("dayone status")?;
        assert!(unwrapped(&status).contains("there is no IPv4 default route"), "{status}");

        // The card has another name, as a port of SR-IOV after a change of slot or firmware.
        case.shut_down()?;
        case.unplug("eno1");
        case.plug(Nic::new("enp9s0", MAC))?;
        case.boot()?;
        let inside = case.inside()?;
        assert!(case.peer().pings(ADDRESS6, SOON)?);
        let status = inside.run(&["dayone", "status"])?;
        assert_eq!(status.status.code(), Some(0), "{status}");

        // udev knows a card by more names than one: nmstate takes each of them for the card.
        inside.run(&["ip", "link", "property", "add", "dev", "enp9s0", "altname", "eno9"])?;
        let by_alternative = Document::new().text().replace("eno1", "eno9");
        inside.write(HOST_FILE, &by_alternative)?;
        let applied = inside.run(&["dayone", "apply"])?;
        assert_eq!(applied.status.code(), Some(0), "{applied}");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert!(inside.sh("dayone diff")?.contains("# no difference"));
        let ports = inside.sh("ovs-vsctl list-ports br-ex")?;
        assert_eq!(ports.trim(), "enp9s0");
        Ok(())
    })
}

/// As routing daemons make them: the route names an object, and the object has the gateway.
#[tests::case]
fn default_route_of_a_nexthop_object_is_a_network() -> Result<(), Error> {
    let lab = Lab::open()?;
    let node = worker()
        .keyfile("eno1", DAY_ONE)
        .file("/etc/dayone/dayone.toml", "[wait]\nnetwork = 10\n", 0o644)
        .file(HOST_FILE, &Document::new().text(), 0o644);
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        let first = outcome(&inside, None)?;
        assert_eq!(first.exit, 0, "{}", first.text());
        inside.sh(&format!(
            "ip nexthop add id 7 via 192.0.2.1 dev br-ex; ip nexthop add id 8 via {DEAD} dev br-ex; \
             ip nexthop add id 9 group 7/8"
        ))?;
        for object in [7, 9] {
            inside.sh(&format!("ip route del default; ip route add default nhid {object}"))?;
            let again = attempt(&inside)?;
            assert_eq!(again.exit, 0, "{}", again.text());
            assert!(again.text().contains("in force already"), "{}", again.text());
            let status = inside.run(&["dayone", "status"])?;
            assert!(!unwrapped(&status.stdout).contains("did not return"), "{status}");
            assert!(inside.sh("ip route show default")?.contains(&format!("nhid {object}")));
        }
        Ok(())
    })
}
