//! A node whose br-ex is configure-ovs's own, with a bridge of OpenShift SDN beside it.

use tests::{
    dayone::{
        ADDRESS, APPLIED, DAY_ONE, Document, ENTRIES, HASTE, HOST_FILE, MAC, PATCH, SOON,
        configure_ovs, configure_ovs_in_run, kubelet_ran, ovn, ovn_controller, ovs_rows, picture,
        removes_remains, settle, try_document, worker, wrong_gateway,
    },
    lab::{Case, Error, Inside, Peer},
};

/// A link of another profile on the card, that somebody has activated.
const STORAGE: &str = "[connection]\nid=storage\ntype=macvlan\ninterface-name=storage\nautoconnect=false\n\n\
                       [macvlan]\nparent=eno1\nmode=2\n\n\
                       [ipv4]\nmethod=manual\naddress1=198.18.0.80/24\n\n[ipv6]\nmethod=disabled\n";

/// A dispatcher's script: removes that link where the card is activated anew, as NetworkManager 1.42 does with a VLAN of a bond.
const TAKES_IT_DOWN: (&str, &str) = (
    "/etc/NetworkManager/dispatcher.d/pre-up.d/50-lab",
    "#!/bin/sh\n[ \"$1\" != eno1 ] || [ ! -e /run/lab-down ] || ip link delete storage\n",
);

#[tests::case]
fn bridge_of_configure_ovs_comes_back_exactly_or_is_taken_over() -> Result<(), Error> {
    // No document at first: the old bridge is recorded.
    let node = configure_ovs(worker()).document("").settings(HASTE);
    let node = node.keyfile("storage", STORAGE).file(TAKES_IT_DOWN.0, TAKES_IT_DOWN.1, 0o755);
    node.run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        inside.sh("nmcli connection up storage")?;
        inside.wait_unit("kubelet.service", "active", SOON)?;
        inside.sh("systemctl stop kubelet.service; rm -r /run/lab-kubelet")?;
        settle(&inside)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        inside.sh("ovs-vsctl add-br br0 -- set bridge br0 datapath_type=netdev external_ids:of=sdn -- add-port br0 vnic0 -- set interface vnic0 type=internal")?;
        let before = picture(&inside)?;
        for word in ["ovs-if-phys0", "bridge br-ex eno1", "bridge br0 vnic0", "192.0.2.10/24"] {
            assert!(before.contains(word), "{word} in {before}");
        }

        let wrong = wrong_gateway();
        try_document(&inside, &wrong)?.exits(3).says("gateway 192.0.2.254");
        // Proves that both were removed, and so that the roll back restored them.
        for gone in ["ovs-if-phys0", "br0"] {
            assert!(taken_over(&inside, gone)?, "{gone}");
        }
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        assert_eq!(picture(&inside)?, before);
        assert_eq!(inside.sh("ovs-vsctl get bridge br0 external_ids:of")?, "sdn");
        assert_eq!(inside.read(APPLIED)?, None);
        assert!(!kubelet_ran(&inside)?);

        inside.sh("touch /run/lab-down")?;
        try_document(&inside, &Document::new().text())?.exits(0);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert_eq!(inside.sh("ovs-vsctl list-br")?, "br-ex");
        let storage = "ip -oneline -4 address show dev storage | grep 198.18.0.80/24";
        inside.wait_sh(storage, SOON)?;
        inside.wait_journal(&ENTRIES, SOON, |entry| {
            entry.message().starts_with("storage is down since the change")
        })?;
        let profiles = inside.sh("nmcli -g NAME connection show; ls /etc/NetworkManager/system-connections")?;
        for theirs in ["ovs-port-", "ovs-if-", "br-ex.nmconnection"] {
            assert!(!profiles.contains(theirs), "{theirs} in {profiles}");
        }
        // The next boot brings up the document's own bridge.
        case.cut_power()?;
        case.boot()?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.inside()?.sh("ovs-vsctl list-br")?, "br-ex");
        Ok(())
    })
}

