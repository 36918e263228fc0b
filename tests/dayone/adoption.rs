//! A node that another tool has configured from the same document: recorded, not applied.

use std::net::Ipv4Addr;

use tests::{
    dayone::{ADDRESS, APPLIED, Document, SOON, attempt, exports, outcome, unwrapped, worker},
    lab::{Error, Inside, Peer},
};

/// The node's address after a day-2 change of a declared field.
const CHANGED: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 11);

#[tests::case]
fn applied_of_another_tool_is_recorded_and_its_day_two_changes_stay() -> Result<(), Error> {
    let text = Document::new().text();
    worker().day_one().document(&text).run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        inside.sh("nmcli connection modify br-ex-if ipv4.addresses 192.0.2.11/24")?;
        // The marks of nmstate-configuration: from 4.20 on, and before.
        for mark in ["", "mark"] {
            let inside = case.inside()?;
            inside.sh("rm -r /var/lib/dayone/*")?;
            if mark == "mark" {
                inside.sh(&format!(": >{APPLIED}"))?;
            }
            let dry = inside.sh("dayone apply --dry-run")?;
            assert!(dry.contains("in force by another tool: recorded"), "{dry}");
            if mark.is_empty() {
                without_space(&inside)?;
            }
            let inside = case.reboot()?;
            outcome(&inside, None)?.exits(0).says("in force by another tool");
            assert!(case.peer().pings(CHANGED, SOON)?, "the day-2 change is gone");
            inside.wait_unit("kubelet.service", "active", SOON)?;
            assert_eq!(inside.read(APPLIED)?.as_ref(), Some(&text));
            inside.run(&["dayone", "status"])?.exits(3).says("drifted: br-ex");
            let history = inside.read("/var/lib/dayone/history.jsonl")?.unwrap_or_default();
            assert!(history.contains("\"outcome\":\"adopted\""), "{history}");
        }
        // The adopted document is in force like any other.
        let inside = case.reboot()?;
        outcome(&inside, None)?.says("in force already");
        let document = exports(&inside)?;
        assert!(document.contains("ip: 192.0.2.11\n"), "{document}");
        let record = inside.read("/var/lib/dayone/record.json")?.unwrap_or_default();
        assert!(record.contains("\"ipv4\""), "{record}");
        // A power cut took the card's profile from the other tool: br-ex has address and route, and nobody answers.
        inside.write("/etc/dayone/dayone.toml", "[wait]\nnetwork = 2\n")?;
        inside.sh("rm -r /var/lib/dayone/*; rm /etc/NetworkManager/system-connections/eno1.nmconnection; sync")?;
        let inside = case.reboot()?;
        outcome(&inside, None)?.exits(0).says("the network is in force");
        assert!(case.peer().pings(ADDRESS, SOON)?, "a network without its card is adopted");
        Ok(())
    })
}

/// The network works, as it would without the agent: a disk that takes no record holds nothing.
fn without_space(inside: &Inside) -> Result<(), Error> {
    inside.sh("mount -t tmpfs -o size=32k,mode=0700 tmpfs /var/lib/dayone; \
         dd if=/dev/zero of=/var/lib/dayone/full bs=32k count=2 2>/dev/null || :")?;
    attempt(inside)?.exits(0);
    inside.wait_unit("kubelet.service", "active", SOON)?;
    let status = unwrapped(&inside.run(&["dayone", "status"])?.stdout);
    assert!(status.contains("the network works and is not recorded"), "{status}");
    inside.sh("umount /var/lib/dayone")?;
    Ok(())
}
