//! Selection of the node's document.

use std::net::Ipv4Addr;

use tests::{
    dayone::{
        ADDRESS, APPLIED, CLUSTER, DAY_ONE, Document, ENTRIES, HOST_FILE, MAC, SOON, agent,
        attempt, day_one_dhcp, outcome, picture, settle, try_document, unwrapped, worker,
    },
    lab::{Error, Fault, Nic, Node, Peer},
};

const OTHER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 20);

/// The document with [`OTHER`] as the node's address.
fn other() -> Document {
    Document::new().with("192.0.2.10", "192.0.2.20")
}

#[tests::case]
fn host_file_beats_cluster_yml_and_leaves_nothing_to_it() -> Result<(), Error> {
    // Each document has a route that the other lacks.
    let mut host = Document::new();
    host.rest.push_str("  - destination: 203.0.113.0/24\n    next-hop-address: 192.0.2.2\n    next-hop-interface: br-ex\n");
    let host = host.text();
    let mut cluster = other();
    cluster.rest.push_str("  - destination: 203.0.113.128/25\n    next-hop-address: 192.0.2.3\n    next-hop-interface: br-ex\n");
    let cluster = cluster.text();
    worker().day_one().document(&host).file(CLUSTER, &cluster, 0o644).run(&Peer::new(), |case| {
        let inside = case.boot()?;
        outcome(&inside, None)?.exits(0).says("host file for short hostname worker-0");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        let routes = inside.sh("ip route")?;
        assert!(routes.contains("203.0.113.0/24 via 192.0.2.2"), "{routes}");
        assert!(!routes.contains("203.0.113.128/25"), "{routes}");
        assert!(!inside.sh("ip address")?.contains("192.0.2.20"));
        // One boot under another name, with cluster.yml beside: the host file in force stays this node's.
        inside.sh("hostname host-192-0-2-10")?;
        attempt(&inside)?.exits(0).says("in force already");
        let status = inside.run(&["dayone", "status"])?.exits(0);
        assert!(status.stdout.starts_with(&format!("IN FORCE: {HOST_FILE}")), "{status}");
        let text = unwrapped(&status.stdout);
        assert!(text.contains("this node is named host-192-0-2-10 in this boot"), "{status}");
        inside.sh("hostname worker-0")?;
        // An empty host file counts as absent: cluster.yml applies.
        inside.sh(&format!("cp -a /var/lib/dayone /root/var; : >{HOST_FILE}"))?;
        let inside = case.reboot()?;
        outcome(&inside, None)?.exits(0).says("cluster.yml");
        assert_eq!(inside.read(APPLIED)?, Some(cluster));
        assert!(case.peer().pings(OTHER, SOON)?);
        let routes = inside.sh("ip route")?;
        assert!(routes.contains("203.0.113.128/25 via 192.0.2.3"), "{routes}");
        assert!(!routes.contains("203.0.113.0/24"), "stale: {routes}");
        assert!(!inside.sh("ip address")?.contains("192.0.2.10/"), "stale address");
        assert!(
            !inside.sh("cat /etc/NetworkManager/system-connections/*")?.contains("192.0.2.10/")
        );
        assert!(
            unwrapped(&inside.sh("dayone status")?)
                .contains("worker-0.yml is empty and counts as absent")
        );
        // An earlier deployment's /etc, with cluster.yml applied, under a /var in which the host file is the last good one.
        inside.sh("rm -r /var/lib/dayone/*; cp -a /root/var/* /var/lib/dayone")?;
        try_document(&inside, &host)?.exits(0);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        let routes = inside.sh("ip route")?;
        assert!(routes.contains("203.0.113.0/24 via 192.0.2.2"), "{routes}");
        assert!(!routes.contains("203.0.113.128/25"), "stale: {routes}");
        Ok(())
    })
}

#[tests::case]
fn no_document_is_a_success_that_touches_nothing() -> Result<(), Error> {
    let node = worker().day_one().file(
        "/etc/nmstate/openshift/worker-1.yml",
        &Document::new().text(),
        0o644,
    );
    node.run(&Peer::new(), |case| {
        let inside = case.boot()?;
        outcome(&inside, None)?.exits(0).says("nothing to do (no document for this node)");
        assert_eq!(inside.wait_unit("kubelet.service", "active", SOON)?.result, "success");
        settle(&inside)?;
        let before = picture(&inside)?;
        assert!(before.contains(DAY_ONE), "{before}");
        assert!(!before.contains("br-ex"), "{before}");
        inside.sh("systemctl restart dayone.service")?;
        assert_eq!(picture(&inside)?, before);
        assert_eq!(inside.read(APPLIED)?, None);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        let status = inside.run(&["dayone", "status"])?.exits(0).says("no document for this node");
        assert!(
            status.stdout.starts_with("NO DOCUMENT: files of other nodes only (1)"),
            "{status}"
        );
        let text = unwrapped(&status.stdout);
        for words in ["it looks for worker-0.yml, 52-54-00-00-00-01.yml", "there are worker-1.yml"]
        {
            assert!(text.contains(words), "{words} in {status}");
        }
        Ok(())
    })
}