/// The state in which a document arrives on a cluster that configure-ovs built: first with its
/// profiles in `/run`, then, after the reboot that brings the document, without them.
#[tests::case]
fn migration_from_configure_ovs_with_profiles_in_run_and_gone() -> Result<(), Error> {
    worker().day_one().document("").settings(HASTE).run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        settle(&inside)?;
        configure_ovs_in_run(&inside)?;
        ovn(&inside)?;
        broken_document_changes_nothing(case, "ovs-if-br-ex")?;

        inside.write(HOST_FILE, "")?;
        let inside = case.reboot()?;
        settle(&inside)?;
        // With a bridge in its database, Open vSwitch's userspace datapath may write the card's old flags back while it starts: the
        // card stays down.
        inside.sh("ip link set dev eno1 up")?;
        assert!(case.peer().pings(ADDRESS, SOON)?, "before the document");
        assert!(!inside.sh("nmcli -g NAME connection show")?.contains("ovs-if-"));
        if !removes_remains(&inside)? {
            assert_eq!(inside.sh("ovs-vsctl list-ports br-ex")?, PATCH);
            broken_document_changes_nothing(case, DAY_ONE)?;
        }

        try_document(&inside, &Document::new().text())?.exits(0);
        document_and_ovn_are_there(case)?;
        case.reboot()?;
        document_and_ovn_are_there(case)?;
        case.cut_power()?;
        case.boot()?;
        document_and_ovn_are_there(case)
    })
}

/// The migration without the reboot in between.
#[tests::case]
fn migration_from_configure_ovs_with_its_profiles_active() -> Result<(), Error> {
    configure_ovs(worker()).document("").settings(HASTE).run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        settle(&inside)?;
        ovn(&inside)?;
        broken_document_changes_nothing(case, "ovs-if-br-ex")?;
        try_document(&inside, &Document::new().text())?.exits(0);
        document_is_in_force(case)?;
        case.reboot()?;
        document_and_ovn_are_there(case)
    })
}

/// Tries a document with a wrong gateway; the network's picture contains `known`.
fn broken_document_changes_nothing(case: &Case<'_>, known: &str) -> Result<(), Error> {
    let inside = case.inside()?;
    let (before, rows) = (picture(&inside)?, ovs_rows(&inside)?);
    assert!(before.contains(known) && rows.contains(PATCH), "{before}{rows}");
    let wrong = wrong_gateway();
    try_document(&inside, &wrong)?.exits(3).says("gateway 192.0.2.254");
    assert!(taken_over(&inside, "br-ex")?);
    assert!(case.peer().pings(ADDRESS, SOON)?);
    assert_eq!(picture(&inside)?, before);
    assert_eq!(ovs_rows(&inside)?, rows);
    Ok(())
}

/// Checks that br-ex is the document's and has OVN's old patch port.
fn document_is_in_force(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.wait_unit("kubelet.service", "active", SOON)?;
    assert!(case.peer().pings(ADDRESS, SOON)?);
    assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
    assert_eq!(inside.sh("ovs-vsctl list-br | sort")?, "br-ex\nbr-int");
    let ports = inside.sh("ovs-vsctl list-ports br-ex | sort")?;
    assert_eq!(ports, format!("eno1\n{PATCH}"));
    inside.wait_sh(&format!("ovs-vsctl get interface {PATCH} ofport | grep -qx 7"), SOON)?;
    let ids = inside.sh(&format!("ovs-vsctl get port {PATCH} external_ids:ovn-localnet-port"))?;
    assert_eq!(ids, "br-ex_worker-0");
    let uuid = inside.sh("nmcli -g connection.uuid connection show br-ex-br")?;
    let known = inside.sh("ovs-vsctl get bridge br-ex external_ids:NM.connection.uuid")?;
    assert_eq!(known.trim_matches('"'), uuid);
    Ok(())
}

/// Checks the same with ovn-controller running, where it is what brings OVN's port back.
fn document_and_ovn_are_there(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.wait_unit("kubelet.service", "active", SOON)?;
    ovn_controller(&inside)?;
    document_is_in_force(case)
}

fn taken_over(inside: &Inside, what: &str) -> Result<bool, Error> {
    let own = inside.journal(&ENTRIES)?;
    Ok(own.iter().any(|entry| {
        entry.message().starts_with("taking over")
            && (entry.field("PROFILE") == Some(what)
                || entry.field("BRIDGES").is_some_and(|bridges| bridges.contains(what)))
    }))
}
