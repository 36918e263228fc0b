//! `dayone status` while the network changes.

use std::net::Ipv4Addr;

use tests::{
    dayone::{ADDRESS, DAY_ONE, Document, HOST_FILE, SOON, attempt, outcome, worker},
    lab::{Error, Lab, Peer},
};

const VIP: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 200);

#[tests::case]
fn lost_address_is_drift_and_a_virtual_one_is_not() -> Result<(), Error> {
    let lab = Lab::open()?;
    let node = worker().keyfile("eno1", DAY_ONE).file(HOST_FILE, &Document::new().text(), 0o644);
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        let first = outcome(&inside, None)?;
        assert_eq!(first.exit, 0, "{}", first.text());

        // Like keepalived on a master.
        inside.sh("ip address add 192.0.2.200/32 dev br-ex")?;
        assert!(case.peer().pings(VIP, SOON)?);
        let status = inside.run(&["dayone", "status"])?;
        assert_eq!(status.status.code(), Some(0), "{status}");
        let mut document = Document::new();
        document.rest.push_str("  - destination: 203.0.113.0/24\n    next-hop-address: 192.0.2.2\n    next-hop-interface: br-ex\n");
        inside.write(HOST_FILE, &document.text())?;
        let second = attempt(&inside)?;
        assert_eq!(second.exit, 0, "{}", second.text());
        assert!(inside.sh("ip route")?.contains("203.0.113.0/24 via 192.0.2.2"));
        assert!(case.peer().pings(VIP, SOON)?, "the VIP is gone");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        let status = inside.run(&["dayone", "status"])?;
        assert_eq!(status.status.code(), Some(0), "{status}");

        inside.sh("ip address del 192.0.2.10/24 dev br-ex")?;
        let status = inside.run(&["dayone", "status"])?;
        assert_eq!(status.status.code(), Some(3), "{status}");
        assert!(status.stdout.contains("drifted: br-ex"), "{status}");
        let json = inside.run(&["dayone", "status", "--json"])?;
        assert_eq!(json.status.code(), Some(3), "{json}");
        let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap_or_default();
        assert_eq!(json["in-force"], true, "{json}");
        assert!(json["drift"][0].as_str().is_some_and(|it| it.starts_with("br-ex")), "{json}");
        Ok(())
    })
}