/// The name comes by DHCP, and the document that it chooses ends the lease.
#[tests::case]
fn localhost_waits_for_its_name() -> Result<(), Error> {
    let node = agent(Node::new("localhost").nic(Nic::new("eno1", MAC)))
        .keyfile("eno1", &day_one_dhcp())
        .document(&other().text())
        .file(CLUSTER, &Document::new().text(), 0o644);
    node.run(&Peer::new().dhcp().host_name(MAC, "worker-0"), |case| {
        case.peer_mut().fault(Fault::DropDhcp, true)?;
        let inside = case.power_on()?;
        let said =
            "systemctl show --property=StatusText dayone.service | grep 'waiting for a hostname'";
        inside.wait_sh(said, 3 * SOON)?;
        assert_eq!(inside.unit("kubelet.service")?.active_state, "inactive");
        case.peer_mut().fault(Fault::DropDhcp, false)?;
        let inside = case.inside()?;
        let first = outcome(&inside, None)?.exits(0);
        let why = "host file for short hostname worker-0; waited ";
        assert!(first.text().contains(why), "{}", first.text());
        assert!(case.peer().pings(OTHER, SOON)?);
        inside.wait_unit("kubelet.service", "active", SOON)?;
        // NetworkManager takes the name away at some moment after the lease.
        inside.wait_message(
            &ENTRIES,
            2 * SOON,
            "the host name worker-0, by which the document was chosen, went",
        )?;
        inside.wait_sh("[ $(hostname) = worker-0 ]", SOON)?;
        assert_eq!(inside.sh("cat /etc/hostname 2>/dev/null || :")?, "");
        // Started again, NetworkManager leaves a name that another program has set.
        inside.sh("systemctl restart NetworkManager.service")?;
        settle(&inside)?;
        let manager = "systemctl show --property=MainPID --value NetworkManager.service";
        let said = inside.journal(&[&format!("_PID={}", inside.sh(manager)?)])?;
        let taken = said.iter().find(|entry| entry.message().contains("set-hostname"));
        assert!(taken.is_none() && !said.is_empty(), "{taken:?}");
        inside.sh("systemctl restart kubelet.service")?;
        let names = "hostname; cat /run/lab-kubelet/hostname";
        assert_eq!(inside.sh(names)?, "worker-0\nworker-0");
        // node-valid-hostname.service stores the name before kubelet starts; the next boot has no lease.
        inside.sh("hostnamectl set-hostname --static --transient \"$(hostname)\"")?;
        let inside = case.reboot()?;
        let second = outcome(&inside, None)?;
        assert!(
            second.exit == 0 && second.text().contains("in force already"),
            "{}",
            second.text()
        );
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert_eq!(inside.sh(names)?, "worker-0\nworker-0");
        Ok(())
    })
}

#[tests::case]
fn hardware_names_the_node_where_its_hostname_does_not() -> Result<(), Error> {
    let by_mac = "/etc/nmstate/openshift/52-54-00-00-00-01.yml";
    let node = agent(Node::new("unknown").nic(Nic::new("eno1", MAC)))
        .day_one()
        .dmi("SN-1234", "4c4c4544-0000-1000-8000-000000000001")
        .file(by_mac, &Document::new().text(), 0o644)
        .file("/etc/nmstate/openshift/SN-1234.yml", &other().text(), 0o644)
        .file(CLUSTER, &Document::new().with("192.0.2.10", "192.0.2.30").text(), 0o644);
    node.run(&Peer::new(), |case| {
        let inside = case.boot()?;
        outcome(&inside, None)?.exits(0).says("MAC address 52-54-00-00-00-01");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        inside.sh(&format!("rm {by_mac}"))?;
        attempt(&inside)?.exits(0).says("DMI serial or UUID SN-1234");
        assert!(case.peer().pings(OTHER, SOON)?);
        // The image of a seed, whose machine-id comes with it, and a document of the site: nothing of the state is obeyed, and the
        // document is put in force.
        inside.sh(
            "sed -i s/52:54:00:00:00:01/52:54:00:00:00:99/ /var/lib/dayone/record.json && \
             echo 4c4c4544-0000-1000-8000-000000000002 >/lab-dmi/dmi/id/product_uuid && \
             echo '# of the site' >>/etc/nmstate/openshift/SN-1234.yml && \
             systemctl restart dayone.service",
        )?;
        let json = inside.sh("dayone status --json")?;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap_or_default();
        assert_eq!(json["outcome"], "committed", "{json}");
        let aside = "/var/lib/dayone/other-machine";
        assert!(json["warnings"].to_string().contains(aside), "{json}");
        for file in ["record.json", "history.jsonl", "applied"] {
            assert!(inside.read(&format!("{aside}/{file}"))?.is_some(), "{file}");
        }
        assert!(case.peer().pings(OTHER, SOON)?);
        Ok(())
    })
}
