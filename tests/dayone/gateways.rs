//! Unusual default routes: a dead gateway, several next hops, another table, IPv6 only, none.

use tests::{
    dayone::{
        ADDRESS, ADDRESS6, ATTEMPT, Document, ENTRIES, HASTE, HOST_FILE, MAC, SOON, attempt,
        outcome, unwrapped, worker,
    },
    lab::{Error, Fault, Nic, Peer},
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
    let mut standby = Document::new();
    standby.rest.push_str(&second_route("    metric: 200\n"));
    let mut several = Document::new();
    several.rest.push_str("    weight: 1\n");
    several.rest.push_str(&second_route("    weight: 1\n"));
    worker().day_one().settings(HASTE).document(&standby.text()).run(&Peer::new(), |case| {
        let inside = case.power_on()?;
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
            let status = inside.run(&["dayone", "status"])?.exits(0);
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
    let mut document = Document::new();
    document.rest.push_str(&second_route("    table-id: 100\n"));
    // With it nmstate writes the name server into two profiles.
    document.rest.insert_str(0, SECOND_CARD);
    let node = worker()
        .nic(Nic::new("eno2", "52:54:00:00:00:02"))
        .day_one()
        .settings(HASTE)
        .document(&document.text());
    node.run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        outcome(&inside, None)?.exits(0);
        assert!(inside.sh("ip route show table 100")?.contains(DEAD));
        assert!(inside.sh("dayone diff")?.contains("# no difference"));
        let status = inside.sh("dayone status")?;
        assert!(!status.contains(DEAD), "{status}");
        Ok(())
    })
}

#[tests::case]
fn logical_name_with_ipv6_alone() -> Result<(), Error> {
    let text = format!(
        "interfaces:\n- {{name: uplink, type: ethernet, state: up, identifier: mac-address, mac-address: '{MAC}',\n  \
         ipv4: {{enabled: false}},\n  \
         ipv6: {{enabled: true, dhcp: false, autoconf: false, address: [{{ip: '{ADDRESS6}', prefix-length: 64}}]}}}}\n\
         routes: {{config: [{{destination: '::/0', next-hop-address: '2001:db8::1', next-hop-interface: uplink}}]}}\n"
    );
    let impatient = HASTE.replace("max-attempts = 0", "max-attempts = 1");
    assert_ne!(impatient, HASTE);
    worker().document(&text).settings(&impatient).run(&Peer::new(), |case| {
        // The document names the gateway; no route and no address of this node's does.
        case.peer_mut().fault(Fault::IgnoreNeighbours, true)?;
        let inside = case.power_on()?;
        for words in [
            "asked again every 5 s: 2001:db8::1 on eno1 does not answer",
            "a silent gateway answers, a taken address is free",
        ] {
            inside.wait_message(&ENTRIES, ATTEMPT, words)?;
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
        let inside = case.boot()?;
        assert!(case.peer().pings(ADDRESS6, SOON)?);
        inside.run(&["dayone", "status"])?.exits(0);

        // udev knows a card by more names than one: nmstate takes each of them for the card.
        inside.run(&["ip", "link", "property", "add", "dev", "enp9s0", "altname", "eno9"])?;
        let by_alternative = Document::new().text().replace("eno1", "eno9");
        inside.write(HOST_FILE, &by_alternative)?;
        inside.run(&["dayone", "apply"])?.exits(0);
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
    let node =
        worker().day_one().settings("[wait]\nnetwork = 10\n").document(&Document::new().text());
    node.run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        inside.sh(&format!(
            "ip nexthop add id 7 via 192.0.2.1 dev br-ex; ip nexthop add id 8 via {DEAD} dev br-ex; \
             ip nexthop add id 9 group 7/8"
        ))?;
        for object in [7, 9] {
            inside.sh(&format!("ip route del default; ip route add default nhid {object}"))?;
            attempt(&inside)?.exits(0).says("in force already");
            let status = inside.run(&["dayone", "status"])?;
            assert!(!unwrapped(&status.stdout).contains("did not return"), "{status}");
            assert!(inside.sh("ip route show default")?.contains(&format!("nhid {object}")));
        }
        Ok(())
    })
}
