//! A node whose br-ex is configure-ovs's own, with a bridge of OpenShift SDN beside it.

use tests::{
    dayone::{
        ADDRESS, APPLIED, Document, HASTE, HOST_FILE, MAC, SOON, attempt, kubelet_ran, outcome,
        picture, settle, worker,
    },
    lab::{Error, Lab, Node, Peer},
};

/// Profiles as configure-ovs.sh leaves them; what it does not say is NetworkManager's default.
fn configure_ovs(node: Node) -> Node {
    let profile = |id: &str, kind: &str, name: &str, rest: &str| {
        format!(
            "[connection]\nid={id}\nuuid={}\ntype={kind}\nautoconnect-priority=100\ninterface-name={name}\n{rest}",
            uuid(id)
        )
    };
    let port = |of: &str| format!("controller={}\nport-type=ovs-port\n", uuid(of));
    let on_bridge = format!("controller={}\nport-type=ovs-bridge\n", uuid("br-ex"));
    node.keyfile("br-ex", &profile("br-ex", "ovs-bridge", "br-ex", "\n[ovs-bridge]\ndatapath-type=netdev\n"))
        .keyfile("ovs-port-phys0", &profile("ovs-port-phys0", "ovs-port", "eno1", &on_bridge))
        .keyfile("ovs-port-br-ex", &profile("ovs-port-br-ex", "ovs-port", "br-ex", &on_bridge))
        .keyfile("ovs-if-phys0", &profile("ovs-if-phys0", "ethernet", "eno1", &port("ovs-port-phys0")))
        .keyfile(
            "ovs-if-br-ex",
            &profile(
                "ovs-if-br-ex",
                "ovs-interface",
                "br-ex",
                &(port("ovs-port-br-ex")
                    + "\n[ethernet]\ncloned-mac-address=52:54:00:00:00:01\n\n[ovs-interface]\ntype=internal\n\n\
                       [ipv4]\nmethod=manual\naddress1=192.0.2.10/24,192.0.2.1\ndns=192.0.2.1;\nroute-metric=48\n\n\
                       [ipv6]\nmethod=disabled\n"),
            ),
        )
}

/// Any five will do, as long as they are the same in every place.
fn uuid(id: &str) -> String {
    let number = id.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    format!("0b6ba3d2-3ae1-4b37-8d5e-{:012x}", number & 0xffff_ffff_ffff)
}

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
