//! A node whose br-ex is configure-ovs's own, with a bridge of OpenShift SDN beside it.

use tests::{
    dayone::{
        ADDRESS, APPLIED, Document, HASTE, HOST_FILE, MAC, SOON, attempt, configure_ovs,
        kubelet_ran, outcome, picture, settle, worker,
    },
    lab::{Error, Lab, Peer},
};

#[test]
fn bridge_of_configure_ovs_comes_back_exactly_or_is_taken_over() -> Result<(), Error> {
    let Some(lab) = Lab::open()? else { return Ok(()) };
    // Nothing at first: the bridge is to be seen as it was.
    let node = configure_ovs(worker()).file(HOST_FILE, "", 0o644).file(
        "/etc/dayone/dayone.toml",
        HASTE,
        0o644,
    );
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        assert_eq!(outcome(&inside, None)?.exit, 0);
        inside.wait_unit("kubelet.service", "active", SOON)?;
        inside.sh("systemctl stop kubelet.service; rm -r /run/lab-kubelet")?;
        settle(&inside)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        inside.sh("ovs-vsctl add-br br0 -- set bridge br0 datapath_type=netdev external_ids:of=sdn -- add-port br0 vnic0 -- set interface vnic0 type=internal")?;
        let before = picture(&inside)?;
        for word in ["ovs-if-phys0", "bridge br-ex eno1", "bridge br0 vnic0", "192.0.2.10/24"] {
            assert!(before.contains(word), "{word} in {before}");
        }

        let wrong = Document::new().with("192.0.2.1\n    next-hop", "192.0.2.254\n    next-hop");
        inside.write(HOST_FILE, &wrong.text())?;
        let it = attempt(&inside)?;
        assert!(it.text().contains("gateway 192.0.2.254"), "{}", it.text());
        assert_eq!(it.exit, 3, "{}", it.text());
        // They were gone in between: otherwise nothing came back.
        for gone in ["ovs-if-phys0", "br0"] {
            assert!(taken_over(&inside, gone)?, "{gone}");
        }
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        assert_eq!(picture(&inside)?, before);
        assert_eq!(inside.sh("ovs-vsctl get bridge br0 external_ids:of")?, "sdn");
        assert_eq!(inside.read(APPLIED)?, None);
        assert!(!kubelet_ran(&inside)?);

        inside.write(HOST_FILE, &Document::new().text())?;
        let it = attempt(&inside)?;
        assert_eq!(it.exit, 0, "{}", it.text());
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert_eq!(inside.sh("ovs-vsctl list-br")?, "br-ex");
        let profiles = inside.sh("nmcli -g NAME connection show; ls /etc/NetworkManager/system-connections")?;
        for theirs in ["ovs-port-", "ovs-if-", "br-ex.nmconnection"] {
            assert!(!profiles.contains(theirs), "{theirs} in {profiles}");
        }
        // And it is the document's own bridge that a boot brings up.
        case.cut_power()?;
        case.boot()?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.inside()?.sh("ovs-vsctl list-br")?, "br-ex");
        Ok(())
    })
}

fn taken_over(inside: &tests::lab::Inside, what: &str) -> Result<bool, Error> {
    let own = inside.journal(&["SYSLOG_IDENTIFIER=dayone"])?;
    Ok(own.iter().any(|it| {
        it.message().starts_with("taking over")
            && (it.field("PROFILE") == Some(what)
                || it.field("BRIDGES").is_some_and(|bridges| bridges.contains(what)))
    }))
}
