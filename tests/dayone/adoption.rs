//! A node that another tool has configured from the same document: recorded, not applied.

use std::net::Ipv4Addr;

use tests::{
    dayone::{
        APPLIED, DAY_ONE, Document, HOST_FILE, SOON, attempt, exports, outcome, unwrapped, worker,
    },
    lab::{Error, Inside, Lab, Peer},
};

/// The node's address after a day-2 change of a declared field.
const CHANGED: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 11);

#[tests::case]
fn applied_of_another_tool_is_recorded_and_its_day_two_changes_stay() -> Result<(), Error> {
    let lab = Lab::open()?;
    let text = Document::new().text();
    let node = worker().keyfile("eno1", DAY_ONE).file(HOST_FILE, &text, 0o644);
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        let first = outcome(&inside, None)?;
        assert_eq!(first.exit, 0, "{}", first.text());
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
            case.reboot()?;
            let inside = case.inside()?;
            let adopted = outcome(&inside, None)?;
            assert_eq!(adopted.exit, 0, "{}", adopted.text());
            assert!(adopted.text().contains("in force by another tool"), "{}", adopted.text());
            assert!(case.peer().pings(CHANGED, SOON)?, "the day-2 change is gone");
            inside.wait_unit("kubelet.service", "active", SOON)?;
            assert_eq!(inside.read(APPLIED)?.as_ref(), Some(&text));
            let status = inside.run(&["dayone", "status"])?;
            assert_eq!(status.status.code(), Some(3), "{status}");
            assert!(status.stdout.contains("drifted: br-ex"), "{status}");
            let history = inside.read("/var/lib/dayone/history.jsonl")?.unwrap_or_default();
            assert!(history.contains("\"outcome\":\"adopted\""), "{history}");
        }
        // The adopted document is in force like any other.
        case.reboot()?;
        let inside = case.inside()?;
        let third = outcome(&inside, None)?;
        assert!(third.text().contains("in force already"), "{}", third.text());
        let document = exports(&inside)?;
        assert!(document.contains("ip: 192.0.2.11\n"), "{document}");
        let record = inside.read("/var/lib/dayone/record.json")?.unwrap_or_default();
        assert!(record.contains("\"ipv4\""), "{record}");
        Ok(())
    })
}

/// The network works, as it would without the agent: a disk that takes no record holds nothing.
fn without_space(inside: &Inside) -> Result<(), Error> {
    inside.sh("mount -t tmpfs -o size=32k,mode=0700 tmpfs /var/lib/dayone; \
         dd if=/dev/zero of=/var/lib/dayone/full bs=32k count=2 2>/dev/null || :")?;
    let it = attempt(inside)?;
    assert_eq!(it.exit, 0, "{}", it.text());
    inside.wait_unit("kubelet.service", "active", SOON)?;
    let status = unwrapped(&inside.run(&["dayone", "status"])?.stdout);
    assert!(status.contains("the network works and is not recorded"), "{status}");
    inside.sh("umount /var/lib/dayone")?;
    Ok(())
}
