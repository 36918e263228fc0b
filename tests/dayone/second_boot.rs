//! A boot of a node whose document is in force already.

#![allow(clippy::print_stdout, reason = "a measure for whoever reads the run")]

use std::{net::Ipv4Addr, time::Duration};

use tests::{
    dayone::{ADDRESS, APPLIED, DAY_ONE, Document, HOST_FILE, SOON, attempt, outcome, worker},
    lab::{Error, Lab, Peer},
};

const DAY_TWO: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 77);
const CHANGED: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 11);

#[test]
fn nothing_is_done_twice_and_a_change_is_done() -> Result<(), Error> {
    let Some(lab) = Lab::open()? else { return Ok(()) };
    let node = worker().keyfile("eno1", DAY_ONE).file(HOST_FILE, &Document::new().text(), 0o644);
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        let first = outcome(&inside, None)?;
        assert_eq!(first.exit, 0, "{}", first.text());
        inside.sh("nmcli connection modify br-ex-if +ipv4.addresses 192.0.2.77/24")?;
        // A bus that cannot be reached: whoever asks it something fails.
        let no_bus = "[Service]\nInaccessiblePaths=/run/dbus\n";
        inside.write("/etc/systemd/system/dayone.service.d/no-bus.conf", no_bus)?;
        case.reboot()?;
        let inside = case.inside()?;
        let second = outcome(&inside, None)?;
        assert_eq!(second.exit, 0, "{}", second.text());
        assert!(second.text().contains("in force already, nothing to do"), "{}", second.text());
        inside.wait_unit("kubelet.service", "active", SOON)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert!(case.peer().pings(DAY_TWO, SOON)?, "the day-2 change is gone");

        // That it would have failed if it had asked, and how long it takes: what disturbs only adds.
        let no_bus = "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent dayone";
        assert!(!inside.run(&["sh", "-c", &format!("{no_bus} diff")])?.status.success());
        let took = inside.sh(&format!(
            "for run in $(seq 25); do a=$(date +%s%N); {no_bus} apply 2>/dev/null; b=$(date +%s%N); echo $((b - a)); done | sort -n | head -n 1"
        ))?;
        let took = Duration::from_nanos(took.parse().unwrap_or(u64::MAX));
        println!("a boot with the document in force already: {took:.1?}");
        assert!(took <= Duration::from_millis(20), "{took:?}");

        inside.sh("rm -r /etc/systemd/system/dayone.service.d; systemctl daemon-reload")?;
        let changed = Document::new().with("192.0.2.10", "192.0.2.11").text();
        inside.write(HOST_FILE, &changed)?;
        let third = attempt(&inside)?;
        assert_eq!(third.exit, 0, "{}", third.text());
        assert!(third.text().contains("the network is in force"), "{}", third.text());
        assert!(case.peer().pings(CHANGED, SOON)?);
        assert_eq!(inside.sh("ip address show dev br-ex | grep -c 192.0.2.10/ || :")?, "0");
        assert_eq!(inside.read(APPLIED)?, Some(changed));
        Ok(())
    })
}
