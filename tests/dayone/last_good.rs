//! A document fails on a node with a last good configuration.

use std::net::Ipv4Addr;

use tests::{
    dayone::{
        ADDRESS, APPLIED, Document, GOES_ON, HASTE, HOST_FILE, SOON, outcome, unwrapped, worker,
        wrong_gateway,
    },
    lab::{Case, Error, Inside, Node, Peer},
};

/// The node's address after a day-2 change of a declared field.
const CHANGED: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 11);

/// A node with short timeouts that gives a document up after one failure.
fn node(document: &str) -> Node {
    let settings = HASTE.replace("max-attempts = 0", "max-attempts = 1");
    assert_ne!(settings, HASTE);
    worker().day_one().document(document).settings(&settings)
}

/// Checks that the boot goes on despite the document's failure, with a message.
fn carried(case: &Case<'_>, address: Ipv4Addr, cause: &str, how: &str) -> Result<(), Error> {
    let inside = case.inside()?;
    outcome(&inside, None)?.exits(3).says(cause);
    inside.wait_unit("kubelet.service", "active", SOON)?;
    assert_eq!(inside.unit("dayone.service")?.active_state, "active");
    inside.wait_unit("dayone-health@fell-back.service", "failed", SOON)?;
    // The boot was held for as long as the attempt took: no reason to wake anybody.
    assert_eq!(inside.unit("dayone-health@waiting.service")?.exit_status, 0);
    let loud = inside.journal(&[GOES_ON])?;
    assert_eq!(loud.len(), 1, "{loud:?}");
    assert_eq!(loud[0].field("PRIORITY"), Some("4"));
    let text = loud[0].message();
    assert!(text.contains(&format!("{HOST_FILE} is NOT in force; the boot goes on")), "{text}");
    let status = inside.run(&["dayone", "status"])?.exits(3);
    for word in [HOST_FILE, cause, how, "in force: no, the last good configuration is"] {
        assert!(unwrapped(&status.stdout).contains(word), "{word} in {status}");
    }
    assert!(case.peer().pings(address, SOON)?);
    Ok(())
}

/// Puts `good` in force, and writes a document with a dead gateway for the next boot.
fn bad_after(case: &mut Case<'_>) -> Result<Inside, Error> {
    let inside = case.boots(0)?;
    inside.wait_unit("kubelet.service", "active", SOON)?;
    let bad = wrong_gateway();
    inside.write(HOST_FILE, &bad)?;
    Ok(inside)
}

#[tests::case]
fn working_last_good_lets_kubelet_start() -> Result<(), Error> {
    let good = Document::new().text();
    node(&good).run(&Peer::new(), |case| {
        let bad = bad_after(case)?.read(HOST_FILE)?.unwrap_or_default();
        case.restart()?;
        carried(case, ADDRESS, "probe gateway 192.0.2.254 failed", "is in force")?;
        // The former document arrives again, and nobody applies it.
        let inside = case.inside()?;
        inside.write(HOST_FILE, &good)?;
        inside.wait_unit("dayone-health@fell-back.service", "inactive", SOON)?;
        inside.run(&["dayone", "status"])?.exits(0);
        inside.write(HOST_FILE, &bad)?;
        let kept = inside.run(&["dayone", "export", "--last-good"])?;
        assert_eq!(kept.stdout, good);
        // A disk damages the record, while the wrong document stays: `applied` has what is in force.
        inside.sh(": >/var/lib/dayone/record.json")?;
        case.restart()?;
        // Each boot tries once more: somebody may have mended the network.
        carried(case, ADDRESS, "probe gateway 192.0.2.254 failed", "is in force")?;
        let inside = case.inside()?;
        assert_eq!(inside.read(APPLIED)?.as_ref(), Some(&good));
        Ok(())
    })
}

#[tests::case]
fn last_good_returns_only_where_it_does_not_answer() -> Result<(), Error> {
    let good = Document::new().text();
    let other_gateway = Ipv4Addr::new(192, 0, 2, 2).into();
    node(&good).run(&Peer::new().dhcp().address("lan", other_gateway, 24), |case| {
        // Day-2 changes, of the gateway too: drift does not revert them.
        bad_after(case)?.sh(
            "nmcli connection modify br-ex-if ipv4.addresses 192.0.2.11/24 ipv4.routes '0.0.0.0/0 192.0.2.2'",
        )?;
        case.peer().address("lan", Peer::GATEWAY.into(), 24, false)?;
        outcome(&case.restart()?, None)?.exits(3);
        assert!(case.peer().pings(CHANGED, SOON)?, "the day-2 change is gone");
        carried(case, CHANGED, "probe gateway 192.0.2.254 failed", "is in force")?;
        case.peer().address("lan", Peer::GATEWAY.into(), 24, true)?;

        // The last good network does not answer: it is applied again, after the other document's one attempt of each boot. The
        // gateway that answers on the card, to the lease of NetworkManager's own profile for one that has none, proves nothing.
        case.inside()?.sh("cd /etc/NetworkManager/system-connections; rm br-ex-if.* eno1.*; sync")?;
        for how in ["was put back", "is in force"] {
            case.restart()?;
            carried(case, ADDRESS, "probe gateway 192.0.2.254 failed", how)?;
            assert_eq!(case.inside()?.read(APPLIED)?.as_ref(), Some(&good));
        }
        Ok(())
    })
}
